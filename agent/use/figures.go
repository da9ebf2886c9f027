package use

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Figures are what the calls of one tool came to.
type Figures struct {
	Calls    int           `json:"calls"`
	Failures int           `json:"failures"`
	Useless  int           `json:"useless"` // of those whose worth is known
	Judged   int           `json:"judged"`  // calls whose worth is known and that did not fail
	Cost     agent.Nano    `json:"cost_usd"`
	Took     time.Duration `json:"took"` // of all together, nanoseconds
}

// UselessShare is the share of the results that nothing made use of, from 0 to 1;
// known is false where there is none to judge by.
func (f Figures) UselessShare() (share float64, known bool) {
	if f.Judged == 0 {
		return 0, false
	}
	return float64(f.Useless) / float64(f.Judged), true
}

// Add adds the calls of a run to the figures of their tools.
func Add(figures map[string]Figures, calls []Use) {
	for _, u := range calls {
		f := figures[u.Tool]
		f.Calls++
		f.Cost += u.Cost
		f.Took += u.Took
		switch u.Worth {
		case Failed:
			f.Failures++
		case Useless:
			f.Useless++
			f.Judged++
		case Used:
			f.Judged++
		case Open:
		}
		figures[u.Tool] = f
	}
}

// Journals are those of a store.
type Journals interface {
	Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error)
	Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
}

// lately is how many of the newest runs figures are of.
const lately = 100

// Lately are the figures of each tool over the newest runs. A journal that cannot
// be read to its end counts as far as it can.
func Lately(ctx context.Context, s Journals) (map[string]Figures, error) {
	infos, err := s.Runs(ctx, agent.RunFilter{Most: lately})
	if err != nil {
		return nil, fmt.Errorf("list the newest runs for the figures of the tools: %w", err)
	}
	figures := map[string]Figures{}
	for _, info := range infos {
		events, err := s.Read(ctx, info.Run, 0)
		var entry *agent.EntryError
		if err != nil && !errors.As(err, &entry) && !errors.Is(err, agent.ErrNoRun) && !errors.Is(err, agent.ErrNewer) {
			return nil, fmt.Errorf("read run %s for the figures of the tools: %w", info.Run, err)
		}
		Add(figures, Of(events))
	}
	return figures, nil
}
