package storetest

// A store under test, and the steps that most tests take.

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deckhand-bot/deckhand/agent"
)

// bed is a store under test. Its methods end the test when a store fails where
// it may not.
type bed struct {
	*testing.T
	Stores
	lease time.Duration
}

type wake = map[agent.StrandID]time.Time

// say is an event that can be told from others by its text.
func say(s agent.StrandID, format string, args ...any) agent.Event {
	return agent.Event{Strand: s, Body: agent.PersonSaid{By: "terminal", Text: fmt.Sprintf(format, args...), Trusted: true}}
}

// text is what say was given.
func text(e agent.Event) string {
	said, ok := e.Body.(agent.PersonSaid)
	if !ok {
		return string(e.Body.Kind())
	}
	return said.Text
}

// opens is the event that a run begins with.
func opens() agent.Event {
	return agent.Event{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "terminal"}}
}

// start opens a run whose main strand is due.
func (b *bed) start() agent.RunID {
	b.Helper()
	run := agent.RunID(agent.NewID())
	b.commit(agent.Commit{
		Run: run, Wake: wake{agent.Main: agent.AtOnce},
		Events: []agent.Event{opens()},
	})
	return run
}

// leased opens a run and claims its main strand.
func (b *bed) leased() (agent.RunID, agent.Lease) {
	b.Helper()
	run := b.start()
	return run, b.claim(run, agent.Main)
}

// commit fills in an attempt id where there is none.
func (b *bed) commit(c agent.Commit) agent.Receipt {
	b.Helper()
	return b.commitTo(b.Store, c)
}

func (b *bed) commitTo(s Store, c agent.Commit) agent.Receipt {
	b.Helper()
	if c.ID == "" {
		c.ID = agent.NewID()
	}
	r, err := s.Commit(b.Context(), c)
	if err != nil {
		b.Fatalf("commit %+v: %v", c, err)
	}
	return r
}

// refused commits and wants the error.
func (b *bed) refused(c agent.Commit, want error) {
	b.Helper()
	if c.ID == "" {
		c.ID = agent.NewID()
	}
	if r, err := b.Store.Commit(b.Context(), c); !errors.Is(err, want) {
		b.Fatalf("commit %+v: got receipt %+v and error %v, want %v", c, r, err, want)
	}
}

// claim takes the one strand of the run that is due, and wants it to be s.
func (b *bed) claim(run agent.RunID, s agent.StrandID) agent.Lease {
	b.Helper()
	got := b.due(run)
	if len(got) != 1 || got[0].Strand != s {
		b.Fatalf("claimed %+v, want just strand %s", got, s)
	}
	return got[0]
}

// due claims all strands of the run that are due now.
func (b *bed) due(run agent.RunID) []agent.Lease {
	b.Helper()
	got, err := b.Store.Claim(b.Context(), 100, 0, run)
	if err != nil {
		b.Fatalf("claim: %v", err)
	}
	return got
}

// idle wants no strand of the run to be due.
func (b *bed) idle(run agent.RunID) {
	b.Helper()
	if got := b.due(run); len(got) != 0 {
		b.Fatalf("claimed %+v, want nothing to be due", got)
	}
}

// soonDue waits for one strand of the run to be due, and claims it.
func (b *bed) soonDue(run agent.RunID, wait time.Duration) agent.Lease {
	b.Helper()
	got, err := b.Store.Claim(b.Context(), 1, wait, run)
	if err != nil || len(got) != 1 {
		b.Fatalf("claim: got %+v, %v; want one lease within %v", got, err, wait)
	}
	return got[0]
}

func (b *bed) read(run agent.RunID, after uint64) []agent.Event {
	b.Helper()
	events, err := b.Store.Read(b.Context(), run, after)
	if err != nil {
		b.Fatalf("read %s after %d: %v", run, after, err)
	}
	return events
}

// texts wants the journal after its first entry (which opened the run) to
// say just this, without a gap.
func (b *bed) texts(run agent.RunID, want ...string) {
	b.Helper()
	var got []string
	for i, e := range b.read(run, 0) {
		if e.Seq != uint64(i+1) || e.Run != run {
			b.Fatalf("entry %d of the journal of %s is %+v", i+1, run, e)
		}
		if i > 0 {
			got = append(got, text(e))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.Fatalf("journal (-want +got):\n%s", diff)
	}
}

func (b *bed) spent(counter string, want int64) {
	b.Helper()
	got, err := b.Store.Spent(b.Context(), counter)
	if err != nil || got != want {
		b.Fatalf("counter %s is %d (%v), want %d", counter, got, err, want)
	}
}

func (b *bed) value(s Store, name, want string) {
	b.Helper()
	got, err := s.Value(b.Context(), name)
	if err != nil || got != want {
		b.Fatalf("name %q has value %q (%v), want %q", name, got, err, want)
	}
}

func (b *bed) values(s Store, prefix string, want map[string]string) {
	b.Helper()
	got, err := s.Values(b.Context(), prefix)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		b.Fatalf("names that begin with %q: %v (-want +got)\n%s", prefix, err, diff)
	}
}

func (b *bed) set(s Store, name, value string) {
	b.Helper()
	if err := s.SetValue(b.Context(), name, value); err != nil {
		b.Fatalf("set name %q to %q: %v", name, value, err)
	}
}

// info is what Runs says of the run.
func (b *bed) info(run agent.RunID) (agent.RunInfo, bool) {
	b.Helper()
	all, err := b.Store.Runs(b.Context(), agent.RunFilter{})
	if err != nil {
		b.Fatalf("runs: %v", err)
	}
	for _, r := range all {
		if r.Run == run {
			return r, true
		}
	}
	return agent.RunInfo{}, false
}

// later lets the clock of a store that keeps milliseconds go on.
func (b *bed) later() {
	b.Helper()
	if _, err := b.Store.Claim(b.Context(), 1, 3*time.Millisecond, "no-such-run"); err != nil {
		b.Fatal(err)
	}
}

// together runs f n times at once and ends the test if one fails.
func (b *bed) together(n int, f func(ctx context.Context, i int) error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	failed := make(chan error)
	for i := range n {
		go func() { failed <- f(ctx, i) }()
	}
	var errs []error
	for range n {
		errs = append(errs, <-failed)
	}
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

// now is the store's clock.
func (b *bed) now(s Store) time.Time {
	b.Helper()
	now, err := s.Now(b.Context())
	if err != nil {
		b.Fatalf("clock: %v", err)
	}
	return now
}
