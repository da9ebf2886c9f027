package file

// What the changing tools share: prepared for a person to see, made under a lock, never twice.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// ErrMark is returned where a call carries no note of Prepare, or that of
// another call.
var ErrMark = errors.New("this change was not prepared")

// target is the arguments of the three effects.
type target struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// transition is what Prepare notes: the file and its states before and after.
type transition struct {
	Path   string          `json:"path"`
	Before workspace.State `json:"before"`
	After  workspace.State `json:"after"`
}

// change is what differs between writing, appending and deleting.
type change interface {
	// plan says what the change makes of the file and how it looks to a person.
	plan(ctx context.Context, f *workspace.Folder, t target, before workspace.State) (after workspace.State, preview string, err error)
	// ignoresOthers reports whether the change means the same whatever others made
	// of the file since it was prepared.
	ignoresOthers() bool
	// apply makes the change. The lock is held and the file is as before.
	apply(ctx context.Context, f *workspace.Folder, t target, m transition) error
	// resultText is the result's text.
	resultText(t target, m transition) string
}

// effect is a tool that changes one file.
type effect struct {
	c    Config
	spec agent.ToolSpec
	kind change
}

// Spec describes the tool.
func (e *effect) Spec() agent.ToolSpec { return e.spec }

// Prepare notes the file's state and describes the change. It changes nothing.
func (e *effect) Prepare(ctx context.Context, call agent.Call) (agent.Prepared, error) {
	var t target
	f, err := openFolder(e.c, call, &t)
	if err != nil {
		return agent.Prepared{}, err
	}
	defer func() { _ = f.Close() }()
	if t.Path, err = f.Target(t.Path); err != nil {
		return agent.Prepared{}, err
	}
	before, err := f.State(ctx, t.Path)
	if err != nil {
		return agent.Prepared{}, err
	}
	after, preview, err := e.kind.plan(ctx, f, t, before)
	if err != nil {
		return agent.Prepared{}, err
	}
	note, err := json.Marshal(transition{Path: t.Path, Before: before, After: after})
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("%s: noting its state: %w", t.Path, err)
	}
	return agent.Prepared{Target: before.String(), Mark: string(note), Preview: preview,
		Changes: []string{t.Path}, New: before.Absent}, nil
}

// Run makes the change unless it is made already. Where the file is neither as
// before nor as after, it refuses, unless the change means the same anywhere.
func (e *effect) Run(ctx context.Context, call agent.Call) agent.Result {
	var t target
	return inFolder(ctx, e.c, call, &t, func(ctx context.Context, f *workspace.Folder) (agent.Result, error) {
		return e.locked(ctx, f, call, t, func(l *workspace.Lock, t target, m transition, now workspace.State) (agent.Result, error) {
			if now != m.Before && e.kind.ignoresOthers() {
				after, _, err := e.kind.plan(ctx, f, t, now)
				if err != nil {
					return agent.Result{}, err
				}
				m.Before, m.After = now, after
			}
			if now != m.Before {
				return agent.Result{}, fmt.Errorf("%w: %s is %s, it was %s when this change was prepared; nothing was changed, read it again and decide anew",
					workspace.ErrChanged, m.Path, now, m.Before)
			}
			if err := l.Begin(effectKey(call), m.After); err != nil {
				return agent.Result{}, fmt.Errorf("%w: nothing was changed", err)
			}
			if err := e.kind.apply(ctx, f, t, m); err != nil {
				if s, e := f.State(ctx, m.Path); e != nil || s != m.After {
					return agent.Result{}, err
				}
				return e.finish(l, call, t, m, fmt.Sprintf(" (%v)", err)), nil
			}
			return e.finish(l, call, t, m, ""), nil
		})
	})
}

// Probe reports whether the change was made, by the same comparison as Run.
func (e *effect) Probe(ctx context.Context, call agent.Call) (bool, agent.Result, error) {
	var t target
	f, err := openFolder(e.c, call, &t)
	if err != nil {
		return false, agent.Result{}, err
	}
	defer func() { _ = f.Close() }()
	undone := false
	r, err := e.locked(ctx, f, call, t, func(*workspace.Lock, target, transition, workspace.State) (agent.Result, error) {
		undone = true
		return agent.Result{}, nil
	})
	if err != nil {
		return false, agent.Result{}, err
	}
	return !undone, r, nil
}

// locked takes the file's lock and answers for a change that is made already;
// else it calls undone with the file's state.
func (e *effect) locked(ctx context.Context, f *workspace.Folder, call agent.Call, t target,
	undone func(*workspace.Lock, target, transition, workspace.State) (agent.Result, error),
) (agent.Result, error) {
	var m transition
	if err := json.Unmarshal([]byte(call.Mark), &m); err != nil {
		return agent.Result{}, fmt.Errorf("%w: call %s with what Prepare noted", ErrMark, e.spec.Name)
	}
	p, err := f.Target(t.Path)
	if err != nil {
		return agent.Result{}, err
	}
	if p != m.Path {
		return agent.Result{}, fmt.Errorf("%w: the note is for %s, the call for %s", ErrMark, m.Path, p)
	}
	t.Path = p
	l, err := f.Lock(ctx, p)
	if err != nil {
		return agent.Result{}, err
	}
	defer l.Release()
	now, err := f.State(ctx, p)
	if err != nil {
		return agent.Result{}, err
	}
	if err := l.Settle(now); err != nil {
		return agent.Result{}, err
	}
	recorded, err := l.Done(effectKey(call))
	switch {
	case err != nil:
		return agent.Result{}, err
	case recorded && e.kind.ignoresOthers():
		m.After = now // it may have been another file than the one that was prepared for
		return succeeded(e.kind.resultText(t, m), agent.Trusted, p), nil
	case recorded:
		return succeeded(e.kind.resultText(t, m), agent.Trusted, p), nil
	case now == m.After && !e.kind.ignoresOthers(): // others may have added the same text
		return e.finish(l, call, t, m, ""), nil
	}
	return undone(l, t, m, now)
}

// finish records the effect, so that no sleeping worker repeats it even when
// the file is back to what it was before.
func (e *effect) finish(l *workspace.Lock, call agent.Call, t target, m transition, note string) agent.Result {
	if err := l.Record(effectKey(call)); err != nil {
		note += fmt.Sprintf(" (the file is as it should be, but this could not be noted: %v)", err)
	}
	return succeeded(e.kind.resultText(t, m)+note, agent.Trusted, m.Path)
}

// effectKey names the effect over all runs.
func effectKey(call agent.Call) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", call.Run, call.Effect, call.Tool, call.Arguments)
}
