package intake

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The words of an order about a schedule, read into a recurring.Schedule, and
// who may order what where.

// scheduleOrder is an order about schedules of a kind.
type scheduleOrder struct {
	*request
	kind recurring.Kind
}

// zone is the time zone of times that name none: the one that a schedule has
// already, the person's, that of the configuration.
func (req *request) zone(old string) *time.Location {
	for _, name := range []string{old, req.in.By.Zone, req.cfg.Zone} {
		if name == "" || name == "Local" { // the last is another one on every replica
			continue
		}
		zone, err := time.LoadLocation(name)
		if err == nil {
			return zone
		}
		req.cfg.Log.Warn("a time zone is not known; the confirmation names the one that is taken", "principal", req.in.By.ID, "err", err)
	}
	return time.UTC
}

// parse reads "WHEN [ZONE] [here|#channel] [always]" and "WHEN: GOAL" into a
// schedule; what is not said stays as it is.
func (req scheduleOrder) parse(ctx context.Context, line string, s recurring.Schedule) (recurring.Schedule, error) {
	now := req.now.UTC().Truncate(time.Second)
	when, rest, err := schedule.ParsePrefix(line, req.zone(s.Zone), now)
	if err != nil {
		return s, refuse(text.Escape(text.Safe(err.Error())))
	}
	if when.Often() < schedule.Shortest {
		return s, refuse("That is more often than once a minute. Choose a longer time.")
	}
	s.When, s.Zone, s.Since = when.Spec(), when.Zone().String(), now
	if s.Missed == "" {
		s.Missed = schedule.Late
	}
	if req.kind == recurring.ReportKind {
		return req.parseReport(ctx, s, rest)
	}
	if s.To == "" {
		to, err := req.place(ctx)
		if err != nil {
			return s, err
		}
		s.To, s.Direct = to.At("").String(), req.alone()
	}
	begin := strings.TrimSpace(strings.TrimSuffix(line, rest))
	if err := req.goalOptions(&s, rest, strings.HasSuffix(begin, ":")); err != nil {
		return s, err
	}
	return s, req.mayPost(s.To, "You may not schedule goals there.")
}

// parseReport reads what follows the time of a report, and refuses what the
// person may not have told, or not there.
func (req scheduleOrder) parseReport(ctx context.Context, s recurring.Schedule, rest string) (recurring.Schedule, error) {
	options, err := req.reportOptions(rest)
	if err != nil {
		return s, err
	}
	switch {
	case options.label != "":
		s.To, s.Label, s.Direct = options.to.At("").String(), options.label, false
	case s.To == "" || options.here:
		to, err := req.place(ctx)
		if err != nil {
			return s, err
		}
		s.To, s.Label, s.Direct, options.here = to.At("").String(), "", req.alone(), true
	}
	s.Report = options.subjectOf(s)
	if options.quiet != "" {
		s.Always = options.quiet == "always"
	}
	switch {
	case s.Report == recurring.OfChannel && s.Direct:
		return s, refuse("This is no channel. Name one: write `#` and choose it from the list that opens.")
	case s.Report == recurring.OfWorkspace && !req.mayReportOnWorkspace(s.To):
		req.log("a report about the workspace was refused", agent.Run{}, "to", s.To)
		return s, refuse(req.workspaceReporters(s.To))
	}
	return s, req.mayPost(s.To, "You may not have reports posted there.")
}

// subjectOf is what the report is about: what the words say; of one that goes
// to another place, that place, unless it is about the workspace.
func (o reportWords) subjectOf(s recurring.Schedule) recurring.Subject {
	moved := (o.here || o.label != "") && s.Report != recurring.OfWorkspace
	switch {
	case o.subject != "":
		return o.subject
	case moved && s.Direct:
		return recurring.OfPerson
	case moved:
		return recurring.OfChannel
	}
	return s.Report
}

// mayReportOnWorkspace reports whether the person may have reports about every channel of
// the workspace of a place: they tell of runs in private ones, too.
func (req scheduleOrder) mayReportOnWorkspace(where string) bool {
	a := req.cfg.Runs.Authority
	return !req.in.By.Bot && (req.in.By.AtTerminal() || authority.Includes(req.cfg.Runs.Authority.WorkspaceOperators(where), req.in.By) || authority.Includes(a.Admins, req.in.By))
}

