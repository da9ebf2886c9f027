package bot

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// sort is which of the two commands it is.
type sort string

const (
	sortReport sort = "report"
	sortGoal   sort = "schedule"
)

var namePattern = regexp.MustCompile("^`?([A-Za-z0-9][A-Za-z0-9._-]{0,63})`?$")

// sortOf is which of the two a schedule is.
func sortOf(s Schedule) sort {
	if s.Report != "" {
		return sortReport
	}
	return sortGoal
}

func (k sort) noun() string {
	if k == sortReport {
		return "scheduled report"
	}
	return "recurring goal"
}

func (k sort) usage() string {
	if k == sortReport {
		return "Say when: `report every weekday 9:00 Europe/Berlin here`; or `report now`, `report list`, " +
			"`report change NAME WHEN`, `report pause NAME`, `report resume NAME`, `report remove NAME`."
	}
	return "Say when and what: `schedule every monday 8:00: GOAL`; or `schedule list`, `schedule change NAME WHEN`, " +
		"`schedule pause NAME`, `schedule resume NAME`, `schedule remove NAME`."
}

// maxOwned is how many schedules one person may have.
const maxOwned = 100

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
		case h.in.By.Bot:
			return private("Only people keep schedules."), nil
		case manages && name != nil:
			return h.manage(ctx, kind, word, name[1])
		case manages:
			return private("Say which one: `%s %s NAME`. `%s list` has the names.", kind, word, kind), nil
		case word == "change":
			return h.reschedule(ctx, kind, after)
		}
		return h.schedule(ctx, kind, rest)
	}
}

// schedule makes a schedule.
func (h *hearing) schedule(ctx context.Context, kind sort, text string) (Answer, error) {
	s, err := h.ordered(ctx, kind, text, Schedule{By: h.in.By.ID, Overlap: OverlapSkip})
	if err != nil {
		return Answer{}, err
	}
	list, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, errUnreadable) {
		return Answer{}, err
	}
	owned := 0
	for _, other := range list {
		if other.By == s.By {
			owned++
		}
	}
	if owned >= maxOwned {
		return private("You have %d schedules already. Remove one first; `%s list` has their names.", owned, kind), nil
	}
	s.Name = newName(s, list)
	return h.keepSchedule(ctx, s, "I keep it as")
}

// recurring are all schedules. Those that cannot be read are in the log and in
// the error, which is errUnreadable.
func (h *hearing) recurring(ctx context.Context) ([]Schedule, error) {
	list, err := h.cfg.Recurring.List(ctx)
	if err != nil {
		h.cfg.Log.Error("not every schedule is known", "err", err)
	}
	return list, err
}

// keepSchedule writes a schedule down, and says what it is and when it comes. It
// counts from now on; what was told and begun before is not forgotten.
func (h *hearing) keepSchedule(ctx context.Context, s Schedule, done string) (Answer, error) {
	when, err := s.timing()
	if err != nil {
		return Answer{}, err
	}
	state, _, err := h.cfg.Recurring.served(ctx, s)
	if err != nil {
		return Answer{}, err
	}
	state.At = h.now
	paused := s.Paused
	s.Paused = "" // stands under a name of its own
	if err := h.setAll(ctx, map[string]string{nameSchedule + s.Name: s.text(), nameServed + s.Name: state.text()}); err != nil {
		return Answer{}, err
	}
	s.Paused = paused
	return h.answer("", h.reading().kept(done, s, when)), nil
}

func (h *hearing) reading() reading { return reading{h.in.By.ID, h.in.Where, h.now} }

// setAll gives names values in the commit that writes the event down.
func (h *hearing) setAll(ctx context.Context, set map[string]string) error {
	along := h.with(set)
	_, err := h.cfg.Desk.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Once: along.Once, Set: along.Set})
	return h.wrote(err)
}

