package digest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Scope says whose runs a report is about: those that are shown at a place
// (Platform, Workspace, Channel) and were asked for by a Person (a principal,
// or a bare id of the platform). What is empty bounds nothing; the empty Scope
// covers every run, also those of the terminal.
type Scope struct{ Platform, Workspace, Channel, Person string }

// Covers reports whether a report of the scope is about the run. A run counts
// where it answers and at every further place that shows it; runs of the
// terminal have no place. Of scheduled reports it covers those that could not
// be posted.
func (s Scope) Covers(r agent.Run) bool {
	if (r.Scheduled() && agent.Undelivered(r) == "") || !s.asked(r.Brief.Requester) {
		return false
	}
	if s.Platform == "" && s.Workspace == "" && s.Channel == "" {
		return true
	}
	return slices.ContainsFunc(append([]string{r.Brief.ReplyTo}, r.Watched...), s.holds)
}

func (s Scope) asked(requester string) bool {
	if s.Person == "" || s.Person == requester {
		return true
	}
	platform, bare, _ := strings.Cut(requester, ":")
	return bare != "" && bare == s.Person && (s.Platform == "" || s.Platform == platform)
}

func (s Scope) holds(where string) bool {
	a, err := bot.ParseAddress(where)
	within := func(wanted, is string) bool { return wanted == "" || wanted == is }
	return err == nil && within(s.Platform, a.Platform) && within(s.Workspace, a.Workspace) && within(s.Channel, a.Channel)
}

// Period is the time that a report tells of: after Since, up to and with Until.
// A zero Since is the first report: everything that is given counts.
type Period struct {
	Since, Until time.Time
	Zone         *time.Location // of the times that it names; nil is UTC
}

// From is the earliest end of runs that the report tells of: it needs the live
// runs and those that ended after it. That is Since, the beginning of the month
// or two weeks before Until (for the chart), whatever is earliest.
func (p Period) From() time.Time {
	from := p.month()
	for _, t := range []time.Time{p.Since, p.Until.Add(-chartDays * 24 * time.Hour)} {
		if t.Before(from) {
			from = t
		}
	}
	return from
}

func (p Period) zone() *time.Location { return cmp.Or(p.Zone, time.UTC) }

// month is when the month of Until began.
func (p Period) month() time.Time {
	until := p.Until.In(p.zone())
	return time.Date(until.Year(), until.Month(), 1, 0, 0, 0, 0, p.zone())
}

func (p Period) holds(t time.Time) bool { return t.After(p.Since) && !t.After(p.Until) }

// clock is a point in time, as each reader's own clock shows it.
func (p Period) clock(t time.Time) string { return text.Moment(t) }

// drawn is a point in time in the period's zone, for what is no text.
func (p Period) drawn(t time.Time) string { return t.In(p.zone()).Format("Mon 2 Jan 15:04") }

// Counter is a wider budget as the store counts it: of a person, a channel or
// everybody, for a month. Limit 0 is no limit.
type Counter struct {
	Name         string // for example "this channel in March"
	Spent, Limit agent.Nano
}

// Source is what a report is made of.
type Source struct {
	Period Period
	// Runs are those that the report's scope covers: the live ones, and those
	// that ended after Period.From. Others do no harm.
	Runs []agent.Run
	// Unread are runs whose journals cannot be read, whosever they are.
	Unread []card.Status
	// Omitted counts runs that were left out because there are too many.
	Omitted int
	// Audience names who may decide a question; nil: nobody is named.
	Audience authority.Audience
	// Counters are shown as they are, exact where runs began before the month.
	Counters []Counter
	// Reader is the platform that the report is read on: threads of it are linked,
	// other runs are named by their ids.
	Reader string
	// Private reports whether the place of the report must not see what the run
	// is about, because it was asked for in private: such a run is counted and
	// named by its id only. Nil: none is.
	Private func(agent.Run) bool
}
