package loop_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// looker is a board that says when the card is looked after.
type looker struct {
	*board
	look func(r agent.Run)
}

func (l *looker) Show(ctx context.Context, r agent.Run) time.Duration {
	l.look(r)
	return l.board.Show(ctx, r)
}

// What a post came to is written down before the card is looked after, which
// may take a while: people answer in the thread that the post opened.
func TestPostsAreWrittenDownBeforeTheCardIsLookedAfter(t *testing.T) {
	l := &looker{board: &board{}}
	var house atomic.Pointer[house]
	var missing, looked atomic.Int32
	l.look = func(r agent.Run) {
		h := house.Load()
		if h == nil {
			return
		}
		events, err := h.store.Read(context.Background(), r.ID, 0)
		written := slices.ContainsFunc(events, func(e agent.Event) bool {
			o, is := e.Body.(agent.ToolOutcome)
			return is && o.Effect == "post/card"
		})
		if looked.Add(1); err != nil || !written {
			missing.Add(1)
		}
	}
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = l }, newNote("note", agent.ClassRead, agent.RepeatRead))
	house.Store(h)
	for range 5 {
		id := agent.RunID(agent.NewID())
		if _, err := h.desk.Begin(t.Context(), runs.NewRun{Run: id, Brief: agent.RunStarted{Goal: "make a note", ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever}}); err != nil {
			t.Fatal(err)
		}
		h.ended(id)
		h.until(id, "the report is posted", func(r agent.Run) bool { return r.Shown["report"].Message != "" })
	}
	if looked.Load() == 0 || missing.Load() > 0 {
		t.Errorf("the card was looked after %d times, %d of them before its post was written down", looked.Load(), missing.Load())
	}
}

// fading is a store that does not extend leases.
type fading struct{ agent.Store }

func (fading) Extend(context.Context, []agent.Lease) ([]agent.Lease, error) {
	return nil, errors.New("the store is away")
}

// Whoever was held up beyond its lease leaves the card alone: the next one may
// have shown something newer already.
func TestTheCardIsLeftAloneWithoutALease(t *testing.T) {
	const lease = 500 * time.Millisecond
	l := &looker{board: &board{}}
	var back atomic.Int64 // when the post came back
	var early atomic.Int32
	l.look = func(agent.Run) {
		if at := back.Load(); at != 0 && time.Since(time.UnixMilli(at)) < time.Second {
			early.Add(1)
		}
	}
	l.faults = []func(string, *board) agent.Result{func(key string, b *board) agent.Result {
		<-time.After(lease + 100*time.Millisecond) // a process that was frozen
		b.posts = append(b.posts, key)
		back.Store(time.Now().UnixMilli())
		return b.done(key)
	}}
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) {
		c.Poster, c.Store, c.Lease = l, fading{c.Store}, lease
	}, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever})
	r := h.until(run, "the report is posted", func(r agent.Run) bool { return r.Shown["report"].Message != "" })
	if early.Load() > 0 || r.Shown["card"].Message == "" {
		t.Errorf("looked after the card %d times without a lease; %+v", early.Load(), r.Shown)
	}
}
