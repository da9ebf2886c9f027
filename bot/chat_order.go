package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// ordered reads "WHEN [ZONE] [here|#channel] [always]" and "WHEN: GOAL" into a
// schedule; what is not said stays as it is.
func (h *hearing) ordered(ctx context.Context, kind sort, text string, s Schedule) (Schedule, error) {
	zone, err := time.LoadLocation(h.zone())
	if err != nil {
		return s, fmt.Errorf("the time zone %s: %w", h.zone(), err)
	}
	now := h.now.UTC().Truncate(time.Second)
	when, rest, err := schedule.ParsePrefix(text, zone, now)
	if err != nil {
		return s, refuse(escape(safe(err.Error())))
	}
	if when.Often() < schedule.Shortest {
		return s, refuse("That is more often than once a minute. Choose a longer time.")
	}
	if s.To == "" {
		to, err := h.place(ctx)
		if err != nil {
			return s, err
		}
		s.To, s.Missed = to.At("").String(), schedule.Late
	}
	s.When, s.Zone, s.Since = when.Spec(), when.Zone().String(), now
	if kind == sortReport {
		if s.Report == "" {
			s.Report = h.subject()
		}
		err = h.reportOptions(&s, rest)
	} else {
		begin := strings.TrimSpace(strings.TrimSuffix(text, rest))
		err = goalOptions(&s, rest, strings.HasSuffix(begin, ":"))
	}
	if err == nil {
		err = h.mayPost(s.To)
	}
	return s, err
}

// mayPost refuses a place where the person may not start anything.
func (h *hearing) mayPost(where string) error {
	to, err := ParseAddress(where)
	if err != nil {
		return err
	}
	if !h.cfg.Desk.Authority.starts(to, h.in.By) {
		h.log("a schedule was refused", agent.Run{}, "to", where)
		return refuse("You may not schedule anything there. " + h.starters() + ".")
	}
	return nil
}

// zone is the time zone of times that name none.
func (h *hearing) zone() string {
	switch {
	case h.in.By.Zone != "":
		return h.in.By.Zone
	case h.cfg.Zone != "":
		return h.cfg.Zone
	}
	return "UTC"
}

// reportOptions reads what may follow the time of a report.
func (h *hearing) reportOptions(s *Schedule, rest string) error {
	for _, word := range strings.Fields(rest) {
		channel, is := h.in.Channels[word]
		switch lower := strings.ToLower(word); {
		case is:
			s.To, s.Report, s.Label = channel.At("").String(), OfChannel, word
		case lower == "here":
			if s.Report == OfPerson && !h.alone() {
				s.Report = OfChannel
			}
		case lower == "always", lower == "quiet":
			s.Always = lower == "always"
		case lower == string(OfWorkspace), lower == string(OfChannel):
			s.Report = Subject(lower)
		case lower == "mine":
			s.Report = OfPerson
		case strings.HasPrefix(word, "#"):
			return refuse("I do not know the channel " + quoted(word, 80) + ". Choose it from the list that opens after `#`, so that I get its id.")
		default:
			return refuse("I do not understand " + quoted(word, 40) + " there. " + sortReport.usage())
		}
	}
	return nil
}

// goalOptions reads what follows the time of a goal: "[skip|queue|replace]: GOAL".
// Ended says that the colon stood right behind the time.
func goalOptions(s *Schedule, rest string, ended bool) error {
	option, goal, is := "", rest, ended
	if !ended {
		option, goal, is = strings.Cut(rest, ":")
	}
	if goal = strings.TrimSpace(goal); is && goal != "" {
		s.Goal = goal
	}
	if s.Goal == "" {
		return refuse("Put a colon and the goal behind the time: `schedule every monday 8:00: GOAL`.")
	}
	switch overlap := Overlap(strings.ToLower(strings.TrimSpace(option))); overlap {
	case "":
	case OverlapSkip, OverlapQueue, OverlapReplace:
		s.Overlap = overlap
	default:
		return refuse("I do not understand " + quoted(option, 40) + " between the time and the colon. Write `skip`, `queue` or `replace` there " +
			"(what happens while the run before has not ended), or nothing.")
	}
	return nil
}

// sentence says what the schedule does, to somebody at the place.
func (s Schedule) sentence(here Address) string {
	what := "the goal “" + quoted(s.Goal, 120) + "”"
	switch s.Report {
	case OfWorkspace:
		what = "a report about the workspace"
	case OfChannel:
		what = "a report about the channel"
	case OfPerson:
		what = "a report about your runs"
	case "":
	}
	text := s.When + " (" + s.Zone + ")"
	if when, err := s.timing(); err == nil {
		text = when.String()
	}
	what += " " + escape(text)
	switch to, err := ParseAddress(s.To); {
	case err == nil && here.Channel != "" && to.Place() == here.Place():
		what += ", here"
	case s.Label != "":
		what += ", in " + escape(s.Label)
	default:
		what += ", in " + where(s.To)
	}
	if s.Report != "" && !s.Always {
		what += ", unless nothing has changed"
	}
	return what
}

// nextTurn says when the next turn is.
func nextTurn(when schedule.When, now time.Time) string {
	next := when.Next(now)
	if next.IsZero() {
		return "It never comes again."
	}
	return "Next: " + next.In(when.Zone()).Format("Monday, 2 January 15:04 MST") + "."
}

// scheduled reports whether the text after "report" or "schedule", said in a
// sentence, is an order and not a goal about a report or a schedule.
func scheduled(rest string) bool {
	first, after := firstWord(strings.ToLower(rest))
	switch first {
	case "", "now", "list":
		return true
	case "remove", "pause", "resume":
		return after == "" || namePattern.MatchString(after)
	case "change":
		name, _ := firstWord(after)
		return after == "" || namePattern.MatchString(name)
	}
	_, _, err := schedule.ParsePrefix(rest, time.UTC, time.Unix(0, 0))
	return !errors.Is(err, schedule.ErrUnknown)
}
