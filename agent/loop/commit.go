package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop/lease"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// commit writes the batch under the lease and folds it. The same attempt is
// sent again after an error of the connection. Refusals of a budget leave the
// batch as it is; a lost lease saves the outcomes of effects as facts.
func (t *turn) commit(ctx context.Context, strict bool) error {
	t.wakeObservers()
	lease := t.lease
	c := agent.Commit{
		ID: agent.NewID(), Run: t.lease.Run, Lease: &lease, Seen: t.run.Seq, SeenAt: t.run.Last, Strict: strict,
		Events: t.batch, Wake: t.wake, Spend: t.commitSpend(), Ends: t.ends, Set: t.commitNames(),
	}
	receipt, err := t.send(ctx, c)
	if errors.Is(err, agent.ErrConflict) {
		t.salvage(ctx)
		return err
	}
	if err != nil {
		return err
	}
	trial := t.trial()
	t.hear(receipt.At)
	t.lease.Turn++
	t.drop()
	return t.advance(ctx, receipt, c.Events, trial)
}

// advance folds what was committed.
func (t *turn) advance(ctx context.Context, receipt agent.Receipt, events []agent.Event, trial *agent.Run) error {
	run, err := t.folds.Advance(ctx, t.lease.Run, receipt, events, trial)
	if t.run = &run; err != nil {
		return err
	}
	if err := t.folds.Keep(ctx, t.lease.Run); err != nil {
		t.Log.Warn("cannot keep a snapshot; the journal alone serves", "run", t.lease.Run, "err", err)
	}
	return nil
}

// trial is the run with the batch, where that is the same whatever its stamp;
// else nil.
func (t *turn) trial() *agent.Run {
	for _, e := range t.batch {
		if !agent.Timeless(e.Body) {
			return nil
		}
	}
	return t.view()
}

// drop empties the batch.
func (t *turn) drop() {
	t.batch, t.upTo, t.wake, t.spend, t.ends, t.names = nil, 0, nil, nil, false, nil
}

// wakeObservers wakes those whom the batch concerns beside this strand: the
// voice, when people can see a change, and the main strand when the voice
// fetched a file.
func (t *turn) wakeObservers() {
	speaks := t.run.Strands.Has(agent.Voice)
	for _, e := range t.batch {
		o, outcome := e.Body.(agent.ToolOutcome)
		switch {
		case t.lease.Strand != agent.Voice:
			if speaks && agent.Visible(e.Body) {
				t.wakeAt(agent.Voice, agent.AtOnce)
			}
		case outcome && o.Effect.Attaches():
			t.wakeAt(agent.Main, agent.AtOnce)
		}
	}
}

// commitSpend is what the batch adds to counters; a run that ends gives back its
// place among the live ones.
func (t *turn) commitSpend() []agent.Spend {
	if !t.ends {
		return t.spend
	}
	spend := slices.Clone(t.spend)
	for _, counter := range t.run.Brief.Counted {
		spend = append(spend, agent.Spend{Counter: counter, Nano: -1})
	}
	return spend
}

// commitNames are the names that the batch sets: of threads that it opened, of
// a goal's run that ends with it, and those that are given up.
func (t *turn) commitNames() map[string]string {
	names := maps.Clone(t.names)
	if t.lease.Strand == agent.Voice {
		for _, e := range t.batch {
			if o, is := e.Body.(agent.ToolOutcome); is {
				names = nameThread(names, t.lease.Run, o)
			}
		}
	}
	if t.ends {
		if goal, is := agent.GoalName(*t.view()); is {
			names = withName(names, goal, string(t.lease.Run))
		}
	}
	return names
}

// nameThread adds the thread that a post opened to the names.
func nameThread(names map[string]string, run agent.RunID, o agent.ToolOutcome) map[string]string {
	var s agent.Shown
	if o.State != agent.OutcomeOK || json.Unmarshal([]byte(o.Text), &s) != nil || s.Thread == "" {
		return names
	}
	return withName(names, agent.ThreadName(s.Thread), string(run))
}