// workspaceReporters says who may have reports about the workspace.
func (req scheduleOrder) workspaceReporters(where string) string {
	const why = " may have reports about the whole workspace: they tell everybody who reads them of runs in private channels. " +
		"Leave out `workspace`, and the report is about the channel."
	list := append(append([]string{}, req.cfg.Runs.Authority.WorkspaceOperators(where)...), req.cfg.Runs.Authority.Admins...)
	if len(list) == 0 {
		return "Only operators and administrators" + why + " None are named in the configuration."
	}
	return "Only operators and administrators (" + bot.Mentions(list, "and") + ")" + why
}

// mayPost refuses a place where the person may not start anything.
func (req scheduleOrder) mayPost(where, refusal string) error {
	to, err := bot.ParseAddress(where)
	if err != nil {
		return err
	}
	if req.cfg.Runs.Authority.MayStart(to, req.in.By) {
		return nil
	}
	req.log("a schedule was refused", agent.Run{}, "to", where)
	return refuse(refusal + " " + req.starters(to) + ".")
}

// reportWords are what follows the time of a report.
type reportWords struct {
	to      bot.Address
	label   string // of the channel that was named
	here    bool
	subject recurring.Subject
	quiet   string
}

// reportOptions reads what may follow the time of a report, in any order.
func (req scheduleOrder) reportOptions(rest string) (o reportWords, err error) {
	words := strings.Fields(rest)
	for i, word := range words {
		channel, is := req.in.Channels[word]
		lower := strings.ToLower(word)
		subject, about := subjects[lower]
		switch {
		case is && (o.here || (o.label != "" && o.label != word)), lower == "here" && o.label != "":
			return o, refuse("A report goes to one place. Make one for each.")
		case is:
			o.to, o.label = channel, word
		case lower == "here":
			o.here = true
		case about:
			o.subject = subject
		case lower == "always", lower == "quiet":
			o.quiet = lower
		case strings.HasPrefix(word, "#"):
			return o, refuse("I do not know the channel " + text.Quoted(word, 80) + ". Choose it from the list that opens after `#`, so that I get its id.")
		default:
			return o, refuse("I do not understand " + text.Quoted(word, 40) + " there. " + aboutZone(words[i:], recurring.ReportKind.Usage()))
		}
	}
	return o, nil
}

// aboutZone is a hint where the words begin with a city, else the other text.
func aboutZone(words []string, other string) string {
	for n := range words[:min(len(words), 3)] {
		if zone := schedule.ZoneOfCity(strings.Join(words[:n+1], " ")); zone != "" {
			return "A time zone is written as `" + zone + "`."
		}
	}
	return other
}

// goalOptions reads what follows the time of a goal: "[skip|queue|replace]: GOAL".
// Ended says that the colon stood right behind the time.
func (req scheduleOrder) goalOptions(s *recurring.Schedule, rest string, ended bool) error {
	option, goal, is := "", rest, ended
	if !ended {
		option, goal, is = strings.Cut(rest, ":")
	}
	if goal = strings.TrimSpace(goal); is && goal != "" {
		s.Goal = goal
	}
	overlap := recurring.Overlap(strings.ToLower(strings.TrimSpace(option)))
	said, _ := req.in.Act.(bot.Said)
	switch {
	case s.Goal == "":
		return refuse(aboutZone(strings.Fields(option), "Put a colon and the goal behind the time: `schedule every monday 8:00: GOAL`."))
	case utf8.RuneCountInString(s.Goal) > maxGoal:
		return refuse("The goal has " + format.Thousands(int64(utf8.RuneCountInString(s.Goal))) + " characters; at most " + format.Thousands(maxGoal) + " are taken.")
	case len(said.Files) > 0:
		return refuse("A schedule keeps no files. Say in the goal where its runs find what they need.")
	case overlap == recurring.OverlapSkip, overlap == recurring.OverlapQueue, overlap == recurring.OverlapReplace:
		s.Overlap = overlap
	case overlap != "":
		return refuse("I do not understand " + text.Quoted(option, 40) + " between the time and the colon. " + aboutZone(strings.Fields(option),
			"Write `skip`, `queue` or `replace` there (what happens while the run before has not ended), or nothing."))
	}
	return nil
}
