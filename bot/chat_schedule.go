package bot

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// sort is which of the two commands it is.
type sort string

const (
	sortReport sort = "report"
	sortGoal   sort = "schedule"
)

var namePattern = regexp.MustCompile("^`?([A-Za-z0-9][A-Za-z0-9._-]{0,63})`?$")

// scheduling is the command that makes, lists, changes and removes schedules of
// a sort.
func scheduling(kind sort) func(h *hearing, ctx context.Context, rest string) (Answer, error) {
	return func(h *hearing, ctx context.Context, rest string) (Answer, error) {
		word, after := firstWord(rest)
		name := namePattern.FindStringSubmatch(after)
		manages := slices.Contains([]string{"remove", "pause", "resume"}, strings.ToLower(word))
		switch word = strings.ToLower(word); {
		case word == "":
			return private("%s", kind.usage()), nil
		case word == "list" && after == "":
			return h.schedules(ctx, kind)
		case word == "now" && kind == sortReport:
			return h.reportNow(ctx, after)
		case manages && name != nil:
			return h.manage(ctx, kind, word, name[1])
		case manages:
			return private("Say which one: `%s %s NAME`. `%s list` has the names.", kind, word, kind), nil
		case word == "change":
			return h.reschedule(ctx, kind, after)
		}
		s, err := h.ordered(ctx, kind, rest, Schedule{By: h.in.By.ID, Overlap: OverlapSkip})
		if err != nil {
			return Answer{}, err
		}
		s.Name = newName(s)
		return h.keepSchedule(ctx, s, "I keep it as")
	}
}

func (k sort) usage() string {
	if k == sortReport {
		return "Say when: `report every weekday 9:00 Europe/Berlin here`; or `report now`, `report list`, " +
			"`report change NAME WHEN`, `report pause NAME`, `report resume NAME`, `report remove NAME`."
	}
	return "Say when and what: `schedule every monday 8:00: GOAL`; or `schedule list`, `schedule change NAME WHEN`, " +
		"`schedule pause NAME`, `schedule resume NAME`, `schedule remove NAME`."
}

// has reports whether the schedule is of the sort.
func (k sort) has(s Schedule) bool { return (k == sortReport) == (s.Report != "") }

// keepSchedule writes a schedule down, and says what it is and when it comes. It
// counts from now on.
func (h *hearing) keepSchedule(ctx context.Context, s Schedule, done string) (Answer, error) {
	when, err := s.timing()
	if err != nil {
		return Answer{}, err
	}
	state := served{Spec: s.spec(), At: h.now}
	err = h.setAll(ctx, map[string]string{nameSchedule + s.Name: s.text(), nameServed + s.Name: state.text()})
	if err != nil {
		return Answer{}, err
	}
	return h.aloud(done + " `" + s.Name + "`: " + s.sentence(h.in.Where) + ". " + nextTurn(when, h.now)), nil
}

// setAll gives names values in the commit that writes the event down.
func (h *hearing) setAll(ctx context.Context, set map[string]string) error {
	along := h.with(set)
	_, err := h.cfg.Desk.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: along.Once, Set: along.Set})
	return h.wrote(err)
}

// aloud answers a message in its thread, and a command to the person alone.
func (h *hearing) aloud(text string) Answer {
	return h.answer("", Card{Text: inLine(text, 140), Parts: []Part{Prose{text}}})
}

// found is a schedule of the sort that the person may manage.
func (h *hearing) found(ctx context.Context, kind sort, name string) (Schedule, error) {
	list, err := h.cfg.Recurring.List(ctx)
	if err != nil && len(list) == 0 {
		return Schedule{}, err
	}
	i := slices.IndexFunc(list, func(s Schedule) bool { return s.Name == name && kind.has(s) })
	if i < 0 || (!h.manages(list[i]) && !h.sees(list[i])) {
		return Schedule{}, refuse(fmt.Sprintf("There is no such schedule here. `%s list` has the names.", kind))
	}
	if !h.manages(list[i]) {
		h.log("a schedule was not changed", agent.Run{}, "schedule", name)
		return Schedule{}, refuse("Only its owner" + maybe(list[i].By, " ("+Mention(list[i].By)+")") + " and the operators may do that.")
	}
	return list[i], nil
}

func maybe(is, text string) string {
	if is == "" {
		return ""
	}
	return text
}

// manages reports whether the person may change the schedule.
func (h *hearing) manages(s Schedule) bool {
	a := h.cfg.Desk.Authority.in(s.To)
	return !h.in.By.Bot && ((s.By != "" && s.By == h.in.By.ID) || has(a.Operators, h.in.By) || has(h.cfg.Desk.Authority.Admins, h.in.By))
}

// sees reports whether the schedule is of the place that the person asks at.
func (h *hearing) sees(s Schedule) bool {
	to, err := ParseAddress(s.To)
	return err == nil && h.in.Where.Channel != "" && to.Place() == h.in.Where.Place()
}

