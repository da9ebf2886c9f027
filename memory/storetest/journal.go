package storetest

// This file tests that journals return just what was committed: in order,
// with the store's stamps, after restarts, and up to an entry that is
// damaged.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

var journalTests = []test{
	{"seq counts from 1 without a gap", gapless},
	{"an event comes back as it went in", roundTrip},
	{"read returns only what is newer", readAfter},
	{"an unknown run has no events", unknownRun},
	{"stamps are the store's and never go back", stamps},
	{"its clock is the one of the stamps", clock},
	{"a commit without events", eventless},
	{"a damaged entry ends the list", damaged},
	{"an entry of a newer build ends the list", newer},
	{"another handle reads and appends", beside},
	{"what was committed is there after a restart", restart},
}

func gapless(b *bed) {
	one, two := b.start(), b.start()
	for i := range 3 {
		r := b.commit(agent.Commit{Run: one, Events: []agent.Event{say(agent.Main, "a%d", i), say(agent.Voice, "b%d", i)}})
		if want := uint64(1 + 2*(i+1)); r.Seq != want {
			b.Fatalf("receipt's seq is %d, want %d", r.Seq, want)
		}
		b.commit(agent.Commit{Run: two, Events: []agent.Event{say(agent.Main, "c%d", i)}})
	}
	b.texts(one, "a0", "b0", "a1", "b1", "a2", "b2")
	b.texts(two, "c0", "c1", "c2")
}

func roundTrip(b *bed) {
	cost := agent.Nano(12_345)
	bodies := []agent.Body{
		agent.RunStarted{Goal: "größer <als> \u2028 \x00 \"zuvor\"", Requester: "slack:U1", YesTo: []string{"reads"}, Expires: time.Hour},
		agent.ToolIntent{Effect: "e", Tool: "t", Arguments: []byte(`{"a":[1,2.50,"ü"]}`), Deadline: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)},
		agent.ModelAnswered{Call: "c", Cost: &cost, Took: 3 * time.Millisecond},
		agent.TimePassed{},
	}
	run := agent.RunID(agent.NewID())
	var events []agent.Event
	for _, body := range bodies {
		events = append(events, agent.Event{Strand: "task/a/b:c d", Body: body})
	}
	b.commit(agent.Commit{Run: run, Events: events})
	for i, got := range b.read(run, 0) {
		if diff := cmp.Diff(bodies[i], got.Body); diff != "" || got.Strand != events[i].Strand {
			b.Errorf("strand %s, body (-want +got):\n%s", got.Strand, diff)
		}
	}
}

func readAfter(b *bed) {
	run := b.start()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "2"), say(agent.Main, "3"), say(agent.Main, "4")}})
	for after := range uint64(6) {
		got := b.read(run, after)
		if want := max(0, 4-int(after)); len(got) != want {
			b.Fatalf("after %d: %d events, want %d", after, len(got), want)
		}
		for i, e := range got {
			if e.Seq != after+uint64(i)+1 {
				b.Fatalf("after %d: event %d has seq %d", after, i, e.Seq)
			}
		}
	}
}

func unknownRun(b *bed) {
	b.start()
	for _, after := range []uint64{0, 7} {
		if got, err := b.Store.Read(b.Context(), "no-such-run", after); !errors.Is(err, agent.ErrNoRun) {
			b.Fatalf("read after %d: %v, %v; want ErrNoRun", after, got, err)
		}
	}
	// A once-key alone opens no run.
	b.commit(agent.Commit{Once: []string{"message"}})
	if got, err := b.Store.Read(b.Context(), "", 0); !errors.Is(err, agent.ErrNoRun) {
		b.Fatalf("read: %v, %v; want ErrNoRun", got, err)
	}
}

func stamps(b *bed) {
	run := b.start()
	before := time.Now()
	var receipts []agent.Receipt
	for i := range 5 {
		receipts = append(receipts, b.commit(agent.Commit{Run: run, Events: []agent.Event{
			{Run: "other", Seq: 99, At: time.Unix(1, 0), Strand: agent.Main, Body: agent.PersonSaid{Text: "forged"}}, say(agent.Main, "%d", i),
		}}))
	}
	last := time.Time{}
	for i, e := range b.read(run, 1) {
		if r := receipts[i/2]; !e.At.Equal(r.At) {
			b.Errorf("event %d is of %v, its receipt of %v", e.Seq, e.At, r.At)
		}
		if e.At.Before(last) || e.At.Sub(before).Abs() > patience || e.At.Location() != time.UTC {
			b.Errorf("event %d is of %v, after %v; the test began at %v", e.Seq, e.At, last, before)
		}
		last = e.At
	}
	b.texts(run, "forged", "0", "forged", "1", "forged", "2", "forged", "3", "forged", "4")
}

