package loop

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// commit writes the batch under the lease and folds it. The same attempt is
// sent again after an error of the connection. Refusals of a budget leave the
// batch as it is; a lost lease saves the outcomes of effects as facts.
func (t *turn) commit(ctx context.Context, strict bool) error {
	lease, names := t.lease, t.naming()
	c := agent.Commit{
		ID: agent.NewID(), Run: t.lease.Run, Lease: &lease, Seen: t.run.Seq, Strict: strict,
		Events: t.batch, Wake: t.wake, Spend: t.spend, Ends: t.ends, Set: names,
	}
	receipt, err := t.send(ctx, c)
	if errors.Is(err, agent.ErrConflict) {
		t.salvage(ctx)
		return err
	}
	if err != nil {
		return err
	}
	t.lease.Turn++
	t.batch, t.upTo, t.wake, t.spend, t.ends, t.names = nil, 0, nil, nil, false, nil
	t.run, err = t.folds.advance(ctx, t.lease.Run, receipt, c.Events)
	return err
}

// send repeats a commit until the store answers. The store being away is not
// an answer: what happened must not be forgotten while this process lives.
func (l *Loop) send(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	for backoff := (wait.Backoff{First: 20 * time.Millisecond, Longest: time.Second}); ; {
		receipt, err := l.Store.Commit(ctx, c)
		if err == nil || refused(err) || ctx.Err() != nil {
			return receipt, err
		}
		pause := backoff.Next()
		l.Log.Warn("cannot commit; trying again", "run", c.Run, "pause", pause, "err", err)
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
	for _, e := range t.batch {
		if o, is := e.Body.(agent.ToolOutcome); is && o.State == agent.OutcomeOK {
			outcomes = append(outcomes, e)
			if o.Effect.Attaches() {
				wake[agent.Main] = agent.AtOnce // it waits for the file
			}
			if t.lease.Strand == agent.Voice {
				names = threadNames(t.lease.Run, o, names)
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

// handBack releases the lease without writing anything.
func (t *turn) handBack(ctx context.Context, due time.Time) {
	t.salvage(ctx)
	lease := t.lease
	_, err := t.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: lease.Run, Lease: &lease, Seen: ^uint64(0),
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

// pause stops the whole run until a person resumes it.
func (t *turn) pause(ctx context.Context, reason string) {
	lease := t.lease
	_, err := t.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: lease.Run, Lease: &lease, Seen: ^uint64(0),
		Events: []agent.Event{{Strand: lease.Strand, Body: agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: reason}}},
		Wake:   map[agent.StrandID]time.Time{lease.Strand: agent.Parked}})
	if err != nil {
		t.Log.Error("cannot pause the run", "run", lease.Run, "err", err)
	}
}
