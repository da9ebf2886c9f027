package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/loop/artifact"
)

// defaultTimeout bounds a tool that names no timeout of its own.
const defaultTimeout = 2 * time.Minute

// errLeaseGone ends a turn that found its lease run out before an effect.
var errLeaseGone = errors.New("the lease ran out before an effect")

// effects runs tools, and posts as if they were tools.
type effects struct{ *turn }

// quick is how long reads run before what led to them is written down. Most
// are over by then, and their outcomes share one commit with the answer that
// asked for them and with the next question; a crash until then costs that
// answer, and nothing in the world.
const quick = 50 * time.Millisecond

// invoke runs effects whose intents are journalled: all at once, since more
// than one only stands there when all are reads. Reads begin before that.
// Intents of an earlier holder are recovered.
func (ef effects) invoke(ctx context.Context, view *agent.Run, effects []agent.EffectID) error {
	var calls []agent.OpenCall
	for _, c := range ef.conversation(view).Open {
		if slices.Contains(effects, c.Effect) {
			calls = append(calls, c)
		}
	}
	if err := ef.beginAgain(ctx, calls); err != nil {
		return err
	}
	reads := !slices.ContainsFunc(calls, func(c agent.OpenCall) bool {
		return c.Intent.Repeat != agent.RepeatRead || !ef.fresh[c.Effect]
	})
	if !reads {
		if err := ef.flush(ctx); err != nil {
			return err
		}
	}
	if !reads && len(calls) == 1 {
		bodies, err := ef.runOrRecover(ctx, view, calls[0])
		ef.events(bodies)
		return err
	}
	return ef.invokeAll(ctx, view, calls)
}

// beginAgain writes down that reads are begun anew whose outcome an earlier holder
// did not leave: one that ended the process is not to end it for ever.
func (ef effects) beginAgain(ctx context.Context, calls []agent.OpenCall) error {
	begun := len(ef.batch)
	for _, c := range calls {
		if c.Intent.Repeat == agent.RepeatRead && !ef.fresh[c.Effect] && c.Until.IsZero() && !endless(c) {
			in := *c.Intent
			in.Again++
			ef.event(in)
			ef.fresh[c.Effect] = true
		}
	}
	if len(ef.batch) == begun {
		return nil
	}
	return ef.flush(ctx)
}

// endless reports whether a read was begun so often without an outcome that it
// is not begun again.
func endless(c agent.OpenCall) bool {
	return c.Intent.Repeat == agent.RepeatRead && c.Intent.Again >= bounds.Starts-1
}

// invokeAll runs calls side by side and commits what led to them when that
// takes long.
func (ef effects) invokeAll(ctx context.Context, view *agent.Run, calls []agent.OpenCall) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bodies, errs := make([][]agent.Body, len(calls)), make([]error, len(calls)+1)
	done := make(chan struct{}, len(calls))
	turns := make(chan struct{}, bounds.AtWork)
	for i, c := range calls {
		go func() {
			turns <- struct{}{}
			defer func() { <-turns; done <- struct{}{} }()
			errs[i] = guard.Do(ef.Log, "a call of a tool", func() (err error) {
				bodies[i], err = ef.runOrRecover(ctx, view, c)
				return err
			}, "run", view.ID, "effect", c.Effect)
		}()
	}
	late := time.NewTimer(quick)
	defer late.Stop()
	for range calls {
		select {
		case <-done:
			continue
		case <-late.C:
		}
		if err := ef.flush(ctx); err != nil {
			errs[len(calls)] = err
			cancel()
		}
		<-done
	}
	for _, b := range bodies {
		ef.events(b)
	}
	return errors.Join(errs...)
}

// runOrRecover runs or recovers one effect and returns what to journal; nothing: the
// run says what is next.
func (ef effects) runOrRecover(ctx context.Context, view *agent.Run, c agent.OpenCall) ([]agent.Body, error) {
	tool, known, err := ef.toolFor(view, *c.Intent)
	if errors.Is(err, errNoPoster) {
		return nil, ef.rest(ctx, noPosterPause)
	}
	if why := ef.hopeless(c, known, err); why != "" {
		return []agent.Body{failedOutcome(c, why)}, nil
	}
	args, err := ef.artifacts().Expand(ctx, ef.conversation(view), c.Intent.Arguments)
	if errors.Is(err, agent.ErrNoBlob) {
		return ef.withoutArtifact(ctx, view, c)
	}
	if err != nil {
		return nil, err
	}
	call := agent.Call{Run: view.ID, Strand: ef.lease.Strand, Effect: c.Effect, Tool: c.Intent.Tool,
		Arguments: args, Folder: view.Brief.Folder, Person: view.Brief.Requester, Place: view.Brief.Scope(), Mark: c.Intent.Mark,
		Deadline: c.Intent.Deadline, Repeat: c.Intent.Repeat, Deferred: c.Deferred, Env: view.EnvOf(ef.lease.Strand)}
	reads := c.Intent.Repeat == agent.RepeatRead || c.Intent.Repeat == agent.RepeatIdempotent
	switch {
	case ef.fresh[c.Effect] && (c.Until.IsZero() || reads):
		return ef.perform(ctx, view, c, tool, call)
	case !c.Until.IsZero() && !reads:
		return ef.retry(ctx, view, c, tool, call) // nothing happened yet, but from now on it may
	case !c.Until.IsZero():
		return ef.perform(ctx, view, c, tool, call)
	}
	return ef.recover(ctx, view, c, tool, call)
}

