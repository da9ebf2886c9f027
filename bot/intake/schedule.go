package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// maxOwned is how many schedules one person may have.
const maxOwned = 100

// receive makes, lists, changes and removes schedules, and makes reports at once.
func (h scheduleOrder) receive(ctx context.Context, rest string) (bot.Answer, error) {
	word, after := firstWord(rest)
	name := namePattern.FindStringSubmatch(after)
	manages := slices.Contains([]string{"remove", "pause", "resume"}, strings.ToLower(word))
	switch word = strings.ToLower(word); {
	case word == "":
		return private("%s", h.kind.Usage()), nil
	case word == "list" && after == "":
		return h.schedules(ctx)
	case word == "now" && h.kind == recurring.ReportKind:
		return h.reportNow(ctx, after)
	case h.in.By.Bot:
		return private("Only people keep schedules."), nil
	case manages && name != nil:
		return h.manage(ctx, word, name[1])
	case manages:
		return private("Say which one: `%s %s NAME`. `%s list` has the names.", h.kind, word, h.kind), nil
	case word == "change":
		return h.reschedule(ctx, after)
	}
	return h.schedule(ctx, rest)
}

// schedule makes a schedule.
func (h scheduleOrder) schedule(ctx context.Context, text string) (bot.Answer, error) {
	s, err := h.ordered(ctx, text, recurring.Schedule{By: h.in.By.ID, Overlap: recurring.OverlapSkip})
	if err != nil {
		return bot.Answer{}, err
	}
	list, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return bot.Answer{}, err
	}
	owned := 0
	for _, other := range list {
		if other.By == s.By {
			owned++
		}
	}
	if owned >= maxOwned {
		return private("You have %d schedules already. Remove one first; `%s list` has their names.", owned, h.kind), nil
	}
	s.Name = recurring.NewName(s, list)
	return h.keepSchedule(ctx, s, "I keep it as")
}

// recurring are all schedules. Those that cannot be read are in the log and in
// the error, which is errUnreadable.
func (h scheduleOrder) recurring(ctx context.Context) ([]recurring.Schedule, error) {
	list, err := h.cfg.Recurring.List(ctx)
	if err != nil {
		h.cfg.Log.Error("not every schedule is known", "err", err)
	}
	return list, err
}

// keepSchedule writes a schedule down, and says what it is and when it comes. It
// counts from now on; what was told and begun before is not forgotten.
func (h scheduleOrder) keepSchedule(ctx context.Context, s recurring.Schedule, done string) (bot.Answer, error) {
	when, err := s.Timing()
	if err != nil {
		return bot.Answer{}, err
	}
	state, _, err := h.cfg.Recurring.Served(ctx, s)
	if err != nil {
		return bot.Answer{}, err
	}
	state.At = h.now
	paused := s.Paused
	s.Paused = "" // stands under a name of its own
	if err := h.note(ctx, map[string]string{recurring.NameSchedule + s.Name: s.Text(), recurring.NameServed + s.Name: state.Text()}); err != nil {
		return bot.Answer{}, err
	}
	s.Paused = paused
	return h.answer("", h.reader().Confirmation(done, s, when)), nil
}

func (h scheduleOrder) reader() recurring.Reader {
	return recurring.Reader{By: h.in.By.ID, At: h.in.Where, Now: h.now}
}

// found is a schedule of the sort that the person may manage.
func (h scheduleOrder) found(ctx context.Context, name string) (recurring.Schedule, error) {
	list, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return recurring.Schedule{}, err
	}
	i := slices.IndexFunc(list, func(s recurring.Schedule) bool { return s.Name == name })
	if i < 0 || (!h.manages(list[i]) && !h.sees(list[i])) {
		return recurring.Schedule{}, refuse(fmt.Sprintf("There is no such schedule here. `%s list` has the names.", h.kind))
	}
	s := list[i]
	if is := recurring.KindOf(s); is != h.kind {
		return recurring.Schedule{}, refuse(fmt.Sprintf("`%s` is a %s: the command for it begins with `%s`.", name, is.Noun(), is))
	}
	if !h.manages(s) {
		h.log("a schedule was not changed", agent.Run{}, "schedule", name)
		return recurring.Schedule{}, refuse(h.managers(s))
	}
	return s, nil
}

// managers says who may change a schedule.
func (h scheduleOrder) managers(s recurring.Schedule) string {
	a := h.cfg.Desk.Authority
	named := ""
	if list := slices.Concat(a.In(s.To).Operators, a.Admins); len(list) > 0 {
		named = " (" + bot.Mentions(list, "and") + ")"
	}
	if s.By == "" {
		return "Only operators" + named + " may do that."
	}
	return "Only its owner (" + bot.Mention(s.By) + ") and operators" + named + " may do that."
}

