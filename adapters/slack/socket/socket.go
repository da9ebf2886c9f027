package socket

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

// Config is how connections are opened, and where what they bring goes.
type Config struct {
	// Open asks Slack for the address of a connection.
	Open func(ctx context.Context) (url string, err error)
	// Take takes the payload of an envelope; done is called once, and without an
	// error the envelope is acknowledged, with what Slack is to do at once.
	Take    func(kind string, payload []byte, again bool, done func(now json.RawMessage, err error))
	Links   Links
	Times   Times
	Backoff ingest.Backoff
	Log     *slog.Logger
	Limited *ingest.LogLimiter // for what anybody can provoke
}

// Links is told of connections as they come and go.
type Links interface {
	Linked()            // one more was greeted
	Unlinked(err error) // such a one ended
	Troubled(err error) // none came about
}

// Times are how long connections are waited for.
type Times struct {
	Hello   time.Duration // for a connection to be greeted
	Silence time.Duration // without a ping a connection is dead
	Drain   time.Duration // an old connection stays open beside the new one
}

// Run keeps a connection until ctx ends: one, and two while the first is
// told to go, since an event of a thread may come through any of them and their
// order would be lost. An error says that the app token is refused at the start.
func Run(ctx context.Context, c Config) error {
	var live sync.WaitGroup
	defer live.Wait()
	pauses := c.Backoff
	var old *connection
	for first := true; ; {
		l, err := c.connect(ctx, &live)
		switch {
		case ctx.Err() != nil:
			return nil
		case first && errors.Is(err, bot.ErrRefused):
			return err
		case err != nil:
			c.Links.Troubled(err)
			c.Log.Warn("no connection to Slack; trying again", "error", err)
			if !wait.Sleep(ctx, pauses.After(err)) {
				return nil
			}
			continue
		}
		first = false
		born := time.Now()
		if old != nil {
			old.retire(c.Times.Drain)
		}
		old = l
		select {
		case <-l.leaving:
		case <-l.ended:
			c.Log.Info("the connection to Slack broke off; connecting again", "error", l.err)
		case <-ctx.Done():
			return nil
		}
		if time.Since(born) >= settled {
			pauses.Reset()
		} else if !wait.Sleep(ctx, pauses.After(nil)) {
			return nil
		}
	}
}