// hopeless is why an intent is not acted on any more; empty: it is.
func (ef effects) hopeless(c agent.OpenCall, known bool, unreadable error) string {
	switch {
	case unreadable != nil:
		return "its intent cannot be read: " + unreadable.Error()
	case !known:
		return fmt.Sprintf("the tool %q is not built in any more", c.Intent.Tool)
	case endless(c) && !ef.fresh[c.Effect] && c.Until.IsZero():
		return fmt.Sprintf("it was begun %d times and never came to an end: ask for less at once, or use another way", bounds.Starts)
	}
	return ""
}

// withoutArtifact deals with a call whose arguments cannot be had any more. One
// that may have run before is looked at by a person.
func (ef effects) withoutArtifact(ctx context.Context, view *agent.Run, c agent.OpenCall) ([]agent.Body, error) {
	in := c.Intent
	switch {
	case ef.fresh[c.Effect], !c.Until.IsZero(), in.Repeat == agent.RepeatRead:
		return []agent.Body{failedOutcome(c, "an artifact that the arguments name is not kept any more: call the tool that made it again")}, nil
	case ef.now().Before(in.Deadline):
		return nil, ef.rest(ctx, in.Deadline.Sub(ef.now()))
	}
	ef.askWhetherItRan(view, c)
	return nil, nil
}

// toolFor is what does an intent: a tool of the box, or on the voice strand a post.
func (ef effects) toolFor(view *agent.Run, in agent.ToolIntent) (tool agent.Tool, known bool, err error) {
	if ef.lease.Strand != agent.Voice {
		tool, known = ef.Tools.Tool(in.Tool)
		return tool, known, nil
	}
	if ef.Poster == nil {
		return nil, false, errNoPoster
	}
	what, err := agent.PostOf(in)
	return post{ef.Poster, *view, what, in}, true, err
}

// perform runs the tool once, if the lease still holds right before it.
func (ef effects) perform(ctx context.Context, view *agent.Run, c agent.OpenCall, tool agent.Tool, call agent.Call) ([]agent.Body, error) {
	if !ef.leases.Valid(ef.held) {
		return nil, errLeaseGone
	}
	timeout := tool.Spec().Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	if !call.Deadline.IsZero() {
		timeout = min(timeout, call.Deadline.Sub(ef.now()))
	}
	bound, release := ef.bounded(ctx, view, tool.Spec(), &call, timeout)
	defer release()
	began := time.Now()
	result := safely(bound, tool, call)
	if result.State != agent.OutcomeOK && errors.Is(context.Cause(bound), errStopped) {
		return []agent.Body{failedOutcome(c, "it was cut off, as the run was ended. Whether it was carried out is not known")}, nil
	}
	if result.Again > 0 {
		return []agent.Body{agent.ToolDeferred{Effect: c.Effect, Until: ef.now().Add(result.Again)}}, nil
	}
	if result.State != agent.OutcomeOK && ctx.Err() != nil {
		return nil, ctx.Err() // cut off by the end of the process: recovery decides
	}
	if result.State == agent.OutcomeUnknown && c.Intent.Repeat != agent.RepeatRead && c.Intent.Repeat != agent.RepeatIdempotent {
		delete(ef.fresh, c.Effect) // an answer that was lost is recovered like a crash
		return nil, nil
	}
	return ef.outcome(ctx, c, within(tool.Spec(), result), time.Since(began))
}

// bounded is the time that a call has. One of a foreign tool ends with the run, can
// say how far it is and ask people; its time stands still meanwhile.
func (ef effects) bounded(ctx context.Context, view *agent.Run, spec agent.ToolSpec, call *agent.Call, d time.Duration) (context.Context, func()) {
	if spec.Source == "" || ef.lease.Strand == agent.Voice {
		return context.WithTimeout(ctx, d)
	}
	stopped, release := ef.untilStopped(ctx, view)
	bound, cut := context.WithCancelCause(stopped)
	clock := newPatience(d, func() { cut(context.DeadlineExceeded) })
	at, began := ef.now(), time.Now()
	u := &underWay{engine: ef.engine, run: view.ID, strand: ef.lease.Strand, effect: call.Effect, clock: clock,
		now: func() time.Time { return at.Add(time.Since(began)) }}
	call.Progress, call.Ask = u.progress, u.ask
	return bound, func() {
		clock.timer.Stop()
		cut(nil)
		release()
	}
}

