package loop

// This file checks each call that the model makes before anything acts: is
// the function offered, can its arguments be read, do they fit. Bad calls are
// refused with a reason for the model.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/alias"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/artifact"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/thought"
)

// dispatcher decides about the model's calls before anything acts.
type dispatcher struct{ *turn }

// dispatch looks at the open calls that have no intent: at all of them when
// every one is a read, else at the first only, so that effects keep the
// model's order. It waits when there is nothing to journal.
func (d dispatcher) dispatch(ctx context.Context, view *agent.Run) (waits bool, err error) {
	var undecided []agent.OpenCall
	for _, c := range d.conversation(view).Open {
		if c.Intent == nil {
			undecided = append(undecided, c)
		}
	}
	if !d.allReads(undecided) {
		undecided = undecided[:1]
	}
	before, seq := len(d.batch), d.run.Seq
	for _, c := range undecided {
		if err := d.decideCall(ctx, view, c); err != nil {
			return false, err
		}
	}
	return len(d.batch) == before && d.run.Seq == seq, nil // added tasks are committed already
}

func (d dispatcher) allReads(calls []agent.OpenCall) bool {
	for _, c := range calls {
		tool, known := d.Tools.Tool(c.Name)
		if !known || tool.Spec().Class != agent.ClassRead || tool.Spec().Repeat != agent.RepeatRead {
			return false
		}
	}
	return true
}

// decideCall decides about one call: refuse it, answer it, ask about it, or let it act.
func (d dispatcher) decideCall(ctx context.Context, view *agent.Run, c agent.OpenCall) error {
	if c.Effect.Number() >= bounds.Calls {
		d.reply(c, fmt.Sprintf("error: too many calls in one answer: the first %d were looked at. Make this one again if it is still needed.", bounds.Calls))
		return nil
	}
	offered := d.book.Offered(view, d.lease.Strand, d.Tools.Specs())
	has := func(name string) bool {
		return slices.ContainsFunc(offered, func(f llm.Function) bool { return f.Name == name })
	}
	if c.Name, c.Arguments = alias.Resolve(c.Name, c.Arguments, has); !has(c.Name) {
		d.refuse(c, d.unknown(c.Name, offered))
		return nil
	}
	if d.documents(ctx, view, c) {
		return nil
	}
	args, err := arguments(view, d.lease.Strand, c, d.schemaOf(c.Name))
	if err != nil {
		d.refuse(c, fmt.Sprintf("the arguments of %s cannot be read: %v", c.Name, err))
		return nil
	}
	if tool, is := d.Tools.Tool(c.Name); is {
		if err := d.Tools.Check(c.Name, args); err != nil {
			d.refuse(c, err.Error())
			return nil
		}
		whole, err := d.artifacts().Expand(ctx, d.conversation(view), args)
		if err == nil {
			err = d.fits(c, whole)
		}
		if why := unfit(c, err); why != "" {
			d.refuse(c, why)
			return nil
		}
		if err != nil {
			return err
		}
		return d.permit(ctx, view, c, tool, args, whole)
	}
	if err := d.checkArguments(c.Name, args); err != nil && (c.Name != "submit_plan" || !plan.Foreign(args)) {
		d.refuse(c, err.Error())
		return nil
	}
	return decider(d).take(ctx, view, c, args)
}

// documents puts the documentation of a tool before the model instead of its first
// call, where the model does not have it as it is now.
func (d dispatcher) documents(ctx context.Context, view *agent.Run, c agent.OpenCall) (held bool) {
	if c.Edited != nil || c.Checkpoint != "" || c.Again > 0 {
		return false // it was looked at before
	}
	return offerer(d).hold(ctx, view, c)
}

// schemaOf is the schema of the arguments of a function's own.
func (d dispatcher) schemaOf(name string) json.RawMessage {
	if tool, is := d.Tools.Tool(name); is {
		return tool.Spec().Parameters
	}
	return d.own[name]
}

// thought is why the model makes the call, in its own words; empty: it does not
// say, or is not asked.
func (d dispatcher) thought(c agent.OpenCall) string {
	if d.NoThought || c.Edited != nil {
		return ""
	}
	_, why := thought.Take(json.RawMessage(c.Arguments), d.schemaOf(c.Name))
	return d.Redact.Text(why)
}

