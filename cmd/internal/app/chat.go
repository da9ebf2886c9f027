package app

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// talk is the side of a process that people see, whatever the platform: what
// is heard, what is posted, and what recurs.
type talk struct {
	poster     *bot.Voice
	chat       *bot.Chat
	clock      *bot.Clock
	connectors []Connector
}

// newTalk makes the parts that talk with people. Platforms join them later.
func (a *App) newTalk() (*talk, error) {
	o, c := a.options, a.options.Config
	brief := o.Brief
	if brief == nil {
		brief = func(place string) (agent.RunStarted, error) { return briefOf(c, place) }
	}
	recurs, reports := recurring(c, a.store), a.reporter()
	t := &talk{
		poster: bot.NewVoice(bot.VoiceConfig{
			Paces: a.store, Audience: authority(c).Audience, Files: files{a.kit.space},
			CardEvery: c.Voice.CardEvery, Heartbeat: c.Voice.Heartbeat, PostTimeout: c.Voice.PostTimeout, Log: o.Log,
		}),
		chat: bot.NewChat(bot.ChatConfig{
			Desk: a.Client(), Store: a.store, Brief: brief, Recurring: recurs, Reporter: reports,
			Zone: c.Zone, Unpriced: unpriced(c), CatchUp: c.Retention.CatchUp, Log: o.Log,
		}),
	}
	t.clock = bot.NewClock(bot.ClockConfig{Reporter: reports, Recurring: recurs, Brief: brief, Alarm: a.overdue(t.chat.Alert)})
	var err error
	t.connectors, err = a.configured(t.chat)
	t.connectors = append(t.connectors, o.Platforms...)
	return t, err
}
