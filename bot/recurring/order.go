package recurring

// This file keeps schedules that a model understood in what a person wrote. The
// model only says what was ordered: whether it can be, when its turns are and
// where they go is worked out here, as for an order in exact words.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// Bounds of what people order.
const (
	MaxOwned = 100    // schedules of one person
	MaxGoal  = 40_000 // characters of a goal
	maxNext  = 3      // times that a new schedule is shown with
)

// Orders keeps schedules that were understood. It is a loop's Scheduler.
type Orders struct {
	Schedules Schedules
}

// Schedule makes what somebody ordered of the run, at the place where they did. It
// counts from when they did.
func (o Orders) Schedule(ctx context.Context, run agent.RunID, from agent.Ordered, order agent.ScheduleOrder) (agent.ScheduleAnswer, error) {
	to, err := bot.ParseAddress(from.Where)
	if err != nil {
		return agent.ScheduleAnswer{}, err
	}
	s := Schedule{Goal: strings.TrimSpace(order.Goal), By: from.By, To: to.At("").String(), Direct: from.Direct,
		Since: from.At.UTC().Truncate(time.Second), Overlap: OverlapSkip, Missed: schedule.Late}
	when, wrong := timingOf(order, from.Zone, s.Since)
	switch {
	case wrong != "":
		return agent.ScheduleAnswer{Wrong: wrong}, nil
	case order.Report && s.Goal == "" && when.Once():
		return agent.ScheduleAnswer{Wrong: "a report comes again and again; for one time give a goal that says what to report"}, nil
	case order.Report && s.Goal == "":
		if s.Report = OfChannel; s.Direct {
			s.Report = OfPerson
		}
	case s.Goal == "":
		return agent.ScheduleAnswer{Wrong: "goal is empty: say what is to be done then, or ask the person"}, nil
	case utf8.RuneCountInString(s.Goal) > MaxGoal:
		return agent.ScheduleAnswer{Wrong: "the goal has more than " + format.Thousands(MaxGoal) + " characters"}, nil
	}
	s.When, s.Zone = when.Spec(), when.Zone().String()
	return o.keep(ctx, run, to, s, when)
}

// timingOf reads when the order comes, or says what is wrong with it.
func timingOf(order agent.ScheduleOrder, zone string, since time.Time) (when schedule.When, wrong string) {
	name := strings.TrimSpace(order.Zone)
	if city := schedule.ZoneOfCity(name); city != "" {
		name = city
	}
	if name == "" {
		name = zone
	}
	home, err := time.LoadLocation(name)
	if err != nil {
		return when, fmt.Sprintf("there is no time zone %q: give an IANA name such as Europe/Berlin, or none for the person's own", order.Zone)
	}
	when, err = schedule.Parse(strings.TrimRight(strings.TrimSpace(order.When), ".:"), home, since)
	switch {
	case err != nil:
		return when, "when: " + err.Error()
	case when.Often() < schedule.Shortest:
		return when, "that is more often than once a minute, which is too often"
	}
	return when, ""
}

// keep is what is to be written down for the schedule. Its name follows from the
// run: done again, it is the same schedule.
func (o Orders) keep(ctx context.Context, run agent.RunID, at bot.Address, s Schedule, when schedule.When) (agent.ScheduleAnswer, error) {
	list, err := o.Schedules.List(ctx)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return agent.ScheduleAnswer{}, err
	}
	s.Name = nameAfter(run, s, list)
	if owned := Owned(list, s); owned >= MaxOwned {
		return agent.ScheduleAnswer{Refused: fmt.Sprintf("You have %d schedules already. Remove one first: `%s list` has their names.", owned, KindOf(s))}, nil
	}
	state, _, err := o.Schedules.Served(ctx, s)
	if err != nil {
		return agent.ScheduleAnswer{}, err
	}
	state.At = s.Since
	made := Reader{By: s.By, At: at, Now: s.Since}.Made(s, when)
	return agent.ScheduleAnswer{Made: made, Text: made.When + ": " + made.What,
		Set: map[string]string{NameSchedule + s.Name: s.Text(), NameServed + s.Name: state.Text()}}, nil
}

// Owned is how many other schedules the owner of one has.
func Owned(list []Schedule, s Schedule) int {
	owned := 0
	for _, other := range list {
		if other.By == s.By && other.Name != s.Name {
			owned++
		}
	}
	return owned
}

// nameAfter is a name after the run that makes the schedule.
func nameAfter(run agent.RunID, s Schedule, list []Schedule) string {
	kind := "goal"
	if s.Report != "" {
		kind = "report"
	}
	for n := min(5, len(run)); ; n++ {
		name := kind + "-" + string(run[:min(n, len(run))])
		taken := slices.ContainsFunc(list, func(other Schedule) bool {
			return other.Name == name && (other.By != s.By || !other.Since.Equal(s.Since))
		})
		if !taken || n >= len(run) {
			return name
		}
	}
}
