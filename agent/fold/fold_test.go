package fold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// shelf is a journal that can lose its end, and a snapshot.
type shelf struct {
	events []agent.Event
	seq    uint64
	data   []byte
}

func (s *shelf) Read(_ context.Context, _ agent.RunID, after uint64) ([]agent.Event, error) {
	return s.events[min(after, uint64(len(s.events))):], nil
}

func (s *shelf) Snapshot(context.Context, agent.RunID) (uint64, []byte, error) {
	return s.seq, s.data, nil
}

func (s *shelf) KeepSnapshot(_ context.Context, _ agent.RunID, seq uint64, data []byte) error {
	s.seq, s.data = seq, data
	return nil
}

func none() None { return None{} }

// write appends events whose words and times nobody else writes.
func (s *shelf) write(who string, n int) {
	for range n {
		seq := uint64(len(s.events) + 1)
		e := agent.Event{Run: "run", Strand: agent.Main, Seq: seq, At: time.Unix(int64(seq), int64(len(who))).UTC(),
			Body: agent.PersonSaid{By: who, Text: fmt.Sprint(who, " ", seq), Trusted: true}}
		if seq == 1 {
			e.Body = agent.RunStarted{Goal: "test", Requester: who}
		}
		s.events = append(s.events, e)
	}
}

func text(t *testing.T, r agent.Run) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFoldsFollowAStoreThatLostItsEnd(t *testing.T) {
	for _, tt := range []struct {
		name     string
		left     int // of ten events
		more     int // written afterwards
		snapshot bool
	}{
		{"nothing lost", 10, 0, false},
		{"nothing lost, more written", 10, 3, false},
		{"end lost", 7, 0, false},
		{"end lost, less written", 7, 2, false},
		{"end lost, as much written", 7, 3, false},
		{"end lost, more written", 7, 5, false},
		{"end lost behind a snapshot", 7, 1, true},
		{"end lost behind a snapshot, more written", 7, 9, true},
		{"nothing lost behind a snapshot", 10, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{}
			log := slog.New(slog.NewTextHandler(t.Output(), nil))
			f := New(Config{Journals: s, Snapshots: s, Log: log, Most: 1}, none)
			s.write("before", 10)
			before, err := f.Load(t.Context(), "run")
			if err != nil || before.Seq != 10 {
				t.Fatalf("folded to %d, %v", before.Seq, err)
			}
			if tt.snapshot {
				s.seq = 10
				if s.data, err = json.Marshal(snapshot{Version: version, Run: before}); err != nil {
					t.Fatal(err)
				}
				f = New(Config{Journals: s, Snapshots: s, Log: log, Most: 1}, none)
			}
			s.events = s.events[:tt.left:tt.left]
			s.write("after", tt.more)
			got, err := f.Load(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(t, agent.Run{}.Fold(s.events)), text(t, got)); diff != "" {
				t.Errorf("fold (-journal +loaded):\n%s", diff)
			}
		})
	}
}

// gone is the id of a run that no store has.
const gone agent.RunID = "gone"

// archive has a journal of one event for every run.
type archive struct{}

func (archive) Read(_ context.Context, run agent.RunID, _ uint64) ([]agent.Event, error) {
	if run == gone {
		return nil, agent.ErrNoRun
	}
	return []agent.Event{{Run: run, Strand: agent.Main, Seq: 1, At: time.Unix(1, 0).UTC(), Body: agent.RunStarted{Goal: string(run)}}}, nil
}

// Whoever knows that nothing was written since reads nothing.
func TestLoadAtReadsOnlyWhatIsNew(t *testing.T) {
	s := &shelf{}
	s.write("somebody", 3)
	reads := &reader{Journals: s}
	c := New(Config{Journals: reads, Most: 8}, none)
	head := func() agent.Receipt {
		newest := s.events[len(s.events)-1]
		return agent.Receipt{Seq: newest.Seq, At: newest.At}
	}
	for i, step := range []struct {
		more  int
		head  bool // is known
		reads int
	}{{0, true, 1}, {0, true, 1}, {0, false, 2}, {2, true, 3}, {0, true, 3}} {
		s.write("somebody", step.more)
		at := agent.Receipt{}
		if step.head {
			at = head()
		}
		r, err := c.LoadAt(t.Context(), "run", at)
		if err != nil || r.Seq != uint64(len(s.events)) || reads.n != step.reads {
			t.Fatalf("step %d: folded to %d of %d with %d reads, %v; want %d", i, r.Seq, len(s.events), reads.n, err, step.reads)
		}
	}
	s.events = s.events[:4] // the server lost its end, and others wrote as much
	s.write("others", 1)
	if r, err := c.LoadAt(t.Context(), "run", head()); err != nil || !r.Last.Equal(head().At) {
		t.Errorf("folded to %d at %s, %v", r.Seq, r.Last, err)
	}
}

// reader counts reads.
type reader struct {
	Journals
	n int
}

func (r *reader) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	r.n++
	return r.Journals.Read(ctx, run, after)
}

// counter is an Observer that counts what it saw.
type counter struct{ events int }

func (c *counter) Apply(agent.Event) { c.events++ }

