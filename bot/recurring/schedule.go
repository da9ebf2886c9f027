package recurring

// This file defines what a schedule is (a recurring report or goal), and how
// schedules and their progress are kept: read from the configuration and the
// store, named, and written as text.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// Kind is which of the two commands it is.
type Kind string

// The kinds, as the words of their commands.
const (
	ReportKind Kind = "report"
	GoalKind   Kind = "schedule"
)

// KindOf is which of the two a schedule is.
func KindOf(s Schedule) Kind {
	if s.Report != "" {
		return ReportKind
	}
	return GoalKind
}

// Noun is what people call a schedule of the kind.
func (k Kind) Noun() string {
	if k == ReportKind {
		return "scheduled report"
	}
	return "recurring goal"
}

// Usage says how schedules of the kind are ordered.
func (k Kind) Usage() string {
	if k == ReportKind {
		return "Say when: `report every weekday 9:00 Europe/Berlin here`; or `report now`, `report list`, " +
			"`report change NAME WHEN`, `report pause NAME`, `report resume NAME`, `report remove NAME`."
	}
	return "Say when and what: `schedule every monday 8:00: GOAL`; or `schedule list`, `schedule change NAME WHEN`, " +
		"`schedule pause NAME`, `schedule resume NAME`, `schedule remove NAME`."
}

// Invitation says how somebody gets the first schedule of the kind.
func (k Kind) Invitation() string {
	if k == ReportKind {
		return "Say when you want to hear where things stand, as in `report every weekday 9:00`; `report now` tells it at once."
	}
	return "Say when and what, as in `schedule every monday 8:00: sort the new issues`."
}

// Subject is what a scheduled report is about.
type Subject string

// The subjects: all runs of the workspace, those of the place that the report
// goes to, or those that its owner asked for.
const (
	OfWorkspace Subject = "workspace"
	OfChannel   Subject = "channel"
	OfPerson    Subject = "person"
)

// Overlap is what happens to a recurring goal that falls due while its last
// run has not ended.
type Overlap string

// The policies: the turn is left out, it waits, or it ends the old run.
const (
	OverlapSkip    Overlap = "skip"
	OverlapQueue   Overlap = "queue"
	OverlapReplace Overlap = "replace"
)

// Schedule is a report or a goal that comes again and again.
type Schedule struct {
	Name string `json:"name"`
	// Report is what the report is about; empty: Goal recurs.
	Report Subject `json:"report,omitempty"`
	Goal   string  `json:"goal,omitempty"`
	// When is the canonical text of a schedule.When, Zone an IANA name, and
	// Since the creation, from which "@every" counts.
	When  string    `json:"when"`
	Zone  string    `json:"zone"`
	Since time.Time `json:"since"`
	To    string    `json:"to"`              // address of the place it is posted to
	Label string    `json:"label,omitempty"` // of that place, as people write it
	By    string    `json:"by"`              // its owner
	// Direct says that the place is the owner's own conversation with the bot.
	Direct bool `json:"direct,omitempty"`
	// Always posts a report also when nothing has changed since the last one.
	Always  bool            `json:"always,omitempty"`
	Missed  schedule.Missed `json:"missed,omitempty"`
	Overlap Overlap         `json:"overlap,omitempty"`
	// Paused says who paused it, empty: it is served.
	Paused string `json:"paused,omitempty"`
	// Fixed schedules stand in the configuration file: they can be paused in
	// chat but not changed there.
	Fixed bool `json:"-"`
}

// platform is where it is posted, "" where that is no place of chat.
func (s Schedule) platform() string {
	to, err := bot.ParseAddress(s.To)
	if err != nil {
		return ""
	}
	return to.Platform
}