// manage removes, pauses or resumes a schedule.
func (h *hearing) manage(ctx context.Context, kind sort, word, name string) (Answer, error) {
	s, err := h.found(ctx, kind, name)
	if err != nil {
		return Answer{}, err
	}
	set, said := map[string]string{}, ""
	switch {
	case word == "remove" && s.Fixed:
		return private("`%s` stands in the configuration file; remove it there. `%s pause %s` stops it until then.", name, kind, name), nil
	case word == "remove":
		set[nameSchedule+name], set[nameServed+name], set[namePaused+name] = "", "", ""
		said = "Removed `" + name + "`: it does not come any more."
	case word == "pause":
		set[namePaused+name] = h.in.By.ID
		said = "Paused `" + name + "`. `" + string(kind) + " resume " + name + "` lets it go on."
	default:
		when, err := s.timing()
		if err != nil {
			return Answer{}, err
		}
		at, _, err := h.cfg.Recurring.served(ctx, s)
		if err != nil {
			return Answer{}, err
		}
		at.At = h.now // what fell due meanwhile was not missed
		set[namePaused+name], set[nameServed+name] = "", at.text()
		said = "`" + name + "` goes on. " + nextTurn(when, h.now)
	}
	if err := h.setAll(ctx, set); err != nil {
		return Answer{}, err
	}
	return h.aloud(said), nil
}

// reschedule gives a schedule another time, and what else is said with it.
func (h *hearing) reschedule(ctx context.Context, kind sort, text string) (Answer, error) {
	word, rest := firstWord(text)
	name := namePattern.FindStringSubmatch(word)
	if name == nil || rest == "" {
		return private("Say which one and when: `%s change NAME WHEN`. `%s list` has the names.", kind, kind), nil
	}
	s, err := h.found(ctx, kind, name[1])
	if err != nil {
		return Answer{}, err
	}
	if s.Fixed {
		return private("`%s` stands in the configuration file; change it there.", s.Name), nil
	}
	paused := s.Paused
	s.Paused = ""
	if s, err = h.ordered(ctx, kind, rest, s); err != nil {
		return Answer{}, err
	}
	a, err := h.keepSchedule(ctx, s, "I changed")
	if err == nil && paused != "" {
		a.Private = strings.TrimSpace(a.Private + " It is still paused.")
	}
	return a, err
}

// schedules lists those of the place, those of the person, and for operators
// all of the workspace.
func (h *hearing) schedules(ctx context.Context, kind sort) (Answer, error) {
	all, err := h.cfg.Recurring.List(ctx)
	if err != nil {
		h.cfg.Log.Error("schedules are left out of a list", "err", err)
	}
	var lines []string
	for _, s := range all {
		if !kind.has(s) || (!h.sees(s) && !h.manages(s)) {
			continue
		}
		line := "- `" + s.Name + "`: " + s.sentence(h.in.Where) + maybe(s.By, ", of "+Mention(s.By))
		when, err := s.timing()
		switch {
		case err != nil:
			line += " – **it cannot be served**: " + quoted(err.Error(), 200)
		case s.Paused != "":
			line += " – **paused** by " + Mention(s.Paused)
		default:
			line += ". " + nextTurn(when, h.now)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return h.aloud("Nothing is scheduled here. " + kind.usage()), nil
	}
	return h.aloud(strings.Join(lines, "\n")), nil
}

// reportNow posts a report at once.
func (h *hearing) reportNow(ctx context.Context, options string) (Answer, error) {
	to, err := h.place(ctx)
	if err != nil {
		return Answer{}, err
	}
	s := Schedule{Name: "now", Report: h.subject(), To: to.At("").String(), By: h.in.By.ID, Zone: h.zone(), Always: true}
	if err := h.reportOptions(&s, options); err != nil {
		return Answer{}, err
	}
	if err := h.mayPost(s.To); err != nil {
		return Answer{}, err
	}
	opening, err := h.cfg.Reporter.now(ctx, s, h.now)
	if err != nil {
		return Answer{}, err
	}
	opening.Along = Along{Once: h.along.Once, Set: maps.Clone(h.along.Set)}
	if _, err := h.cfg.Desk.Begin(ctx, opening); h.wrote(err) != nil {
		return Answer{}, err
	}
	return h.marked("", "The report is on its way."), nil
}

// subject is what a report is about where nothing is said about that.
func (h *hearing) subject() Subject {
	if h.alone() {
		return OfPerson
	}
	return OfChannel
}

// alone reports whether the person talks to the bot alone.
func (h *hearing) alone() bool {
	switch a := h.in.Act.(type) {
	case Said:
		return a.Direct
	case Commanded:
		return a.Direct
	case Filled:
		return a.Direct || h.in.Where.Channel == ""
	case Pressed, Stopped, Visited:
	}
	return h.in.Where.Channel == ""
}

// lastly is how far back a report looks that is asked for.
const lastly = 24 * time.Hour
