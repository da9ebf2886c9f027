package recurring

// This file records that a turn of a schedule is served. The keys and the new
// position go into one commit, so that each turn is served once even when
// several processes look at the same time.

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// tick is one turn of a schedule on its way.
type tick struct {
	*sweep
	s    Schedule
	due  schedule.Turn
	was  time.Time // how far the schedule was served before
	at   Cursor    // as it is once the turn is served
	zone *time.Location
	last bool // it never comes again
}

// errWaits says that a turn is to be served later.
var errWaits = errors.New("the last run has not ended")

// noteMissed notes the turns that were missed, for the next report to say so.
func (t *tick) noteMissed() {
	t.at.Lost += t.due.Count
	t.at.Missed = append(t.at.Missed, t.due.Missed...)
	t.at.Missed = t.at.Missed[max(0, len(t.at.Missed)-maxTold):]
}

// dedupe is what goes into the commit of the turn: its key and those of the
// turns before it that nobody serves any more, and how far it is served now.
func (t *tick) dedupe() runs.Dedupe {
	key := func(at time.Time) string { return "tick/" + t.s.Name + "/" + strconv.FormatInt(at.UnixNano(), 36) }
	once := []string{key(t.due.Until)}
	for _, m := range t.due.Missed {
		if !m.Equal(t.due.Until) {
			once = append(once, key(m))
		}
	}
	set := map[string]string{NameServed + t.s.Name: t.at.Text()}
	if t.last && !t.s.Fixed { // it came its one time: nothing is left to keep
		set = map[string]string{NameSchedule + t.s.Name: "", NameServed + t.s.Name: "", NamePaused + t.s.Name: ""}
	}
	return runs.Dedupe{Once: once, Anchor: t.s.anchor(), Set: set}
}

// done writes down that nothing more is to be done for the turn.
func (t *tick) done(ctx context.Context) error { return t.cfg.Reporter.Runs.Note(ctx, t.dedupe()) }

// behind is what follows where a key of the turn was used before. Where the
// schedule was served further meanwhile, it was another clock, perhaps with an
// older turn: the next look sees what is left. Where it was not, the key was
// used under a state that got lost: it must not be tried for ever. The turns
// before this one are gone past first, for this one may not have been served.
func (t *tick) behind(ctx context.Context) error {
	at, known, err := t.cfg.Recurring.Served(ctx, t.s)
	if err != nil || !known || !at.At.Equal(t.was) {
		return err
	}
	at.At = t.due.Until
	for _, m := range t.due.Missed {
		if m.Before(t.due.Until) {
			at.At = m
		}
	}
	return t.keep(ctx, t.s, at)
}
