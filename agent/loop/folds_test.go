package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// shelf is a journal that can lose its end, and a snapshot.
type shelf struct {
	agent.Store
	Blobs
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
			f := newFolds(s, s, log)
			s.write("before", 10)
			before, err := f.load(t.Context(), "run")
			if err != nil || before.Seq != 10 {
				t.Fatalf("folded to %d, %v", before.Seq, err)
			}
			if tt.snapshot {
				s.seq = 10
				if s.data, err = json.Marshal(snapshot{Version: foldVersion, Run: before}); err != nil {
					t.Fatal(err)
				}
				f = newFolds(s, s, log)
			}
			s.events = s.events[:tt.left:tt.left]
			s.write("after", tt.more)
			got, err := f.load(t.Context(), "run")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(t, agent.Run{}.Fold(s.events)), text(t, got)); diff != "" {
				t.Errorf("fold (-journal +loaded):\n%s", diff)
			}
		})
	}
}
