package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// permit decides whether a tool call may act: an intent, a question, or a reply
// that says why not. Whole is args with artifacts in place of their names.
func (d dispatcher) permit(ctx context.Context, view *agent.Run, c agent.OpenCall, tool agent.Tool, args, whole json.RawMessage) error {
	spec := tool.Spec()
	call := agent.Call{Run: view.ID, Strand: d.lease.Strand, Effect: c.Effect, Tool: spec.Name,
		Arguments: whole, Folder: view.Brief.Folder, Person: view.Brief.Requester, Env: view.EnvOf(d.lease.Strand)}
	if len(view.Denied) > 0 {
		if text, denied := view.Denied[agent.Digest(spec.Name, args)]; denied {
			d.reply(c, text)
			return nil
		}
	}
	var prepared agent.Prepared
	if p, is := tool.(agent.Preparer); is {
		var err error
		if prepared, err = prepare(ctx, p, call); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			d.reply(c, "error: "+err.Error())
			return nil
		}
	}
	act := d.act(spec, whole, prepared)
	if c.Edited == nil { // else the arguments are a person's
		act.Taint = d.origins.Of(view, d.lease.Strand, act, d.Tools.Specs())
	}
	permission := d.Policy.Permit(view, act)
	check := view.Checks[c.Checkpoint]
	shown := check.ID != "" && approved(check)
	switch {
	case c.Again > 0: // it was permitted before it was interrupted
		permission.Rule = "repeated after an interruption"
		d.intent(c, spec, args, prepared, permission)
	case permission.Verdict == agent.Deny:
		d.decided(c, permission)
		d.event(agent.CallReplied{Effect: c.Effect, Text: "denied by policy (" + permission.Rule + "): " + permission.Reason,
			Rule: permission.Rule, Policy: permission.Version})
	case shown && check.Digest == bind(view, spec, args, prepared, permission):
		permission.Rule = "approved by " + check.Decision.By
		d.intent(c, spec, args, prepared, permission)
	case permission.Verdict == agent.Allow && !shown: // what was shown counts for what was shown, whatever else it grants
		d.decided(c, permission)
		d.intent(c, spec, args, prepared, permission)
	default:
		d.question(view, c, act, args, prepared, permission)
	}
	return nil
}

// decided journals the policy's word on a call, where it wants that.
func (d dispatcher) decided(c agent.OpenCall, p agent.Permission) {
	if p.Journal {
		d.event(agent.PolicyDecided{Effect: c.Effect, Tool: c.Name, Verdict: p.Verdict, Rule: p.Rule, Version: p.Version})
	}
}

// act is a call as the policy sees it.
func (d dispatcher) act(spec agent.ToolSpec, whole json.RawMessage, p agent.Prepared) agent.Act {
	a := agent.Act{Tool: spec, Arguments: whole, Class: spec.Class, Changes: p.Changes, New: p.New, Hosts: p.Hosts, At: d.now()}
	if p.Class != "" {
		a.Class = p.Class
	}
	return a
}

// prepareAtMost bounds a tool's look at what a call would change: a huge file is
// read for it.
const prepareAtMost = 30 * time.Second

// prepare has the tool look at what the call would change.
func prepare(ctx context.Context, p agent.Preparer, call agent.Call) (agent.Prepared, error) {
	bounded, cancel := context.WithTimeout(ctx, prepareAtMost)
	defer cancel()
	prepared, err := p.Prepare(bounded, call)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return agent.Prepared{}, fmt.Errorf("looking at what %s would change took longer than %s: work on something smaller", call.Tool, prepareAtMost)
	}
	return prepared, err
}

func approved(c agent.Checkpoint) bool {
	return !c.Open() && (c.Decision.Decision == agent.DecideApprove || c.Decision.Decision == agent.DecideAlways)
}

// bind is what an approval is good for: this tool with these arguments, asked
// by this person under this policy, on the target as it was (RULES.md, "Approval").
func bind(view *agent.Run, spec agent.ToolSpec, args json.RawMessage, p agent.Prepared, word agent.Permission) string {
	return agent.Digest(spec.Name+"|"+view.Brief.Requester+"|"+word.Version+"|"+p.Target, args)
}

// intent journals what is about to happen.
func (d dispatcher) intent(c agent.OpenCall, spec agent.ToolSpec, args json.RawMessage, p agent.Prepared, word agent.Permission) {
	in := agent.ToolIntent{Effect: c.Effect, Tool: spec.Name, Arguments: args, Repeat: spec.Repeat,
		Mark: p.Mark, Rule: word.Rule, Policy: word.Version, Again: c.Again, Thought: d.thought(c)}
	if p.Repeat != "" {
		in.Repeat = p.Repeat
	}
	if spec.Deadline > 0 {
		in.Deadline = d.now().Add(spec.Deadline)
	}
	d.event(in)
	d.fresh[c.Effect] = true
}

// question asks people about a call. While another question would allow the
// same for the whole run, this one waits for it.
func (d dispatcher) question(view *agent.Run, c agent.OpenCall, act agent.Act, args json.RawMessage,
	p agent.Prepared, permission agent.Permission,
) {
	spec := act.Tool
	for _, open := range view.OpenCheckpoints() {
		if permission.Grant != "" && open.Grant == permission.Grant {
			return
		}
	}
	title := fmt.Sprintf("May I call %s?", spec.Name)
	switch check := view.Checks[c.Checkpoint]; {
	case c.Checkpoint == "":
	case check.Policy != permission.Version && check.Policy != "":
		title = fmt.Sprintf("May I call %s? The policy changed since this was approved.", spec.Name)
	default:
		title = fmt.Sprintf("May I call %s? What it would change is not what it was when this was approved.", spec.Name)
	}
	d.decided(c, permission)
	d.openCheckpoint(view, agent.CheckpointOpened{
		Ask: agent.CheckApproval, Title: title, Detail: p.Preview, Effect: c.Effect,
		Tool: spec.Name, Arguments: args, Digest: bind(view, spec, args, p, permission), Risk: permission.Risk, Grant: permission.Grant,
		Class: act.Class, Rule: permission.Rule, Policy: permission.Version, Approvers: permission.Approvers, Quorum: permission.Quorum,
		Expires: permission.Until(d.now()), Choices: answersTo(permission), Sources: act.Taint.Sources,
	})
}

// answersTo are what can be said to a wish.
func answersTo(p agent.Permission) []string {
	list := []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit}
	if p.Once {
		return list
	}
	return append(list, agent.DecideAlways)
}
