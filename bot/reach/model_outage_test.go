package reach

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// The administrators hear of a model once an outage, however many runs and
// processes ask it, and what they read names no host.
func TestAModelIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opened(t)
		process := func() *Models {
			return &Models{Store: h, Log: slog.New(slog.DiscardHandler), Alert: func(_ context.Context, a bot.Alert) { h.alerts = append(h.alerts, a) }}
		}
		one, two := process(), process()
		for range 5 {
			one.Away(t.Context(), "m", "does not take the key (HTTP 401)", true)
			two.Away(t.Context(), "m", "does not take the key (HTTP 401)", true)
			<-time.After(2 * lookAgain)
		}
		if len(h.alerts) != 1 || !strings.Contains(h.alerts[0].Text, "its endpoint does not take the key") || !strings.Contains(h.alerts[0].Text, "deckhand doctor") {
			t.Fatalf("the administrators hear %+v", h.alerts)
		}
		two.Back(t.Context(), "m")
		one.Away(t.Context(), "m", "is overloaded (HTTP 503)", false)
		if len(h.alerts) != 2 || h.alerts[1].ID == h.alerts[0].ID {
			t.Errorf("of the second outage: %+v", h.alerts)
		}
		<-time.After(remind + time.Minute)
		one.Away(t.Context(), "m", "is overloaded (HTTP 503)", false)
		if len(h.alerts) != 3 {
			t.Errorf("of one that lasts: %d alerts", len(h.alerts))
		}
		process().Back(t.Context(), "m") // the first answer of a process
		if h.Names["outage/m"] != "" {
			t.Error("it is still noted")
		}
	})
}

// A store that is away is asked again, and nobody is told twice for that.
func TestAModelIsAwayAndTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opened(t)
		m := &Models{Store: h, Log: slog.New(slog.DiscardHandler), Alert: h.places.Alert}
		h.Down = errors.New("away")
		m.Away(t.Context(), "m", "", false)
		m.Back(t.Context(), "m")
		h.Down = nil
		<-time.After(2 * lookAgain)
		m.Away(t.Context(), "m", "", false)
		if len(h.alerts) != 1 || !strings.Contains(h.alerts[0].Text, "does not answer") {
			t.Errorf("the administrators hear %+v", h.alerts)
		}
	})
}
