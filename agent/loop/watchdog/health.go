package watchdog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

const (
	// missedCheckIns is how many check-ins of a strand may fail to come.
	missedCheckIns = 3
	// soon is within what time something that is worked or tried again is due.
	soon = time.Minute
)

// health is what a fold says about whom a run waits for. It holds for as long
// as the journal does not grow.
type health struct {
	length     uint64
	progress   progress
	unreadable error
	goal       string
	working    []agent.StrandID // have something to do
	timer      time.Time        // the first that a strand waits for, zero: none does
	person     bool             // somebody was asked, or paused it
	unposted   string           // the post that was not made, and why; empty: none
	unchecked  map[agent.StrandID]unchecked
	wakeful    []agent.StrandID

	told map[AlertKind]string // ids of alerts that were raised
}

// unchecked is a strand that has made model calls without a check-in: since
// its last one, and first seen like that by this process.
type unchecked struct{ last, first time.Time }

// limits are what the judge goes by.
type limits struct{ after, checkIns time.Duration }

func (w *Watchdog) limits() limits { return limits{after: w.After, checkIns: w.CheckIns} }

// assess asks every strand of the run what it does next.
func assess(r agent.Run) *health {
	h := &health{goal: firstLine(r.Brief.Goal, 80), told: map[AlertKind]string{}, unchecked: map[agent.StrandID]unchecked{},
		person: r.Paused != "" || r.Refused != "" || r.OpenCheckpoint() != nil}
	for id := range r.Strands.All() {
		if id == agent.Voice {
			continue
		}
		move := r.Next(id)
		switch {
		case len(move.Steps) > 0:
			h.working = append(h.working, id)
		case !move.Wake.IsZero() && (h.timer.IsZero() || move.Wake.Before(h.timer)):
			h.timer = move.Wake
		}
	}
	slices.Sort(h.working)
	h.unposted = unposted(r)
	for _, id := range r.Unchecked() {
		h.unchecked[id] = unchecked{last: r.Strands.Of(id).CheckIn.Last}
	}
	for id := range r.Strands.Wakeful() {
		h.wakeful = append(h.wakeful, id)
	}
	return h
}

// unposted is the post that waits to be made, or the report that could not be.
// What is said to one person by itself is not missed: alerts are, and one that
// cannot be told must not raise the next.
func unposted(r agent.Run) string {
	if r.Scheduled() && r.Brief.Direct {
		return ""
	}
	for _, step := range r.Next(agent.Voice).Steps {
		if speak, is := step.(agent.Speak); is {
			return "the " + postWords(speak.Post.Kind) + " was not posted"
		}
		if invoke, is := step.(agent.Invoke); is {
			return "the post " + string(invoke.Effects[0]) + " did not come through"
		}
	}
	if shown := r.Shown[agent.KeyReport]; r.Ended != nil && shown.Failed != "" {
		return "the report could not be posted: " + firstLine(shown.Failed, 300)
	}
	return ""
}

// postWords is what people call a kind of post.
func postWords(k agent.PostKind) string {
	switch k {
	case agent.PostCheckpoint:
		return "question"
	case agent.PostScheduled:
		return "scheduled report"
	case agent.PostClose:
		return "outcome of a question"
	case agent.PostAttach, agent.PostUpload:
		return "file"
	case agent.PostCard, agent.PostReport, agent.PostAnswer:
	}
	return string(k)
}

// carryOver takes over when check-ins were first missed. A strand that had one
// since then begins anew.
func (h *health) carryOver(old *health, now time.Time) {
	for id, u := range h.unchecked {
		u.first = now
		if old != nil {
			if before, was := old.unchecked[id]; was && before.last.Equal(u.last) {
				u.first = before.first
			}
		}
		h.unchecked[id] = u
	}
	if old != nil {
		h.told = old.told
	}
}

