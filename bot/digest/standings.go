package digest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// silence is how long a run that could work may leave no trace before it
// counts as blocked.
const silence = time.Hour

// sections is the runs of a report by where they stand. A live run is in one of
// doing, blocked and parked; its questions are in needs besides.
type sections struct {
	Source

	ended   []agent.Run // in the period, the newest first: done, failed, cancelled
	live    []agent.Run // the newest first
	doing   []agent.Run
	blocked []agent.Run    // paused, stuck, silent
	parked  []agent.Run    // everything in them waits for people
	needs   []card.Pending // the oldest first
	lost    []agent.Run    // reports that could not be posted
}

func standings(from Source) sections {
	d := sections{Source: from}
	for _, r := range from.Runs {
		switch {
		case r.Scheduled():
			if r.Undelivered() != "" && from.Period.holds(r.Started) {
				d.lost = append(d.lost, r)
			}
		case r.Ended == nil:
			d.live = append(d.live, r)
		case from.Period.holds(r.Finished):
			d.ended = append(d.ended, r)
		}
	}
	newest(d.ended, func(r agent.Run) time.Time { return r.Finished })
	newest(d.live, func(r agent.Run) time.Time { return r.Started })
	newest(d.lost, func(r agent.Run) time.Time { return r.Started })
	for _, r := range d.live {
		for _, c := range r.OpenCheckpoints() {
			d.needs = append(d.needs, card.Pending{Run: r, Check: c})
		}
		switch {
		case d.why(r) != "":
			d.blocked = append(d.blocked, r)
		case r.State() == agent.RunWaiting:
			d.parked = append(d.parked, r)
		default:
			d.doing = append(d.doing, r)
		}
	}
	slices.SortFunc(d.needs, func(a, b card.Pending) int {
		return cmp.Or(a.Check.Opened.Compare(b.Check.Opened), cmp.Compare(a.Check.ID, b.Check.ID))
	})
	return d
}

func newest(runs []agent.Run, at func(agent.Run) time.Time) {
	slices.SortFunc(runs, func(a, b agent.Run) int { return cmp.Or(at(b).Compare(at(a)), cmp.Compare(a.ID, b.ID)) })
}

// The reasons why a live run is blocked, in words.
const (
	whyRefused = "refused"
	whyPaused  = "paused"
	whyStuck   = "stuck"
	whySilent  = "no progress"
)

// why is the reason why a live run is blocked, "" where it is not.
func (d sections) why(r agent.Run) string {
	switch {
	case r.Refused != "":
		return whyRefused
	case r.Paused != "":
		return whyPaused
	case stuckAt(r) != nil:
		return whyStuck
	case r.State() == agent.RunRunning && r.OpenCheckpoint() == nil && d.quiet(r):
		return whySilent
	}
	return ""
}

// stuckAt is the oldest question about a way out, nil if none is open.
func stuckAt(r agent.Run) *agent.Checkpoint {
	for _, c := range r.OpenCheckpoints() {
		if c.Ask == agent.CheckStuck {
			return &c
		}
	}
	return nil
}

// quiet reports whether nothing came of the run for long, and nothing in it
// waits for a time.
func (d sections) quiet(r agent.Run) bool {
	for _, s := range r.Strands {
		for _, c := range card.OpenCalls(s) {
			if c.Until.After(d.Period.Until) {
				return false
			}
		}
	}
	return d.Period.Until.Sub(r.Last) >= silence
}

func (d sections) empty() bool { return len(d.ended)+len(d.live)+len(d.Unread)+len(d.lost) == 0 }

func (d sections) in(state agent.RunState) []agent.Run {
	var list []agent.Run
	for _, r := range d.ended {
		if r.Ended.State == state {
			list = append(list, r)
		}
	}
	return list
}

// headline is the counts and the money in one line.
func (d sections) headline() string {
	var parts []string
	count := func(n int, words string) {
		if n > 0 {
			parts = append(parts, format.Thousands(int64(n))+" "+words)
		}
	}
	count(len(d.in(agent.RunDone)), "done")
	count(len(d.in(agent.RunFailed)), "failed")
	count(len(d.in(agent.RunCancelled)), "cancelled")
	count(len(d.doing), "at work")
	count(len(d.blocked), "blocked")
	if n := len(d.needs); n == 1 {
		count(n, "needs you")
	} else {
		count(n, "need you")
	}
	count(len(d.lost), "not delivered")
	count(len(d.Unread), "unreadable")
	if len(parts) == 0 {
		return "Nothing happened, nothing is open"
	}
	text := strings.Join(parts, ", ")
	if sum := tally(slices.Concat(d.ended, d.live)); sum.calls > 0 {
		text += " · " + sum.least()
	}
	return text
}

// preface says which time and which runs the report is about.
func (d sections) preface() string {
	p := d.Period
	line := "Up to " + p.clock(p.Until)
	if !p.Since.IsZero() {
		line = "From " + p.clock(p.Since) + " to " + p.clock(p.Until)
	}
	line += " (" + text.Escape(p.zone().String()) + ")."
	if d.Omitted > 0 {
		line += " " + format.Count(d.Omitted, "older run") + " could not be looked at: there are too many."
	}
	return line
}
