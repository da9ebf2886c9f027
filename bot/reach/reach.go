package reach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// AlertPlace is the kind of alert about a place that takes nothing.
const AlertPlace = "place"

// marker begins the names of places that take nothing, with the time since when.
const marker = "away/"

// before is how long before a place was found to take nothing a run may have
// ended that was kept from saying so.
const before = 10 * time.Minute

// Places are the places of all processes of a store.
type Places struct {
	Runs  *runs.Client
	Store bot.Records
	// Alert tells the administrators; nil: nobody is told.
	Alert func(ctx context.Context, a bot.Alert)
	Log   *slog.Logger
}

// Away notes that a place takes nothing now. The administrators hear it, once
// until it does again.
func (p *Places) Away(ctx context.Context, at bot.Address, why error) {
	name := marker + at.Place()
	since, err := p.Store.Value(ctx, name)
	if err == nil && since != "" {
		return
	}
	now, timeErr := p.Store.Now(ctx)
	if err = errors.Join(err, timeErr); err != nil {
		p.Log.Warn("it is not known whether somebody was told of a place that takes nothing", "place", at.Place(), "err", err)
		return
	}
	if p.Alert != nil {
		minute := now.UTC().Format("2006-01-02T15:04") // two processes may find it out at once
		place := bot.Ref{Place: at.At("")}.Mark()
		p.Alert(ctx, bot.Alert{ID: AlertPlace + "/" + at.Place() + "/" + minute, Kind: AlertPlace,
			Text: "I may not write in " + place + " any more. Invite me there again, or give me back the right to write; if it was archived or locked, open it again. " +
				"Until then those who asked for work there are told directly, and as soon as I may write there I go on there.\n\n" +
				"What the platform said: " + format.Cut(why.Error(), 300)})
	}
	if err := p.Store.SetValue(ctx, name, now.UTC().Format(time.RFC3339)); err != nil {
		p.Log.Warn("that a place takes nothing cannot be noted", "place", at.Place(), "err", err)
	}
}

// Back takes in that the bot may post again in a channel, or anywhere in a
// workspace where the address names no channel: runs that wait for it go on.
func (p *Places) Back(ctx context.Context, at bot.Address) error {
	prefix := at.Platform + ":" + at.Workspace + ":"
	if at.Channel != "" {
		prefix = at.Place()
	}
	away, err := p.Store.Values(ctx, marker+prefix)
	if err != nil || len(away) == 0 {
		return err
	}
	for name, since := range away {
		place := strings.TrimPrefix(name, marker)
		if since == "" || at.Channel != "" && place != at.Place() && agent.Outer(place) != at.Place() {
			continue
		}
		if err := p.wake(ctx, place+":", since); err != nil {
			return fmt.Errorf("go on in %s: %w", place, err)
		}
		if err := p.Store.SetValue(ctx, name, ""); err != nil {
			return fmt.Errorf("note that %s takes posts again: %w", place, err)
		}
		p.Log.Info("a place takes posts again", "place", place, "since", since)
	}
	return nil
}

// wake lets the runs of a channel post at once what they could not.
func (p *Places) wake(ctx context.Context, channel, since string) error {
	threads, err := p.Store.Values(ctx, agent.ThreadName(channel))
	if err != nil {
		return err
	}
	away, err := time.Parse(time.RFC3339, since)
	if err != nil {
		p.Log.Warn("it is not known since when a place took nothing", "channel", channel, "err", err)
	}
	here := agent.RunFilter{EndedAfter: away.Add(-before), Only: []agent.RunID{}}
	for _, run := range threads {
		here.Only = append(here.Only, agent.RunID(run))
	}
	infos, err := p.Runs.Journals.Runs(ctx, here)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if err := p.tell(ctx, info.Run, agent.RunControlled{Place: channel, Reason: "I may post there again"}, runs.Dedupe{}); err != nil {
			return err
		}
	}
	return nil
}

// Gone takes in that a thread, a message or, where the address has no id, a
// channel was deleted: open questions that stood there are asked again.
func (p *Places) Gone(ctx context.Context, at, message bot.Address) error {
	place := at.String()
	threads, err := p.Store.Values(ctx, agent.ThreadName(place)) // of a thread: its own name
	if err == nil && at.ID == "" {
		err = p.within(ctx, at, threads)
	}
	if err != nil {
		return err
	}
	what := place
	if message.ID != "" {
		what = message.String()
	}
	for thread, run := range threads {
		if run == "" || at.ID != "" && thread != agent.ThreadName(place) {
			continue
		}
		r, err := p.Runs.Load(ctx, agent.RunID(run))
		if errors.Is(err, agent.ErrNoRun) || err == nil && !agent.AsksAt(r, what) {
			continue
		}
		if err == nil {
			err = p.tell(ctx, r.ID, agent.RunControlled{Place: what, Gone: true, Reason: "it was deleted"},
				runs.Dedupe{Once: []string{"gone/" + what + "/" + run}, Anchor: agent.AnchorOf(thread)})
		}
		if err != nil {
			return fmt.Errorf("ask again what stood at %s: %w", what, err)
		}
	}
	return nil
}

// within adds the threads of the private places that lay in a channel.
func (p *Places) within(ctx context.Context, channel bot.Address, threads map[string]string) error {
	inner, err := p.Store.Values(ctx, agent.ThreadName(channel.Place()+agent.Inner))
	maps.Copy(threads, inner)
	return err
}

// tell journals what became of a place, and lets the run's voice look again.
func (p *Places) tell(ctx context.Context, run agent.RunID, c agent.RunControlled, dedupe runs.Dedupe) error {
	c.Word, c.By = agent.WordWake, agent.Deckhand
	_, err := p.Runs.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Seen: agent.SeenAll, Once: dedupe.Once, Anchor: dedupe.Anchor,
		Events: []agent.Event{{Strand: agent.Main, Body: c}}, Wake: map[agent.StrandID]time.Time{agent.Voice: agent.AtOnce}})
	if errors.Is(err, agent.ErrSeen) || errors.Is(err, agent.ErrNoRun) {
		return nil
	}
	return err
}