// manages reports whether the person may change the schedule.
func (h scheduleOrder) manages(s recurring.Schedule) bool {
	a := h.cfg.Desk.Authority
	return !h.in.By.Bot && (h.in.By.AtTerminal() || (s.By != "" && s.By == h.in.By.ID) || authority.Has(a.In(s.To).Operators, h.in.By) || authority.Has(a.Admins, h.in.By))
}

// sees reports whether the schedule is of the place that the person asks at.
func (h scheduleOrder) sees(s recurring.Schedule) bool {
	to, err := bot.ParseAddress(s.To)
	return err == nil && h.in.Where.Channel != "" && to.Place() == h.in.Where.Place()
}

// manage removes, pauses or resumes a schedule.
func (h scheduleOrder) manage(ctx context.Context, word, name string) (bot.Answer, error) {
	s, err := h.found(ctx, name)
	if err != nil {
		return bot.Answer{}, err
	}
	set, said := map[string]string{}, "Removed `"+name+"`: it does not come any more."
	switch {
	case word == "remove" && s.Fixed:
		return private("`%s` stands in the configuration file; remove it there. `%s pause %s` stops it until then.", name, h.kind, name), nil
	case word == "remove":
		set[recurring.NameSchedule+name], set[recurring.NameServed+name], set[recurring.NamePaused+name] = "", "", ""
	case word == "pause" && s.Paused != "":
		return private("`%s` is paused already, by %s.", name, bot.Mention(s.Paused)), nil
	case word == "pause":
		set[recurring.NamePaused+name] = h.in.By.ID
		said = "Paused `" + name + "`. `" + string(h.kind) + " resume " + name + "` lets it go on."
	case s.Paused == "":
		return private("`%s` is not paused.", name), nil
	default:
		if said, err = h.resumed(ctx, s, set); err != nil {
			return bot.Answer{}, err
		}
	}
	if err := h.note(ctx, set); err != nil {
		return bot.Answer{}, err
	}
	return h.answer("", bot.Card{Text: text.Plain(said), Parts: []bot.Part{bot.Prose{Markdown: said}}}), nil
}

// resumed lets a schedule go on from now: what fell due meanwhile was not missed.
func (h scheduleOrder) resumed(ctx context.Context, s recurring.Schedule, set map[string]string) (said string, err error) {
	when, err := s.Timing()
	if err != nil {
		return "", refuse("`" + s.Name + "` cannot be served: " + text.Quoted(err.Error(), 200))
	}
	at, _, err := h.cfg.Recurring.Served(ctx, s)
	if err != nil {
		return "", err
	}
	at.At = h.now
	set[recurring.NamePaused+s.Name], set[recurring.NameServed+s.Name] = "", at.Text()
	return "`" + s.Name + "` goes on. " + recurring.NextTurn(when, h.now), nil
}

// reschedule gives a schedule another time, and what else is said with it.
func (h scheduleOrder) reschedule(ctx context.Context, text string) (bot.Answer, error) {
	word, rest := firstWord(text)
	name := namePattern.FindStringSubmatch(word)
	if name == nil || rest == "" {
		return private("Say which one and when: `%s change NAME WHEN`. `%s list` has the names.", h.kind, h.kind), nil
	}
	s, err := h.found(ctx, name[1])
	if err != nil {
		return bot.Answer{}, err
	}
	if s.Fixed {
		return private("`%s` stands in the configuration file; change it there.", s.Name), nil
	}
	if s, err = h.ordered(ctx, rest, s); err != nil {
		return bot.Answer{}, err
	}
	return h.keepSchedule(ctx, s, "I changed")
}

// schedules lists those of the place and those that the person may manage.
// What is not of the place is for the person alone.
func (h scheduleOrder) schedules(ctx context.Context) (bot.Answer, error) {
	all, err := h.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return bot.Answer{}, err
	}
	var local, others []recurring.Schedule
	for _, s := range all {
		switch {
		case recurring.KindOf(s) != h.kind:
		case h.sees(s):
			local = append(local, s)
		case h.manages(s):
			others = append(others, s)
		}
	}
	card := h.reader().List(h.kind, slices.Concat(local, others), err != nil)
	if len(others) > 0 && !h.alone() {
		return bot.Answer{Private: bot.Markdown(card)}, nil
	}
	return h.answer("", card), nil
}

// reportNow posts a report at once.
func (h scheduleOrder) reportNow(ctx context.Context, options string) (bot.Answer, error) {
	s, err := h.orderedReport(ctx, recurring.Schedule{Name: "now", By: h.in.By.ID, Zone: h.zone("").String(), Always: true}, options)
	if err != nil {
		return bot.Answer{}, err
	}
	opening, err := h.cfg.Reporter.Now(ctx, s, h.now)
	if err != nil {
		return bot.Answer{}, err
	}
	opening.Dedupe = runs.Dedupe{Once: h.dedupe.Once, Set: maps.Clone(h.dedupe.Set)}
	if _, err := h.cfg.Desk.Begin(ctx, opening); h.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return h.marked("", "The report is on its way."), nil
}
