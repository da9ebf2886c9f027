package app

import (
	"context"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/posting"
	"github.com/deckhand-bot/deckhand/bot/reach"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

// talk is the side of a process that people see, whatever the platform: what
// is heard, what is posted, and what recurs.
type talk struct {
	poster     *posting.Poster
	chat       *intake.Chat
	clock      *recurring.Clock
	models     *reach.Models
	connectors []Connector
}

// newTalk makes the parts that talk with people. Platforms join them later.
func (a *App) newTalk() (*talk, error) {
	o, c := a.options, a.options.Config
	brief := o.Brief
	if brief == nil {
		brief = func(place string) (agent.RunStarted, error) { return briefOf(c, place) }
	}
	recurs, reports := recurringOf(c, a.store), a.reporter()
	client := NewClient(c, a.store)
	places := &reach.Places{Runs: client, Store: a.store, Log: o.Log}
	t := &talk{
		poster: posting.New(posting.Config{
			Places: places,
			Paces:  a.store, Residents: a.store, Audience: authorityOf(c).Audience, Files: kit.Posted{Files: kit.Files{Space: a.kit.Space}, Secrets: a.secrets},
			CardEvery: c.Voice.CardEvery, Heartbeat: c.Voice.Heartbeat, PostTimeout: c.Voice.PostTimeout, Log: o.Log, Redact: a.secrets.Text,
		}),
		chat: intake.New(intake.Config{
			Runs: client, Places: places, Store: a.store, Brief: brief, Recurring: recurs, Reporter: reports,
			Zone: c.Zone, Unpriced: unpriced(c), CatchUp: c.Retention.CatchUp, Hear: c.Model.Hear, Log: o.Log, Rules: inForce(a.policy), Fair: fairUse(c), Redact: a.secrets.Text,
			Decisions: func(ctx context.Context, by string) ([]string, error) { return audit.Decisions(ctx, a.store, by, 10) },
			Alarmed:   func(kind string) { a.meter.alert(watchdog.AlertKind(kind), 1) },
		}),
	}
	places.Alert = a.counted(t.chat.Alert)
	t.models = &reach.Models{Store: a.store, Alert: places.Alert, Log: o.Log}
	t.clock = recurring.NewClock(recurring.ClockConfig{Time: a.store, Reporter: reports, Recurring: recurs, Brief: brief, Alarm: a.counted(t.chat.Alert)})
	var err error
	t.connectors, err = a.configured(t.chat)
	t.connectors = append(t.connectors, o.Platforms...)
	return t, err
}
