package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUnknown says that a text does not begin with a schedule at all; a text
// that begins with one and goes wrong has another error.
var ErrUnknown = errors.New("no schedule was found")

const examples = `write for example "every weekday at 9:00", "every monday and thursday at 17:30", "every 2 hours", "@every 90m", "tomorrow at 9:00", or a cron line such as "0 9 * * 1-5"`

// Parse reads a text that is WHEN [ZONE] and nothing else. Without a ZONE the
// schedule goes by the given zone (nil: UTC), which needs an IANA name. What
// counts from its creation (@every) counts from the anchor, in whole seconds;
// the zero anchor is a date like any other.
func Parse(text string, zone *time.Location, anchor time.Time) (When, error) {
	w, rest, err := ParsePrefix(text, zone, anchor)
	switch {
	case err != nil:
		return When{}, err
	case rest == "":
		return w, nil
	}
	if name := ZoneOfCity(rest); name != "" {
		return When{}, fmt.Errorf("%q was understood, but not %q: a time zone is written as %s", w.Spec(), short(rest), name)
	}
	return When{}, fmt.Errorf("%q was understood, but not %q behind it: leave it out, or %s", w.Spec(), short(rest), examples)
}

// ParsePrefix reads WHEN [ZONE] from the beginning of a text, as much of it as
// it can be, and returns what follows without the colon or comma and the space
// around it: of "every monday 8:00: water the plants" that is "water the
// plants", of "daily 9:00 here always" it is "here always". A colon that is not
// within a time of day always ends WHEN.
func ParsePrefix(text string, zone *time.Location, anchor time.Time) (w When, rest string, err error) {
	home, err := namedZone(zone)
	if err != nil {
		return When{}, "", err
	}
	r := &reader{text: text, toks: lex(text, false)}
	var single *once
	if w, err = r.cron(); err == nil && w.text == "" {
		r.toks = lex(text, true)
		if single, err = r.once(); err == nil && single == nil {
			w, err = r.words()
		}
	}
	if err != nil {
		return When{}, "", err
	}
	w.zone = home
	named, err := r.zone()
	if err != nil {
		return When{}, "", fmt.Errorf("%q was understood, but %w", w.text, err)
	}
	if named != nil {
		w.zone = named
	}
	if single != nil {
		if w, err = single.on(w.zone, anchor); err != nil {
			return When{}, "", err
		}
	}
	if w.every > 0 {
		w.anchor = anchor.Unix()
	}
	rest = strings.TrimSpace(r.after())
	if rest != "" && strings.IndexByte(":,", rest[0]) >= 0 {
		rest = strings.TrimSpace(rest[1:])
	}
	return w, rest, nil
}

// zone steps over a zone, with "in" before it or without.
func (r *reader) zone() (*time.Location, error) {
	mark := r.i
	r.accept("in")
	if r.i < len(r.toks) {
		t := r.toks[r.i]
		zone, err := zoneOf(r.text[t.start:t.end])
		if zone != nil || err != nil {
			r.i++
			return zone, err
		}
	}
	r.i = mark
	return nil, nil //nolint:nilnil // no zone was named
}
