package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// Live sums up the newest runs that have not ended and that the person may
// look at from the place, at most 20 out of the newest 100 live runs of the store.
func (c *Chat) Live(ctx context.Context, p Person, at Address) ([]Status, error) {
	h := c.asking(p, at)
	runs, err := c.survey(ctx, maxListed, true, h.looks)
	list := make([]Status, len(runs))
	for i, r := range runs {
		list[i] = StatusOf(r)
	}
	return list, err
}

// Schedules are those that the person may see or manage from the place, sorted
// by name. Beside an error there are the ones that could be read.
func (c *Chat) Schedules(ctx context.Context, p Person, at Address) ([]Schedule, error) {
	h := c.asking(p, at)
	all, err := c.cfg.Recurring.List(ctx)
	var list []Schedule
	for _, s := range all {
		if h.sees(s) || h.manages(s) {
			list = append(list, s)
		}
	}
	return list, err
}

// asking is somebody who only looks.
func (c *Chat) asking(p Person, at Address) *hearing {
	return &hearing{Chat: *c, in: Inbound{By: p, Where: at}, now: time.Now()}
}

// TimeWords is a WHEN and a ZONE (which may be empty) that were given as fields
// of their own, as they stand in a command. They hold nothing beside them: a
// colon or an option among them is an error, whose text is for people.
func TimeWords(when, zone string) (string, error) {
	text := strings.TrimRight(strings.Join(strings.Fields(when), " "), " :,")
	now := time.Unix(0, 0)
	w, err := schedule.Parse(text, nil, now)
	if err != nil {
		return "", errors.New(escape(safe(err.Error())))
	}
	zone = strings.Join(strings.Fields(zone), " ")
	if zone == "" {
		return text, nil
	}
	zoned, err := schedule.Parse(text+" "+zone, nil, now)
	if err != nil {
		return "", errors.New(escape(safe(err.Error())))
	}
	if unzoned(zoned) != unzoned(w) || strings.TrimRight(zone, ":,") != zone {
		return "", errors.New(quoted(zone, 60) + " is no time zone: it is written as Europe/Berlin.")
	}
	return text + " " + zone, nil
}

// unzoned is the schedule without its zone.
func unzoned(w schedule.When) string { return strings.TrimSuffix(w.Spec(), w.Zone().String()) }
