package loop_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// denying is a store that takes some commits under a lease never, as one does
// whose user may not or whose key is of another type.
type denying struct {
	agent.Store
	mu     sync.Mutex
	denies func(c agent.Commit) bool
	denied int
	taken  chan agent.Commit // under a lease
}

func (d *denying) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.Lease != nil && d.denies(c) {
		d.denied++
		return agent.Receipt{}, fmt.Errorf("commit: %w: NOPERM this user has no permissions", agent.ErrPermanent)
	}
	r, err := d.Store.Commit(ctx, c)
	if c.Lease != nil && err == nil {
		select {
		case d.taken <- c:
		default:
		}
	}
	return r, err
}

func has(c agent.Commit, k agent.Kind) bool {
	return slices.ContainsFunc(c.Events, func(e agent.Event) bool { return e.Body.Kind() == k })
}

func TestWhatTheStoreNeverTakesPausesTheRun(t *testing.T) {
	tool := newNote("note", agent.ClassRead, agent.RepeatRead)
	b := &board{}
	var store *denying
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) {
		store = &denying{Store: c.Store, taken: make(chan agent.Commit, 1000), denies: func(c agent.Commit) bool {
			return c.Lease.Strand == "task/a" && has(c, agent.ModelAnswered{}.Kind())
		}}
		c.Store, c.Poster = store, b
	}, tool)
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:", PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Expires: time.Hour})
	h.until(run, "the run is paused", func(r agent.Run) bool { return r.Paused != "" })
	store.mu.Lock()
	denied := store.denied
	store.denies = func(agent.Commit) bool { return false }
	store.mu.Unlock()
	if denied != 1 {
		t.Errorf("the commit was sent %d times, want once", denied)
	}
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(events, func(e agent.Event) bool { return e.Body.Kind() == agent.RunControlled{}.Kind() })
	if word, is := events[i].Body.(agent.RunControlled); !is || !strings.Contains(word.Reason, "the store does not take what this run has to write") || !strings.Contains(word.Reason, "NOPERM") {
		t.Errorf("paused with %+v", events[i].Body)
	}
	for c := range store.taken {
		if has(c, agent.RunControlled{}.Kind()) {
			if !c.Wake[agent.Voice].Equal(agent.AtOnce) {
				t.Errorf("the pause wakes %v, want the voice to say so", c.Wake)
			}
			break
		}
	}
	if err := h.desk.Control(t.Context(), run, person, agent.RunControlled{Word: agent.WordResume}); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Errorf("ended %+v", r.Ended)
	}
}

func TestAStrandThatCannotEvenBePausedRestsLongerEachTime(t *testing.T) {
	alarms := make(chan string, 100)
	var store *denying
	h := open(t, noter("note"), func(c *loop.Config) {
		store = &denying{Store: c.Store, taken: make(chan agent.Commit, 1000), denies: func(c agent.Commit) bool { return len(c.Events) > 0 }}
		c.Store = store
		c.Alarm = func(_ context.Context, run agent.RunID, text string) { alarms <- string(run) + ": " + text }
	})
	run := h.start(agent.RunStarted{})
	var pauses []time.Duration
	for len(pauses) < 2 {
		c := <-store.taken
		if due, back := c.Wake[c.Lease.Strand]; back {
			pauses = append(pauses, due.Sub(c.Lease.At))
		}
	}
	if pauses[0] < 500*time.Millisecond || pauses[1] <= pauses[0] {
		t.Errorf("rested %v, want longer each time", pauses)
	}
	if got := <-alarms; !strings.HasPrefix(got, string(run)+": ") || !strings.Contains(got, "cannot go on") || len(alarms) > 0 {
		t.Errorf("alarm %q and %d more, want one", got, len(alarms))
	}
	store.mu.Lock()
	store.denies = func(agent.Commit) bool { return false }
	store.mu.Unlock()
	h.ended(run)
}
