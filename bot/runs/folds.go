package runs

import (
	"context"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/fold"
)

// The folds that a Client remembers, so that looking again at a run reads only
// what is new.

// Remembered is how many runs a Client remembers: those that were used last.
const Remembered = 256

// rememberedBytes bounds what they take.
const rememberedBytes = 64 << 20

// known is the cache of folds, made when it is used first.
func (d *Client) known() *fold.Cache[fold.None] {
	d.once.Do(func() {
		d.folds = fold.New(fold.Config{Journals: d.Journals, Most: Remembered, Bytes: rememberedBytes}, func() fold.None { return fold.None{} })
	})
	return d.folds
}

// Load is the run's newest fold. It reads what is newer than the fold that the
// Client remembers.
func (d *Client) Load(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r, err := d.known().Load(ctx, run)
	return found(run, r, err)
}

// LoadListed is the fold of a run as it was just listed: nothing is read where
// the Client remembers exactly that one.
func (d *Client) LoadListed(ctx context.Context, info agent.RunInfo) (agent.Run, error) {
	r, err := d.known().LoadAt(ctx, info.Run, agent.Receipt{Seq: info.Length, At: info.Last})
	return found(info.Run, r, err)
}

// Peek is the run's newest fold, which is not remembered where it was not before: for those who look at more runs than a Client remembers.
func (d *Client) Peek(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r, err := d.known().Peek(ctx, run)
	return found(run, r, err)
}

func found(run agent.RunID, r agent.Run, err error) (agent.Run, error) {
	if err != nil {
		return agent.Run{}, fmt.Errorf("run %s: %w", run, err)
	}
	return r, nil
}
