package main

import (
	"context"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/bot"
)

// watch looks for runs that nothing comes of. The administrators are told.
func (s *server) watch(tell func(context.Context, bot.Alert)) (*watchdog.Watchdog, error) {
	return watchdog.New(watchdog.Config{
		Store: s.store, Archive: s.store, Log: s.log, After: s.config.CheckIns.AlertAfter, CheckIns: s.config.CheckIns.Every,
		Alarm: func(ctx context.Context, a watchdog.Alert) error {
			if s.front.connecting() {
				return fmt.Errorf("a platform: %w", errConnecting)
			}
			s.meter.alert(a.Kind, max(a.More, 1))
			tell(ctx, bot.Alert{ID: a.ID, Kind: string(a.Kind), Text: a.Text})
			return nil
		},
	})
}

// overdue tells the administrators of schedules that are not served.
func (s *server) overdue(tell func(context.Context, bot.Alert)) func(context.Context, bot.Alert) {
	return func(ctx context.Context, a bot.Alert) {
		s.meter.alert(watchdog.AlertKind(a.Kind), 1)
		tell(ctx, a)
	}
}
