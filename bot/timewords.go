package bot

import (
	"errors"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// TimeWords is a WHEN and a ZONE (which may be empty) that were given as fields
// of their own, as they stand in a command. They hold nothing beside them: a
// colon or an option among them is an error, whose text is for people.
func TimeWords(when, zone string) (string, error) {
	line := strings.TrimRight(strings.Join(strings.Fields(when), " "), " :,")
	now := time.Unix(0, 0)
	w, err := schedule.Parse(line, nil, now)
	if err != nil {
		return "", errors.New(text.Escape(text.Safe(err.Error())))
	}
	zone = strings.Join(strings.Fields(zone), " ")
	if zone == "" {
		return line, nil
	}
	zoned, err := schedule.Parse(line+" "+zone, nil, now)
	if err != nil {
		return "", errors.New(text.Escape(text.Safe(err.Error())))
	}
	if (!w.Once() && unzoned(zoned) != unzoned(w)) || strings.TrimRight(zone, ":,") != zone {
		return "", errors.New(text.Quoted(zone, 60) + " is no time zone: it is written as Europe/Berlin.")
	}
	return line + " " + zone, nil
}

// unzoned is the schedule without its zone.
func unzoned(w schedule.When) string { return strings.TrimSuffix(w.Spec(), w.Zone().String()) }