// A cache keeps a bounded number of runs, those that were used last, whoever
// uses them at once.
func TestCacheIsBounded(t *testing.T) {
	const most = 8
	c := New(Config{Journals: archive{}, Most: most}, func() *counter { return &counter{} })
	load := func(id agent.RunID) {
		if r, err := c.Load(t.Context(), id); err != nil || r.Brief.Goal != string(id) {
			t.Errorf("run %s: %+v, %v", id, r.Brief, err)
		}
	}
	load("first")
	var all sync.WaitGroup
	for i := range 5 * most {
		for range 2 {
			all.Go(func() { load(agent.RunID(strconv.Itoa(i))) })
		}
		all.Wait()
		load("first")
	}
	if len(c.runs) != most || c.used.Len() != most {
		t.Errorf("%d runs are kept, %d in the order of their use", len(c.runs), c.used.Len())
	}
	c.Use("first", func(r agent.Run, seen *counter) {
		if r.Seq != 1 || seen.events != 1 {
			t.Errorf("the run that was used most stands at %d, its observer at %d", r.Seq, seen.events)
		}
	})
}

// A run that is gone is an error, and nothing is kept of it.
func TestNothingIsKeptOfARunThatIsGone(t *testing.T) {
	c := New(Config{Journals: archive{}, Most: 8}, none)
	if _, err := c.Load(t.Context(), gone); !errors.Is(err, agent.ErrNoRun) {
		t.Errorf("error %v", err)
	}
	if len(c.runs) != 0 {
		t.Error("it is kept")
	}
}

// Peek leaves no trace in the cache.
func TestPeekKeepsNothing(t *testing.T) {
	c := New(Config{Journals: archive{}, Most: 8}, none)
	if r, err := c.Peek(t.Context(), "a"); err != nil || r.Seq != 1 {
		t.Errorf("folded to %d, %v", r.Seq, err)
	}
	if len(c.runs) != 0 {
		t.Error("it is kept")
	}
}

// talks is a store of runs whose goals are long.
type talks struct{ bytes int }

func (s talks) Read(_ context.Context, run agent.RunID, _ uint64) ([]agent.Event, error) {
	events := []agent.Event{{Run: run, Strand: agent.Main, Seq: 1, At: time.Unix(1, 0).UTC(), Body: agent.RunStarted{Goal: string(run)}}}
	for len(events)*1000 < s.bytes {
		events = append(events, agent.Event{Run: run, Strand: agent.Main, Seq: uint64(len(events) + 1), At: time.Unix(int64(len(events)+1), 0).UTC(),
			Body: agent.PersonSaid{By: "ann", Text: strings.Repeat("x", 1000), Trusted: true}})
	}
	return events, nil
}

// A cache keeps a bounded amount of text, of those runs that were used last.
func TestCacheIsBoundedByBytes(t *testing.T) {
	const each, most = 100_000, 2_000_000
	c := New(Config{Journals: talks{each}, Most: 1000, Bytes: most, Copies: 1}, none)
	for i := range 50 {
		for _, id := range []agent.RunID{"first", agent.RunID(strconv.Itoa(i))} {
			if _, err := c.Load(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if c.size > most {
			t.Fatalf("%d bytes are kept, at most %d may be", c.size, most)
		}
	}
	sum := 0
	for at := c.used.Front(); at != nil; at = at.Next() {
		e, is := at.Value.(*entry[None])
		if !is {
			t.Fatalf("the list holds a %T", at.Value)
		}
		sum += e.size
	}
	if n := len(c.runs); n < 3 || n > most/each/2 || sum != c.size {
		t.Errorf("%d runs of %d bytes each are kept, %d bytes in all, said to be %d", n, each, sum, c.size)
	}
	if c.known("first") == nil || c.known("49") == nil || c.known("0") != nil {
		t.Error("it is not those that were used last")
	}
	c.Forget("first")
	c.Use("first", func(r agent.Run, _ None) {
		if r.Seq != 0 {
			t.Errorf("a run that was forgotten stands at %d", r.Seq)
		}
	})
	if c.known("first") != nil {
		t.Error("it is kept again")
	}
}

// Peek begins with what the cache has, and moves nothing in it.
func TestPeekUsesWhatIsKept(t *testing.T) {
	s := &shelf{}
	s.write("ann", 3)
	c := New(Config{Journals: s, Most: 8}, func() *counter { return &counter{} })
	if _, err := c.Load(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	s.write("ann", 2)
	if r, err := c.Peek(t.Context(), "run"); err != nil || r.Seq != 5 {
		t.Errorf("folded to %d, %v", r.Seq, err)
	}
	c.Use("run", func(r agent.Run, seen *counter) {
		if r.Seq != 5 || seen.events != 5 {
			t.Errorf("kept at %d, its observer at %d", r.Seq, seen.events)
		}
	})
}

// A writer's trial is taken where its events came next, with their stamp.
func TestTrialIsTaken(t *testing.T) {
	s := &shelf{}
	s.write("ann", 3)
	c := New(Config{Journals: s, Most: 8}, func() *counter { return &counter{} })
	base, err := c.Load(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	body := agent.ModelAsked{Call: "main.1"}
	at := base.Last.Add(time.Minute)
	trial := base.Apply(agent.Event{Run: "run", Strand: agent.Main, Seq: 4, At: at.Add(-time.Second), Body: body})
	s.events = append(s.events, agent.Event{Run: "run", Strand: agent.Main, Seq: 4, At: at, Body: body})
	got, err := c.Advance(t.Context(), "run", agent.Receipt{Seq: 4, At: at, Before: base.Last}, s.events[3:], &trial)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, agent.Run{}.Fold(s.events)), text(t, got)); diff != "" {
		t.Errorf("fold (-journal +advanced):\n%s", diff)
	}
	c.Use("run", func(_ agent.Run, seen *counter) {
		if seen.events != 4 {
			t.Errorf("the observer saw %d events", seen.events)
		}
	})
}
