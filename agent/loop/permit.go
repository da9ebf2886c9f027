package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// tool decides whether a tool call may act: an intent, a question, or a reply
// that says why not. Whole is args with artifacts in place of their names.
func (t *turn) tool(ctx context.Context, view agent.Run, c agent.OpenCall, tool agent.Tool, args, whole json.RawMessage) error {
	spec := tool.Spec()
	call := agent.Call{Run: view.ID, Strand: t.lease.Strand, Effect: c.Effect, Tool: spec.Name,
		Arguments: whole, Folder: view.Brief.Folder}
	if text, denied := view.Denied[agent.Digest(spec.Name, args)]; denied {
		t.reply(c, text)
		return nil
	}
	var prepared agent.Prepared
	if p, is := tool.(agent.Preparer); is {
		var err error
		if prepared, err = p.Prepare(ctx, call); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.reply(c, "error: "+err.Error())
			return nil
		}
	}
	bound := t.bind(view, spec, args, prepared)
	permission := t.Policy.Permit(view, spec, args)
	check := view.Checks[c.Checkpoint]
	switch {
	case c.Again > 0: // it was permitted before it was interrupted
		t.intent(c, spec, args, prepared, "repeated after an interruption")
	case permission.Verdict == agent.Deny:
		t.reply(c, "denied by policy ("+permission.Rule+"): "+permission.Reason)
	case permission.Verdict == agent.Allow:
		t.intent(c, spec, args, prepared, permission.Rule)
	case check.ID != "" && check.Digest == bound && approved(check):
		t.intent(c, spec, args, prepared, "approved by "+check.Decision.By)
	default:
		t.question(view, c, spec, args, prepared, permission, bound)
	}
	return nil
}

func approved(c agent.Checkpoint) bool {
	return !c.Open() && (c.Decision.Decision == agent.DecideApprove || c.Decision.Decision == agent.DecideAlways)
}

// bind is what an approval is good for: this tool with these arguments, asked
// by this person under this policy, on the target as it was (RULES.md, "Approval").
func (t *turn) bind(view agent.Run, spec agent.ToolSpec, args json.RawMessage, p agent.Prepared) string {
	return agent.Digest(spec.Name+"|"+view.Brief.Requester+"|"+t.Policy.Version()+"|"+p.Target, args)
}

// intent journals what is about to happen.
func (t *turn) intent(c agent.OpenCall, spec agent.ToolSpec, args json.RawMessage, p agent.Prepared, rule string) {
	in := agent.ToolIntent{Effect: c.Effect, Tool: spec.Name, Arguments: args, Repeat: spec.Repeat,
		Mark: p.Mark, Rule: rule, Again: c.Again}
	if spec.Deadline > 0 {
		in.Deadline = t.now().Add(spec.Deadline)
	}
	t.event(in)
	t.fresh[c.Effect] = true
}

// question asks people about a call. While another question would allow the
// same for the whole run, this one waits for it.
func (t *turn) question(view agent.Run, c agent.OpenCall, spec agent.ToolSpec, args json.RawMessage,
	p agent.Prepared, permission agent.Permission, bound string,
) {
	for _, open := range view.OpenCheckpoints() {
		if permission.Grant != "" && open.Grant == permission.Grant {
			return
		}
	}
	title := fmt.Sprintf("May I call %s?", spec.Name)
	if c.Checkpoint != "" {
		title = fmt.Sprintf("May I call %s? What it would change is not what it was when this was approved.", spec.Name)
	}
	t.openCheckpoint(view, agent.CheckpointOpened{
		Ask: agent.CheckApproval, Title: title, Detail: p.Preview, Effect: c.Effect,
		Tool: spec.Name, Arguments: args, Digest: bound, Risk: permission.Risk, Grant: permission.Grant,
		Choices: answersTo(spec.Class),
	})
}

// answersTo are what can be said to a wish. A command is never allowed beforehand.
func answersTo(c agent.Class) []string {
	list := []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit}
	if c == agent.ClassCommand {
		return list
	}
	return append(list, agent.DecideAlways)
}

// openCheckpoint opens a checkpoint about a call, with id and expiry.
func (t *turn) openCheckpoint(view agent.Run, c agent.CheckpointOpened) {
	about := c.Effect
	if about == "" { // a question of the strand itself
		about = agent.EffectID(t.lease.Strand)
	}
	c.ID, c.Expires = view.CheckpointID(about), view.Expiry(t.now())
	t.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: t.lease.Strand, Body: c})
}