// withName adds a name with its value.
func withName(names map[string]string, name, value string) map[string]string {
	if names == nil {
		names = map[string]string{}
	}
	names[name] = value
	return names
}

// send repeats a commit until the store answers. The store being away is not
// an answer: what happened must not be forgotten while this process lives. What
// can never be written is one (agent.Permanent).
func (e *engine) send(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	pauses := wait.Backoff{First: 20 * time.Millisecond, Longest: time.Second}
	for {
		receipt, err := e.Store.Commit(ctx, c)
		if err == nil || refused(err) || agent.Permanent(err) || ctx.Err() != nil {
			return receipt, err
		}
		pause := pauses.Next()
		e.Log.Warn("cannot commit; trying again", "run", c.Run, "pause", pause, "err", err)
		wait.Sleep(ctx, pause)
	}
}

func refused(err error) bool {
	for _, known := range []error{agent.ErrConflict, agent.ErrStale, agent.ErrBudget, agent.ErrSeen, agent.ErrNoRun} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// salvage journals the outcomes in the batch as facts: what an effect did is
// never dropped, even when the lease is gone. That an effect failed is left to
// recovery: another holder may be at it again, and the first outcome counts.
func (t *turn) salvage(ctx context.Context) {
	var outcomes []agent.Event
	var names map[string]string
	wake := map[agent.StrandID]time.Time{t.lease.Strand: agent.AtOnce}
	begun := map[agent.EffectID]bool{} // with the batch: reads, which the journal does not know
	for _, e := range t.batch {
		if in, is := e.Body.(agent.ToolIntent); is {
			begun[in.Effect] = true
		}
		if o, is := e.Body.(agent.ToolOutcome); is && o.State == agent.OutcomeOK && !begun[o.Effect] {
			outcomes = append(outcomes, e)
			if o.Effect.Attaches() {
				wake[agent.Main] = agent.AtOnce // it waits for the file
			}
			if t.lease.Strand == agent.Voice {
				names = nameThread(names, t.lease.Run, o)
			}
		}
	}
	if len(outcomes) == 0 {
		return
	}
	if _, bounded := ctx.Deadline(); !bounded { // the end of the process bounds it, a lost lease does not
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), t.Grace)
		defer cancel()
	}
	_, err := t.send(ctx, agent.Commit{ID: agent.NewID(), Run: t.lease.Run, Events: outcomes, Set: names, Wake: wake})
	if err != nil {
		t.Log.Error("an outcome could not be journalled; recovery will look for it", "run", t.lease.Run, "err", err)
	}
}

// release commits the batch and gives the lease back, due at the time.
func (t *turn) release(ctx context.Context, due time.Time) error {
	t.wakeAt(t.lease.Strand, due)
	if err := t.commit(ctx, false); err != nil {
		return err
	}
	if due.IsZero() {
		t.leave()
	}
	return nil
}

// leave takes a run out of the cache that has ended, once its last strand
// rests: the voice, where it has one.
func (t *turn) leave() {
	if t.run.Ended != nil && (t.lease.Strand == agent.Voice || !t.run.Strands.Has(agent.Voice)) {
		t.folds.Forget(t.lease.Run)
	}
}

// flush commits the batch and keeps the lease. An empty batch needs no commit.
func (t *turn) flush(ctx context.Context) error {
	if len(t.batch) == 0 && len(t.spend) == 0 {
		return nil
	}
	return t.commit(ctx, false)
}

// commitStrict commits a decision that is good for exactly the run as it was folded.
// Where others were faster, the decision is dropped and taken again.
func (t *turn) commitStrict(ctx context.Context) error {
	err := t.commit(ctx, true)
	if !errors.Is(err, agent.ErrStale) {
		return err
	}
	t.drop()
	run, err := t.folds.Load(ctx, t.lease.Run)
	t.run = &run
	return err
}

