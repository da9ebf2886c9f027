package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/agent/use"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/lookup"
	"github.com/deckhand-bot/deckhand/bot/posting"
	"github.com/deckhand-bot/deckhand/bot/reach"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/text"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/source"
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

// shelf answers questions about the tools of this process.
func (a *App) shelf() lookup.Shelf {
	return lookup.Shelf{Tools: a.kit.Box,
		Figures: func(ctx context.Context) (map[string]use.Figures, error) { return use.Lately(ctx, a.store) },
		Accept: func(ctx context.Context, name string) ([]string, error) {
			changes, err := a.kit.Box.Accept(ctx, name)
			return differences(changes), err
		}}
}

func differences(changes []source.Change) []string {
	list := make([]string, len(changes))
	for i, c := range changes {
		list[i] = c.String()
	}
	return list
}

// changed asks the administrators about foreign tools that say something else than
// was accepted.
func (a *App) changed(ctx context.Context, name string, changes []source.Change) {
	told := differences(changes)
	a.options.Log.Warn("tools of a source wait for an administrator: they say something else than was accepted", "source", name, "tools", len(told))
	if a.talk == nil {
		return
	}
	sum := sha256.Sum256([]byte(strings.Join(told, "\n")))
	a.counted(a.talk.chat.Alert)(ctx, bot.Alert{ID: "tools/" + name + "/" + hex.EncodeToString(sum[:6]), Kind: "tools",
		Text: fmt.Sprintf("%s of the source %s say something else than was accepted, and no run is offered them until an administrator takes that over: "+
			"`/deckhand tools accept %s` here, or `deckhand tools accept %s`.\n%s", format.Count(len(told), "tool"), text.Escape(name), name, name, lookup.Difference(told))})
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
			Tools: a.shelf(), Zone: c.Zone, Unpriced: unpriced(c), CatchUp: c.Retention.CatchUp, Hear: c.Model.Hear, Log: o.Log, Rules: inForce(a.policy), Fair: fairUse(c), Redact: a.secrets.Text,
			Memory:    a.memory,
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
