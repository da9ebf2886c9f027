package loop

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
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