func clock(b *bed) {
	run := b.start()
	for range 5 {
		before := b.now(b.Store)
		r := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "tick")}})
		if after := b.now(b.Store); r.At.Before(before) || after.Before(r.At) || after.Location() != time.UTC {
			b.Fatalf("stamped %v between %v and %v", r.At, before, after)
		}
	}
	if here, beside := b.now(b.Store), b.now(b.Beside(b.T)); here.Sub(beside).Abs() > patience {
		b.Fatalf("the clock says %v here and %v beside", here, beside)
	}
}

func eventless(b *bed) {
	run, lease := b.leased()
	r := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Wake: wake{agent.Main: agent.Parked}})
	if r.Seq != 1 || r.At.IsZero() {
		b.Fatalf("receipt %+v, want the journal's last seq 1 and a stamp", r)
	}
	b.texts(run)
}

// unreadable tampers with entry 3 of 4 and wants the cause, with two events.
func (b *bed) unreadable(kind agent.Kind, version int, body string, want error) {
	b.Helper()
	run := b.start()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "2"), say(agent.Main, "3"), say(agent.Main, "4")}})
	b.Tamper(b.T, run, 3, kind, version, body)
	events, err := b.Store.Read(b.Context(), run, 0)
	var entry *agent.EntryError
	if !errors.Is(err, want) || !errors.As(err, &entry) || entry.Run != run || entry.Seq != 3 {
		b.Fatalf("read: %v, want an EntryError for entry 3 of %s: %v", err, run, want)
	}
	if len(events) != 2 || events[1].Seq != 2 || text(events[1]) != "2" {
		b.Fatalf("read %+v with the error, want the two events before it", events)
	}
	if rest := b.read(run, 3); len(rest) != 1 || text(rest[0]) != "4" {
		b.Fatalf("read %+v behind the entry, want the last event", rest)
	}
}

func damaged(b *bed) {
	b.unreadable("person.said", 1, `{"by":"terminal","te`, agent.ErrDamaged)
	b.unreadable("person.said", 1, `["not","a","body"]`, agent.ErrDamaged)
	b.unreadable("person.said", 0, `{"by":"terminal","text":"3","trusted":true}`, agent.ErrDamaged)
}

func newer(b *bed) {
	b.unreadable("person.said", agent.PersonSaid{}.Kind().Version()+1, `{"said":"3"}`, agent.ErrNewer)
	b.unreadable("telepathy.felt", 1, `{}`, agent.ErrNewer)
}

func beside(b *bed) {
	run := b.start()
	other := b.Beside(b.T)
	r := b.commitTo(other, agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "from beside")}})
	if r.Seq != 2 {
		b.Fatalf("receipt's seq is %d, want 2", r.Seq)
	}
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "from here")}})
	b.texts(run, "from beside", "from here")
	events, err := other.Read(b.Context(), run, 1)
	if err != nil || len(events) != 2 || text(events[1]) != "from here" {
		b.Fatalf("read beside: %+v, %v; want both", events, err)
	}
	id := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{say(agent.Main, "once")}}
	if first, again := b.commitTo(other, id), b.commit(id); first.Seq != again.Seq {
		b.Fatalf("the same attempt through two handles: %+v and %+v", first, again)
	}
}

func restart(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{
		Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "before")},
		Wake: wake{"task/a": agent.AtOnce}, Once: []string{"k"}, Spend: []agent.Spend{{Counter: "c", Nano: 5}},
	})
	b.Store = b.Reopen(b.T)
	b.texts(run, "before")
	b.spent("c", 5)
	b.refused(agent.Commit{Run: run, Once: []string{"k"}}, agent.ErrSeen)
	// Main is due as well where a restart voids leases.
	if got := b.due(run); !slices.ContainsFunc(got, func(l agent.Lease) bool { return l.Strand == "task/a" }) {
		b.Fatalf("claimed %+v, want task/a among them", got)
	}
	r := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "after")}})
	if r.Seq != 3 {
		b.Fatalf("receipt's seq is %d, want 3", r.Seq)
	}
	ctx, cancel := context.WithTimeout(b.Context(), soon)
	defer cancel()
	if err := b.Store.Await(ctx, run, 2); err != nil {
		b.Fatalf("await what is there: %v", err)
	}
}
