package app

import (
	"context"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/bot"
)

// newWatch looks for runs that nothing comes of. The administrators are told.
func (a *App) newWatch() (*watchdog.Watchdog, error) {
	every := a.options.Config.CheckIns
	return watchdog.New(watchdog.Config{
		Store: a.store, Archive: a.store, Log: a.options.Log, After: every.AlertAfter, CheckIns: every.Every,
		Alarm: func(ctx context.Context, alert watchdog.Alert) error {
			if a.health.connecting() {
				return fmt.Errorf("a platform: %w", errConnecting)
			}
			a.meter.alert(alert.Kind, max(alert.More, 1))
			a.talk.chat.Alert(ctx, bot.Alert{ID: alert.ID, Kind: string(alert.Kind), Text: alert.Text})
			return nil
		},
	})
}

// storeAlert is the kind of an alert that a run can neither go on nor be paused,
// because the store takes nothing of it.
const storeAlert watchdog.AlertKind = "store"

// denied tells the administrators of a run that the store takes nothing of.
func (a *App) denied(ctx context.Context, run agent.RunID, text string) {
	a.meter.alert(storeAlert, 1)
	if a.talk != nil {
		a.talk.chat.Alert(ctx, bot.Alert{ID: "store/" + string(run), Kind: string(storeAlert), Text: text})
	}
}

// counted tells the administrators, and counts what they are told: schedules
// that are not served, places that take nothing.
func (a *App) counted(tell func(context.Context, bot.Alert)) func(context.Context, bot.Alert) {
	return func(ctx context.Context, alert bot.Alert) {
		a.meter.alert(watchdog.AlertKind(alert.Kind), 1)
		tell(ctx, alert)
	}
}
