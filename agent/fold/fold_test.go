package fold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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
