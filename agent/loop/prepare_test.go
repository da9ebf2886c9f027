package loop

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deckhand-bot/deckhand/agent"
)

// slow looks at its target for as long as it may.
type slow struct{}

func (slow) Prepare(ctx context.Context, _ agent.Call) (agent.Prepared, error) {
	<-ctx.Done()
	return agent.Prepared{}, ctx.Err()
}

func TestPrepareEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := prepare(t.Context(), slow{}, agent.Call{Tool: "write_to_file"})
		if err == nil || !strings.Contains(err.Error(), "what write_to_file would change took longer than 30s") {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := prepare(ctx, slow{}, agent.Call{}); err != context.Canceled { //nolint:errorlint // it is passed on as it is
			t.Errorf("at the end of the process: %v", err)
		}
	})
}