// alerts says what is wrong with the run at the time: nothing, for most.
func (h *health) alerts(info agent.RunInfo, now time.Time, l limits) (list []Alert) {
	add := func(kind AlertKind, since time.Time, mark, format string, args ...any) {
		list = append(list, Alert{Run: info.Run, Kind: kind, Since: since, ID: string(info.Run) + "/" + string(kind) + "/" + mark,
			Text: fmt.Sprintf("Run %s%s ", info.Run, h.about()) + fmt.Sprintf(format, args...)})
	}
	length, journal := strconv.FormatUint(info.Length, 10), "`deckhand journal "+string(info.Run)+"`"
	if now.Sub(info.Last) > l.after {
		if h.unposted != "" {
			add(AlertUnsaid, info.Last, length, "did not reach its people: %s. Look in the log of `deckhand serve` for what the platform said, "+
				"and whether the bot may still post there; it is tried again by itself unless it was refused.", h.unposted)
		}
		if kind, why := h.whyIdle(info, now, l); kind != "" && info.Ended.IsZero() {
			since, mark := info.Last, length
			switch kind { //nolint:exhaustive // of the others the length is the mark
			case AlertAbandoned:
				since = info.Due
			case AlertIdle: // a wake-up that did not help makes no new alert
				mark = strconv.FormatUint(h.progress.seq, 10)
			}
			add(kind, since, mark, "has had no event since %s: %s. See %s.", stampOf(info.Last), why, journal)
		}
	}
	for _, id := range h.overdue(now, l) {
		u := h.unchecked[id]
		mark := string(id) + "/" + strconv.FormatInt(u.last.Unix(), 10)
		add(AlertCheckIn, u.first, mark, "missed its check-ins: %s makes model calls and was not looked at since %s, though check-ins are due every %s. "+
			"Look whether a `deckhand serve` with the clock is up; %s shows what it does.", id, stampOf(u.first), l.checkIns, journal)
	}
	return list
}

func (h *health) about() string {
	if h.goal == "" {
		return ""
	}
	return " (" + strconv.Quote(h.goal) + ")"
}

// whyIdle is why nothing happens in a run; no kind: it waits for a person or for
// a time to come.
func (h *health) whyIdle(info agent.RunInfo, now time.Time, l limits) (kind AlertKind, why string) {
	asleep := info.Due.IsZero() || info.Due.Sub(now) > soon
	switch {
	case h.unreadable != nil:
		return AlertUnreadable, "its journal cannot be read (" + h.unreadable.Error() + "). Update the replicas where a newer build wrote it; " +
			"cancel the run where it is damaged, and start its goal again"
	case !info.Due.IsZero() && now.Sub(info.Due) > l.after:
		return AlertAbandoned, "it is due since " + stampOf(info.Due) + " and no worker takes it. Start `deckhand serve` on its store, " +
			"or look why those that run do not claim work"
	case len(h.working) > 0 && asleep:
		return AlertLost, fmt.Sprintf("%s has something to do and nobody was going to wake it. It is woken now; "+
			"if this comes again, cancel it and start its goal again", h.working[0])
	case len(h.working) > 0, !asleep && h.late(now, l):
		return AlertStalled, "it is worked or tried again, and nothing comes of it. Look for the run in the workers' logs; " +
			"restart the worker that holds it, or cancel the run"
	case h.late(now, l):
		return AlertLost, "it was to go on at " + stampOf(h.timer) + " and nobody was going to wake it. It is woken now; " +
			"if this comes again, cancel it and start its goal again"
	case !h.timer.IsZero() || h.person:
		return "", ""
	}
	return AlertIdle, "it has nothing to do and waits for nobody. It is woken, in case that helps; if this comes again, " +
		"cancel it and start its goal again"
}

// late reports whether a strand waits for a time that is long over.
func (h *health) late(now time.Time, l limits) bool {
	return !h.timer.IsZero() && now.Sub(h.timer) > l.after
}

// overdue lists the strands whose check-ins fail to come.
func (h *health) overdue(now time.Time, l limits) (list []agent.StrandID) {
	for id, u := range h.unchecked {
		if l.checkIns > 0 && now.Sub(u.first) > missedCheckIns*l.checkIns {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// firstLine is the first line of a text, cut where it is long.
func firstLine(text string, most int) string {
	line, _, _ := strings.Cut(text, "\n")
	return format.Cut(line, most)
}
