package loop

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/fold"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// away is a store that does not answer.
type away struct{ agent.Store }

func (away) Commit(ctx context.Context, _ agent.Commit) (agent.Receipt, error) {
	return agent.Receipt{}, errors.Join(errors.New("nobody answers"), ctx.Err())
}

func TestTheEndOfTheProcessWaitsASecondForAStoreThatIsAway(t *testing.T) {
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	synctest.Test(t, func(t *testing.T) {
		l := &engine{Config: Config{Store: away{}, Log: log, Grace: 6 * time.Second}}
		w := &turn{engine: l, batch: []agent.Event{{Body: agent.ToolOutcome{State: agent.OutcomeOK}}}}
		began := time.Now()
		w.cutOff(t.Context())
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("handing back took %s", took)
		}
	})
}

// oneRun is a store with one journal.
type oneRun struct{ events []agent.Event }

func (s oneRun) Read(_ context.Context, _ agent.RunID, after uint64) ([]agent.Event, error) {
	return s.events[min(int(after), len(s.events)):], nil
}

// A run that has ended leaves the cache with the last strand that rests: the
// voice, where somebody is spoken to.
func TestAnEndedRunLeavesTheCache(t *testing.T) {
	for _, tt := range []struct {
		name, replyTo string
		ended         bool
		strand        agent.StrandID
		kept          bool
	}{
		{"main of a living run", "", false, agent.Main, true},
		{"voice of a living run", "slack:T:C:1", false, agent.Voice, true},
		{"main before the voice", "slack:T:C:1", true, agent.Main, true},
		{"voice", "slack:T:C:1", true, agent.Voice, false},
		{"main without a voice", "", true, agent.Main, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := oneRun{[]agent.Event{{Run: "r", Seq: 1, Strand: agent.Main, Body: agent.RunStarted{Goal: "g", ReplyTo: tt.replyTo}}}}
			if tt.ended {
				s.events = append(s.events, agent.Event{Run: "r", Seq: 2, Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}})
			}
			folds := fold.New(fold.Config{Journals: s, Most: 8}, func() *memory { return &memory{} })
			run, err := folds.Load(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			en := &engine{folds: folds}
			w := &turn{engine: en, lease: agent.Lease{Run: "r", Strand: tt.strand}, run: &run}
			w.leave()
			en.putTalk("r", tt.strand, prompt.Rendering{})
			folds.Use("r", func(r agent.Run, _ *memory) {
				if kept := r.Seq > 0; kept != tt.kept {
					t.Errorf("kept: %v", kept)
				}
			})
		})
	}
}