// end closes the journal, on its own and only if nothing was said meanwhile: a
// word that was taken in must not be followed by an end that did not hear it.
func (t *turn) end(ctx context.Context, d agent.Decide) error {
	if len(t.batch) > 0 || len(t.spend) > 0 {
		return t.flush(ctx) // and decide anew
	}
	t.add(d.Wake, d.Events...)
	t.wakeAt(t.lease.Strand, agent.Parked)
	if t.ends {
		t.past().Keep(ctx, t.view(), t.now())
	}
	if err := t.commitStrict(ctx); err != nil || t.run.Ended == nil {
		return err
	}
	t.leave()
	return errRested
}

// errRested ends a turn whose strand was released already.
var errRested = errors.New("strand rests")

// rest releases the strand for a while.
func (t *turn) rest(ctx context.Context, d time.Duration) error {
	if err := t.release(ctx, t.now().Add(d)); err != nil {
		return err
	}
	return errRested
}

// handBack releases the lease without writing anything.
func (t *turn) handBack(ctx context.Context, due time.Time) {
	t.salvage(ctx)
	lease := t.lease
	_, err := t.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: lease.Run, Lease: &lease, Seen: agent.SeenAll,
		Wake: map[agent.StrandID]time.Time{lease.Strand: due}})
	if err != nil && !refused(err) {
		t.Log.Warn("cannot hand back; the lease will run out", "run", lease.Run, "strand", lease.Strand, "err", err)
	}
}

// cutOff hands the strand back at the end of the process, in a second at most.
func (t *turn) cutOff(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	t.handBack(ctx, agent.AtOnce)
}

// pause stops the whole run until a person resumes it. The voice is woken to
// say so, unless it is what had to be stopped.
func (t *turn) pause(ctx context.Context, reason string) error {
	lease := t.lease
	wakes := map[agent.StrandID]time.Time{lease.Strand: agent.Parked}
	if speaks := t.run.Strands.Has(agent.Voice); speaks && lease.Strand != agent.Voice {
		wakes[agent.Voice] = agent.AtOnce
	}
	_, err := t.send(ctx, agent.Commit{ID: agent.NewID(), Run: lease.Run, Lease: &lease, Seen: agent.SeenAll, Wake: wakes,
		Events: []agent.Event{{Strand: lease.Strand, Body: agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: reason}}}})
	if err != nil {
		t.Log.Error("cannot pause the run", "run", lease.Run, "err", err)
	}
	return err
}

// denied ends a turn whose commit the store will never take: what can be saved
// of it is saved, and the run is paused with the reason. Where not even that
// can be written, the strand goes back for longer each time, and people hear of
// it from an alert.
func (t *turn) denied(ctx context.Context, cause error) {
	t.salvage(ctx)
	t.drop()
	err := t.pause(ctx, "the store does not take what this run has to write: "+cause.Error())
	if err == nil || !agent.Permanent(err) {
		t.denials.forget(t.lease)
		return
	}
	pause, first := t.denials.next(t.lease)
	if first && t.Alarm != nil {
		t.Alarm(ctx, t.lease.Run, fmt.Sprintf("Run %s cannot go on: the store takes nothing that it has to write, not even that it is paused (%v). "+
			"Look at `deckhand doctor` and at the log; the run is tried again by itself.", t.lease.Run, err))
	}
	t.handBack(ctx, t.now().Add(pause))
}

// denials are the strands whose pause could not be written, with how long they
// rest before the next attempt.
type denials struct {
	mu    sync.Mutex
	known map[lease.Key]*wait.Backoff
}

// next is the pause before the strand's next attempt; first says that it is the
// first in a row.
func (d *denials) next(l agent.Lease) (pause time.Duration, first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[lease.KeyOf(l)]
	if first = b == nil; first {
		if d.known == nil {
			d.known = map[lease.Key]*wait.Backoff{}
		}
		b = &wait.Backoff{First: retryPause, Longest: 10 * time.Minute}
		d.known[lease.KeyOf(l)] = b
	}
	return b.Next(), first
}

// forget begins anew with the strand.
func (d *denials) forget(l agent.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.known, lease.KeyOf(l))
}
