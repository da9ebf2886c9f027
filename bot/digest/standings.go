package digest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// grouped is the runs of a report by where they stand. A live run is in one of
// doing, blocked and parked; its questions are in needs besides.
type grouped struct {
	Source

	ended   []agent.Run // in the period, the newest first: done, failed, cancelled
	live    []agent.Run // the newest first
	doing   []agent.Run
	blocked []agent.Run    // paused, stuck, silent
	parked  []agent.Run    // everything in them waits for people
	needs   []card.Pending // the oldest first
	lost    []agent.Run    // reports that could not be posted
}

func group(from Source) grouped {
	d := grouped{Source: from}
	for _, r := range from.Runs {
		switch {
		case r.Scheduled():
			if agent.Undelivered(r) != "" && from.Period.holds(r.Started) {
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

// silence is how long a run that could work may leave no trace before it
// counts as blocked.
const silence = time.Hour

// The reasons why a live run is blocked, in words.
const (
	whyRefused = "refused"
	whyPaused  = "paused"
	whyStuck   = "stuck"
	whySilent  = "no progress"
)

// why is the reason why a live run is blocked, "" where it is not.
func (d grouped) why(r agent.Run) string {
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
func (d grouped) quiet(r agent.Run) bool {
	for _, s := range r.Strands.All() {
		for _, c := range card.OpenCalls(s) {
			if c.Until.After(d.Period.Until) {
				return false
			}
		}
	}
	return d.Period.Until.Sub(r.Last) >= silence
}

func (d grouped) empty() bool { return len(d.ended)+len(d.live)+len(d.Unread)+len(d.lost) == 0 }

func (d grouped) in(state agent.RunState) []agent.Run {
	var list []agent.Run
	for _, r := range d.ended {
		if r.Ended.State == state {
			list = append(list, r)
		}
	}
	return list
}

func (d grouped) hidden(r agent.Run) bool { return d.Private != nil && d.Private(r) }

// open is the text, or nothing where it would tell of a private run.
func (d grouped) open(r agent.Run, text string) string {
	if d.hidden(r) {
		return ""
	}
	return text
}

// named begins a line: the run and its goal.
func (d grouped) named(r agent.Run) string {
	goal := text.Quoted(r.Brief.Goal, 80)
	if d.hidden(r) {
		goal = "in a private conversation"
	}
	if at := d.thread(r); at != "" {
		return dotted(goal, text.Place(at))
	}
	return dotted("`"+string(r.ID)+"`", goal)
}

// short names the run where a line has named it before: by its goal where its
// thread is linked, else by its id.
func (d grouped) short(r agent.Run) string {
	if d.thread(r) != "" {
		return "“" + text.Quoted(r.Brief.Goal, 40) + "”"
	}
	return "`" + string(r.ID) + "`"
}

// thread is where the run lives, if whoever reads the report can be led there.
func (d grouped) thread(r agent.Run) string {
	at, err := bot.ParseAddress(r.Thread())
	if err != nil || at.ID == "" || d.Reader == "" || at.Platform != d.Reader || r.Brief.Direct || d.hidden(r) {
		return ""
	}
	return at.String()
}

// dotted puts the parts of a line together, without those that are empty.
func dotted(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, " · ")
}
