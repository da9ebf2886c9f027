package ingest

import (
	"context"
	"sync"

	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Token is whether a platform accepts the bot's token. A token that was refused
// may be good again later: people install an app anew.
type Token struct {
	mu      sync.Mutex
	refused error
	revoked chan struct{} // nil until Init
}

// Refused says why the token is good for nothing, nil while it works.
func (t *Token) Refused() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

// Note notes that the token was refused, or with nil that it works. It reports
// whether that is news worth an alarm: it worked before, and the platform is
// past its start, where a refusal is said otherwise.
func (t *Token) Note(refused error) (alarm bool) {
	t.mu.Lock()
	alarm = refused != nil && t.refused == nil && t.revoked != nil
	t.refused = refused
	t.mu.Unlock()
	if alarm {
		Signal(t.revoked)
	}
	return alarm
}

// Recheck tries a token that was refused again and again, until it is accepted,
// each time that this happens, until ctx ends.
func (t *Token) Recheck(ctx context.Context, pauses Backoff, try func(context.Context) error, accepted func()) {
	for {
		select {
		case <-t.revoked:
		case <-ctx.Done():
			return
		}
		pauses.Reset()
		for {
			err := try(ctx)
			if err == nil {
				accepted()
				break
			}
			if !wait.Sleep(ctx, pauses.After(err)) {
				return
			}
		}
	}
}