// Timing is when the schedule's turns are.
func (s Schedule) Timing() (schedule.When, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return schedule.When{}, fmt.Errorf("schedule %s: the time zone %q: %w", s.Name, s.Zone, err)
	}
	w, err := schedule.Parse(s.When, zone, s.Since) // a zone in the text wins
	if err != nil {
		return schedule.When{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	return w, nil
}

// The names under which a store keeps schedules: what they are, who paused
// them, and how far they were served.
const (
	NameSchedule = "schedule/"
	NamePaused   = "schedule-paused/"
	NameServed   = "schedule-served/"
)

// nameAll begins them all.
const nameAll = "schedule"

// ErrUnreadable is the error of a list that is not whole.
var ErrUnreadable = errors.New("these schedules cannot be read")

// Schedules are the schedules of the configuration and those that people made
// in chat. It is safe for many goroutines.
type Schedules struct {
	Fixed []Schedule
	Store bot.Records
}

// List is every schedule, sorted by name. One that cannot be read is left out
// and named in an error that is errUnreadable; the others are returned with it.
func (c Schedules) List(ctx context.Context) ([]Schedule, error) {
	list, _, err := c.look(ctx)
	return list, err
}

// look is the list, and all that is kept of schedules by name: one range.
func (c Schedules) look(ctx context.Context) (list []Schedule, kept map[string]string, err error) {
	kept, err = c.Store.Values(ctx, nameAll)
	if err != nil {
		return nil, nil, fmt.Errorf("list the schedules: %w", err)
	}
	list = slices.Clone(c.Fixed)
	for i := range list {
		list[i].Fixed = true
	}
	var broken []string
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		var s Schedule
		if !strings.HasPrefix(name, NameSchedule) {
			continue
		}
		switch err := json.Unmarshal([]byte(kept[name]), &s); {
		case err != nil || s.Name != strings.TrimPrefix(name, NameSchedule):
			broken = append(broken, name)
		case slices.ContainsFunc(c.Fixed, func(f Schedule) bool { return f.Name == s.Name }): // the file's is the one
		default:
			list = append(list, s)
		}
	}
	for i := range list {
		list[i].Paused = kept[NamePaused+list[i].Name]
	}
	slices.SortFunc(list, func(a, b Schedule) int { return strings.Compare(a.Name, b.Name) })
	if len(broken) > 0 {
		return list, kept, fmt.Errorf("%w: %s", ErrUnreadable, strings.Join(broken, ", "))
	}
	return list, kept, nil
}

// Text is the schedule as a store keeps it.
func (s Schedule) Text() string {
	b, _ := json.Marshal(s) //nolint:errchkjson // strings always encode, and so do times of this age
	return string(b)
}

// NewName is a name for a schedule that none of the list has: short enough to
// be typed.
func NewName(s Schedule, list []Schedule) string {
	kind := "goal"
	if s.Report != "" {
		kind = "report"
	}
	for {
		name := kind + "-" + agent.NewID()[:5]
		if !slices.ContainsFunc(list, func(other Schedule) bool { return other.Name == name }) {
			return name
		}
	}
}

// Cursor is how far a schedule was served.
type Cursor struct {
	Spec string    `json:"spec"` // of the timing that it counts for
	At   time.Time `json:"at"`   // the newest turn that was handled; at first, when it was first seen
	// Posted is until when the newest report told of the runs, Mark what it said.
	Posted time.Time   `json:"posted,omitzero"`
	Mark   string      `json:"mark,omitempty"`
	Run    agent.RunID `json:"run,omitempty"` // the newest run
	// Missed are turns that nobody has been told of yet, Lost how many.
	Missed []time.Time `json:"missed,omitempty"`
	Lost   int         `json:"lost,omitempty"`
	// Skipped counts turns in a row that were left out because the last run
	// had not ended.
	Skipped int `json:"skipped,omitempty"`
}

// Spec is what the state of a schedule belongs to: another timing begins anew.
func (s Schedule) Spec() string { return s.When + " " + s.Zone }

// anchor is what the schedule's turns belong to (see agent.Commit): its own name.
func (s Schedule) anchor() string { return agent.AnchorOf(NameServed + s.Name) }

// Served is how far the schedule was served; known says whether it ever was with this timing.
func (c Schedules) Served(ctx context.Context, s Schedule) (at Cursor, known bool, err error) {
	text, err := c.Store.Value(ctx, NameServed+s.Name)
	if err != nil {
		return at, false, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	at, known = s.cursor(text)
	return at, known, nil
}

// cursor reads how far the schedule was served from what a store keeps.
func (s Schedule) cursor(text string) (at Cursor, known bool) {
	if json.Unmarshal([]byte(text), &at) == nil && at.Spec == s.Spec() {
		return at, true
	}
	return Cursor{Spec: s.Spec(), Posted: at.Posted, Mark: at.Mark, Run: at.Run}, false // also where there is none
}

// Text is the state as a store keeps it.
func (at Cursor) Text() string {
	b, _ := json.Marshal(at) //nolint:errchkjson // strings always encode, and so do times of this age
	return string(b)
}