// found is a schedule of the sort that the person may manage.
func (h *hearing) found(ctx context.Context, kind sort, name string) (Schedule, error) {
	list, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, errUnreadable) {
		return Schedule{}, err
	}
	i := slices.IndexFunc(list, func(s Schedule) bool { return s.Name == name })
	if i < 0 || (!h.manages(list[i]) && !h.sees(list[i])) {
		return Schedule{}, refuse(fmt.Sprintf("There is no such schedule here. `%s list` has the names.", kind))
	}
	s := list[i]
	if is := sortOf(s); is != kind {
		return Schedule{}, refuse(fmt.Sprintf("`%s` is a %s: the command for it begins with `%s`.", name, is.noun(), is))
	}
	if !h.manages(s) {
		h.log("a schedule was not changed", agent.Run{}, "schedule", name)
		return Schedule{}, refuse(h.managers(s))
	}
	return s, nil
}

// managers says who may change a schedule.
func (h *hearing) managers(s Schedule) string {
	a := h.cfg.Desk.Authority
	named := ""
	if list := slices.Concat(a.in(s.To).Operators, a.Admins); len(list) > 0 {
		named = " (" + mentions(list, "and") + ")"
	}
	if s.By == "" {
		return "Only operators" + named + " may do that."
	}
	return "Only its owner (" + Mention(s.By) + ") and operators" + named + " may do that."
}

// manages reports whether the person may change the schedule.
func (h *hearing) manages(s Schedule) bool {
	a := h.cfg.Desk.Authority
	return !h.in.By.Bot && (h.in.By.terminal() || (s.By != "" && s.By == h.in.By.ID) || has(a.in(s.To).Operators, h.in.By) || has(a.Admins, h.in.By))
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
	set, said := map[string]string{}, "Removed `"+name+"`: it does not come any more."
	switch {
	case word == "remove" && s.Fixed:
		return private("`%s` stands in the configuration file; remove it there. `%s pause %s` stops it until then.", name, kind, name), nil
	case word == "remove":
		set[nameSchedule+name], set[nameServed+name], set[namePaused+name] = "", "", ""
	case word == "pause" && s.Paused != "":
		return private("`%s` is paused already, by %s.", name, Mention(s.Paused)), nil
	case word == "pause":
		set[namePaused+name] = h.in.By.ID
		said = "Paused `" + name + "`. `" + string(kind) + " resume " + name + "` lets it go on."
	case s.Paused == "":
		return private("`%s` is not paused.", name), nil
	default:
		if said, err = h.resumed(ctx, s, set); err != nil {
			return Answer{}, err
		}
	}
	if err := h.setAll(ctx, set); err != nil {
		return Answer{}, err
	}
	return h.answer("", Card{Text: plain(said), Parts: []Part{Prose{said}}}), nil
}

// resumed lets a schedule go on from now: what fell due meanwhile was not missed.
func (h *hearing) resumed(ctx context.Context, s Schedule, set map[string]string) (said string, err error) {
	when, err := s.timing()
	if err != nil {
		return "", refuse("`" + s.Name + "` cannot be served: " + quoted(err.Error(), 200))
	}
	at, _, err := h.cfg.Recurring.served(ctx, s)
	if err != nil {
		return "", err
	}
	at.At = h.now
	set[namePaused+s.Name], set[nameServed+s.Name] = "", at.text()
	return "`" + s.Name + "` goes on. " + nextTurn(when, h.now), nil
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
	if s, err = h.ordered(ctx, kind, rest, s); err != nil {
		return Answer{}, err
	}
	return h.keepSchedule(ctx, s, "I changed")
}

// schedules lists those of the place and those that the person may manage.
// What is not of the place is for the person alone.
func (h *hearing) schedules(ctx context.Context, kind sort) (Answer, error) {
	all, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, errUnreadable) {
		return Answer{}, err
	}
	var local, others []Schedule
	for _, s := range all {
		switch {
		case sortOf(s) != kind:
		case h.sees(s):
			local = append(local, s)
		case h.manages(s):
			others = append(others, s)
		}
	}
	card := h.reading().list(kind, slices.Concat(local, others), err != nil)
	if len(others) > 0 && !h.alone() {
		return Answer{Private: Markdown(card)}, nil
	}
	return h.answer("", card), nil
}