// within is a result within what its tool promises of it: no more trusted, and
// no longer.
func within(spec agent.ToolSpec, r agent.Result) agent.Result {
	if spec.Trust == agent.Untrusted {
		r.Trust = agent.Untrusted
	}
	if left := len(r.Text) - spec.MaxResult; spec.MaxResult > 0 && left > 0 {
		r.Text = artifact.Head(r.Text, spec.MaxResult) + fmt.Sprintf("\n[… %d bytes more are not kept: ask for less at once …]", left)
	}
	return r
}

// safely turns a panic of a tool into a failed result, so that one bad tool
// does not stop its run.
func safely(ctx context.Context, tool agent.Tool, call agent.Call) (r agent.Result) {
	defer func() {
		if p := recover(); p != nil {
			r = agent.Failed(fmt.Sprintf("the tool %s broke down: %v. This is a defect of the tool; use another way.", call.Tool, p))
		}
	}()
	return tool.Run(ctx, call)
}

// recover deals with an intent that an earlier holder of the strand left
// without an outcome: run it again, ask whether it happened, or ask a person.
func (ef effects) recover(ctx context.Context, view *agent.Run, c agent.OpenCall, tool agent.Tool, call agent.Call) ([]agent.Body, error) {
	in := c.Intent
	prober, canProbe := tool.(agent.Prober)
	switch {
	case in.Repeat == agent.RepeatRead || in.Repeat == agent.RepeatIdempotent:
		call.Deadline = time.Time{} // that of a request which nobody has to wait for
		return ef.perform(ctx, view, c, tool, call)
	case ef.now().Before(in.Deadline):
		// the request of the earlier holder may still arrive until then:
		// neither a probe nor a person could tell that it will not
		return nil, ef.rest(ctx, in.Deadline.Sub(ef.now()))
	case in.Repeat == agent.RepeatProbeable && canProbe:
		done, result, err := prober.Probe(ctx, call)
		if err != nil {
			ef.Log.Warn("cannot ask whether an effect happened; trying again", "run", view.ID, "effect", c.Effect, "err", err)
			return nil, ef.rest(ctx, retryPause)
		}
		if done {
			return ef.outcome(ctx, c, within(tool.Spec(), result), 0)
		}
		return ef.retry(ctx, view, c, tool, call)
	}
	ef.askWhetherItRan(view, c)
	return nil, nil
}

// askWhetherItRan asks a person.
func (ef effects) askWhetherItRan(view *agent.Run, c agent.OpenCall) {
	in := c.Intent
	ef.openCheckpoint(view, agent.CheckpointOpened{
		Ask: agent.CheckUncertain, Effect: c.Effect, Tool: in.Tool, Arguments: in.Arguments,
		Title:   fmt.Sprintf("%s may have run: I was interrupted during the call", in.Tool),
		Detail:  "Look whether it happened. Then say done, repeat or skip.",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip},
	})
}

// retry journals a new intent for an effect that did not happen, with a new
// deadline, and runs it.
func (ef effects) retry(ctx context.Context, view *agent.Run, c agent.OpenCall, tool agent.Tool, call agent.Call) ([]agent.Body, error) {
	in := *c.Intent
	in.Again++
	if d := tool.Spec().Deadline; d > 0 {
		in.Deadline = ef.now().Add(d)
	}
	call.Deadline = in.Deadline
	ef.event(in)
	if err := ef.flush(ctx); err != nil {
		return nil, err
	}
	ef.fresh[c.Effect] = true
	return ef.perform(ctx, view, c, tool, call)
}

// outcome journals a result. Long texts become artifacts first.
func (ef effects) outcome(ctx context.Context, c agent.OpenCall, r agent.Result, took time.Duration) ([]agent.Body, error) {
	if ef.Withhold != nil {
		r = ef.Withhold(r)
	}
	r.Text = ef.Redact.Text(r.Text)
	o := agent.ToolOutcome{Effect: c.Effect, State: r.State, Trust: r.Trust, Text: r.Text, Files: r.Files, Took: took}
	if o.Trust == "" {
		o.Trust = agent.Untrusted
	}
	if o.State == "" {
		o.State = agent.OutcomeOK
	}
	if left := len(r.Text) - bounds.Result; left > 0 {
		o.Text = artifact.Head(r.Text, bounds.Result) + fmt.Sprintf("\n[… %d bytes more are not kept: ask for less at once …]", left)
	}
	var err error
	if o.Text, o.Artifact, err = ef.artifacts().Shorten(ctx, o.Text); err != nil {
		return nil, err
	}
	return []agent.Body{o}, nil
}

func failedOutcome(c agent.OpenCall, reason string) agent.ToolOutcome {
	return agent.ToolOutcome{Effect: c.Effect, State: agent.OutcomeError, Trust: agent.Trusted, Text: "error: " + reason}
}