// errMisfit is what a tool says about arguments in which artifacts are in their
// places.
var errMisfit = errors.New("with the artifacts in their places")

// errSecret is said of arguments that would carry a secret out.
var errSecret = errors.New("a secret never leaves")

// fits checks arguments, artifacts in their places.
func (d dispatcher) fits(c agent.OpenCall, whole json.RawMessage) error {
	if tool, _ := d.Tools.Tool(c.Name); tool != nil && leaves(tool.Spec()) {
		if kind, is := d.Redact.Holds(string(whole)); is {
			return fmt.Errorf("the arguments of %s hold %s, and %w: leave it out", c.Name, kind, errSecret)
		}
	}
	if err := d.Tools.Check(c.Name, whole); err != nil {
		return fmt.Errorf("%w, %w", errMisfit, err)
	}
	return nil
}

// leaves reports whether a tool's arguments leave this host.
func leaves(spec agent.ToolSpec) bool { return spec.Class == agent.ClassSend || spec.Open }

// unfit is what a model is told about arguments that do not do; empty: they do,
// or the error is the store's.
func unfit(c agent.OpenCall, err error) string {
	switch {
	case errors.Is(err, agent.ErrNoBlob):
		return fmt.Sprintf("an artifact that %s names is not kept any more: call the tool that made it again", c.Name)
	case errors.Is(err, artifact.ErrTooLong):
		return fmt.Sprintf("%s: %v", c.Name, err)
	case errors.Is(err, errMisfit), errors.Is(err, errSecret):
		return err.Error()
	}
	return ""
}

// unknown says what a function was probably meant to be.
func (d dispatcher) unknown(name string, offered []llm.Function) string {
	names := make([]string, len(offered))
	for i, f := range offered {
		names[i] = f.Name
	}
	text := fmt.Sprintf("unknown function %q", name)
	if _, is := d.Tools.Tool(name); is {
		text = fmt.Sprintf("the function %q is not available here", name)
	}
	near := d.Tools.Nearest(name)
	if i := slices.IndexFunc(near, func(n string) bool { return slices.Contains(names, n) }); i >= 0 {
		text += fmt.Sprintf("; did you mean %q?", near[i])
	}
	return text + " Available: " + strings.Join(names, ", ") + "."
}

// arguments reads a call's arguments by the function's schema: it takes the thought
// off, fills in the placeholders of a task's
// inputs and returns canonical JSON (RFC 8785).
func arguments(view *agent.Run, s agent.StrandID, c agent.OpenCall, schema json.RawMessage) (json.RawMessage, error) {
	raw := c.Edited
	if raw == nil {
		raw = json.RawMessage(strings.TrimSpace(c.Arguments))
		if len(raw) == 0 {
			raw = json.RawMessage("{}")
		}
		if !json.Valid(raw) {
			var v any
			return nil, fmt.Errorf("they are not JSON: %w", json.Unmarshal(raw, &v))
		}
		raw, _ = thought.Take(raw, schema)
		if id, ok := s.Task(); ok && mayName(raw) {
			expanded, err := plan.ExpandJSON(raw, inputs(view, id))
			if err != nil {
				return nil, err
			}
			raw = expanded
		}
	}
	if raw[0] != '{' {
		return nil, errors.New("they must be one JSON object")
	}
	if err := bounds.Nested(raw); err != nil {
		return nil, err
	}
	return format.Canonical(raw)
}

// mayName reports whether arguments may have a placeholder, however it is spelt.
func mayName(raw []byte) bool {
	return bytes.Contains(raw, []byte("${")) || bytes.Contains(raw, []byte(`\u`))
}

// inputs are the values that a task may name in placeholders.
func inputs(view *agent.Run, id agent.TaskID) map[string]agent.Output {
	task, _ := view.Plan.Task(id)
	return plan.Inputs(task, agent.Values(*view))
}

// checkArguments validates the arguments of a decision function.
func (d dispatcher) checkArguments(name string, args json.RawMessage) error {
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return err
	}
	if err := d.schemas[name].Validate(value); err != nil {
		return fmt.Errorf("the arguments of %s do not fit: %w", name, err)
	}
	return nil
}
