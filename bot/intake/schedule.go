package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Orders about schedules: make, list, change, pause, resume, remove; and a
// report at once.

// receive makes, lists, changes and removes schedules, and makes reports at once.
func (req scheduleOrder) receive(ctx context.Context, rest string) (bot.Answer, error) {
	word, after := firstWord(rest)
	name := namePattern.FindStringSubmatch(after)
	manages := slices.Contains([]string{"remove", "pause", "resume"}, strings.ToLower(word))
	switch word = strings.ToLower(word); {
	case word == "":
		return private("%s", req.kind.Usage()), nil
	case word == "list" && after == "":
		return req.schedules(ctx)
	case word == "now" && req.kind == recurring.ReportKind:
		return req.reportNow(ctx, after)
	case req.in.By.Bot:
		return private("Only people keep schedules."), nil
	case manages && name != nil:
		return req.manage(ctx, word, name[1])
	case manages:
		return private("Say which one: `%s %s NAME`. `%s list` has the names.", req.kind, word, req.kind), nil
	case word == "change":
		return req.reschedule(ctx, after)
	}
	return req.schedule(ctx, rest)
}

// schedule makes a schedule.
func (req scheduleOrder) schedule(ctx context.Context, text string) (bot.Answer, error) {
	s, err := req.parse(ctx, text, recurring.Schedule{By: req.in.By.ID, Overlap: recurring.OverlapSkip})
	if err != nil {
		return bot.Answer{}, err
	}
	list, err := req.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return bot.Answer{}, err
	}
	if owned := recurring.Owned(list, s); owned >= recurring.MaxOwned {
		return private("You have %d schedules already. Remove one first; `%s list` has their names.", owned, req.kind), nil
	}
	s.Name = recurring.NewName(s, list)
	return req.save(ctx, s)
}

// recurring are all schedules. Those that cannot be read are in the log and in
// the error, which is errUnreadable.
func (req scheduleOrder) recurring(ctx context.Context) ([]recurring.Schedule, error) {
	list, err := req.cfg.Recurring.List(ctx)
	if err != nil {
		req.cfg.Log.Error("not every schedule is known", "err", err)
	}
	return list, err
}

// save writes a schedule down, and says what it is and when it comes. It
// counts from now on; what was told and begun before is not forgotten.
func (req scheduleOrder) save(ctx context.Context, s recurring.Schedule) (bot.Answer, error) {
	set, when, err := req.kept(ctx, s)
	if err != nil {
		return bot.Answer{}, err
	}
	if err := req.note(ctx, set); err != nil {
		return bot.Answer{}, err
	}
	return req.confirm(s, when), nil
}

// confirm shows what was understood, with its buttons also to one person alone.
func (req scheduleOrder) confirm(s recurring.Schedule, when schedule.When) bot.Answer {
	shown := req.reader().Confirmation(s, when)
	a := req.answer("", shown)
	if buttons, is := shown.Parts[len(shown.Parts)-1].(bot.Buttons); is && a.Private != "" {
		a.Buttons = &buttons
	}
	return a
}

// kept is what a store keeps of a schedule that counts from now on.
func (req scheduleOrder) kept(ctx context.Context, s recurring.Schedule) (set map[string]string, when schedule.When, err error) {
	if when, err = s.Timing(); err != nil {
		return nil, when, err
	}
	state, _, err := req.cfg.Recurring.Served(ctx, s)
	if err != nil {
		return nil, when, err
	}
	state.At = req.now
	s.Paused = "" // stands under a name of its own
	return map[string]string{recurring.NameSchedule + s.Name: s.Text(), recurring.NameServed + s.Name: state.Text()}, when, nil
}

func (req scheduleOrder) reader() recurring.Reader {
	return recurring.Reader{By: req.in.By.ID, At: req.in.Where, Now: req.now}
}

// find is a schedule of the sort that the person may manage.
func (req scheduleOrder) find(ctx context.Context, name string) (recurring.Schedule, error) {
	list, err := req.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return recurring.Schedule{}, err
	}
	i := slices.IndexFunc(list, func(s recurring.Schedule) bool { return s.Name == name })
	if i < 0 || (!req.manages(list[i]) && !req.sees(list[i])) {
		return recurring.Schedule{}, refuse(fmt.Sprintf("There is no such schedule here. `%s list` has the names.", req.kind))
	}
	s := list[i]
	if is := recurring.KindOf(s); is != req.kind {
		return recurring.Schedule{}, refuse(fmt.Sprintf("`%s` is a %s: the command for it begins with `%s`.", name, is.Noun(), is))
	}
	if !req.manages(s) {
		req.log("a schedule was not changed", agent.Run{}, "schedule", name)
		return recurring.Schedule{}, refuse(req.managers(s))
	}
	return s, nil
}

// managers says who may change a schedule.
func (req scheduleOrder) managers(s recurring.Schedule) string {
	a := req.cfg.Runs.Authority
	named := ""
	if list := slices.Concat(a.At(s.To).Operators, a.Admins); len(list) > 0 {
		named = " (" + bot.Mentions(list, "and") + ")"
	}
	if s.By == "" {
		return "Only operators" + named + " may do that."
	}
	return "Only its owner (" + bot.Mention(s.By) + ") and operators" + named + " may do that."
}

// manages reports whether the person may change the schedule.
func (req scheduleOrder) manages(s recurring.Schedule) bool {
	a := req.cfg.Runs.Authority
	return !req.in.By.Bot && (req.in.By.AtTerminal() || (s.By != "" && s.By == req.in.By.ID) || authority.Includes(a.At(s.To).Operators, req.in.By) || authority.Includes(a.Admins, req.in.By))
}

// sees reports whether the schedule is of the place that the person asks at.
func (req scheduleOrder) sees(s recurring.Schedule) bool {
	to, err := bot.ParseAddress(s.To)
	return err == nil && req.in.Where.Channel != "" && to.Place() == req.in.Where.Place()
}

// manage removes, pauses or resumes a schedule.
func (req scheduleOrder) manage(ctx context.Context, word, name string) (bot.Answer, error) {
	s, err := req.find(ctx, name)
	if err != nil {
		return bot.Answer{}, err
	}
	set, said := map[string]string{}, "Removed `"+name+"`: it does not come any more."
	switch {
	case word == "remove" && s.Fixed:
		return private("`%s` stands in the configuration file; remove it there. `%s pause %s` stops it until then.", name, req.kind, name), nil
	case word == "remove":
		set[recurring.NameSchedule+name], set[recurring.NameServed+name], set[recurring.NamePaused+name] = "", "", ""
	case word == "pause" && s.Paused != "":
		return private("`%s` is paused already, by %s.", name, bot.Mention(s.Paused)), nil
	case word == "pause":
		set[recurring.NamePaused+name] = req.in.By.ID
		said = "Paused `" + name + "`. `" + string(req.kind) + " resume " + name + "` lets it go on."
	case s.Paused == "":
		return private("`%s` is not paused.", name), nil
	default:
		if said, err = req.resumed(ctx, s, set); err != nil {
			return bot.Answer{}, err
		}
	}
	if err := req.note(ctx, set); err != nil {
		return bot.Answer{}, err
	}
	return req.about(s, bot.Card{Text: text.Plain(said), Parts: []bot.Part{bot.Prose{Markdown: said}}}), nil
}

// about is an answer about a schedule.
func (req scheduleOrder) about(s recurring.Schedule, card bot.Card) bot.Answer {
	a := req.answer("", card)
	a.Confidential = !req.sees(s)
	return a
}

// resumed lets a schedule go on from now: what fell due meanwhile was not missed.
func (req scheduleOrder) resumed(ctx context.Context, s recurring.Schedule, set map[string]string) (said string, err error) {
	when, err := s.Timing()
	if err != nil {
		return "", refuse("`" + s.Name + "` cannot be served: " + text.Quoted(err.Error(), 200))
	}
	at, _, err := req.cfg.Recurring.Served(ctx, s)
	if err != nil {
		return "", err
	}
	at.At = req.now
	set[recurring.NamePaused+s.Name], set[recurring.NameServed+s.Name] = "", at.Text()
	return "`" + s.Name + "` goes on. " + recurring.NextTurn(when, req.now), nil
}

// reschedule gives a schedule another time, and what else is said with it.
func (req scheduleOrder) reschedule(ctx context.Context, text string) (bot.Answer, error) {
	word, rest := firstWord(text)
	name := namePattern.FindStringSubmatch(word)
	if name == nil || rest == "" {
		return private("Say which one and when: `%s change NAME WHEN`. `%s list` has the names.", req.kind, req.kind), nil
	}
	s, err := req.find(ctx, name[1])
	if err != nil {
		return bot.Answer{}, err
	}
	if s.Fixed {
		return private("`%s` stands in the configuration file; change it there.", s.Name), nil
	}
	if s, err = req.parse(ctx, rest, s); err != nil {
		return bot.Answer{}, err
	}
	return req.save(ctx, s)
}

// orderAbout is an order about the schedule that a button or a form names, with
// the run that made it behind.
func orderAbout(req *request, about string) scheduleOrder {
	if strings.HasPrefix(about, string(recurring.ReportKind)+"-") {
		return scheduleOrder{req, recurring.ReportKind}
	}
	return scheduleOrder{req, recurring.GoalKind}
}

// pressed takes a schedule back, or opens the form that changes it.
func (req scheduleOrder) pressed(ctx context.Context, b bot.Button) (bot.Answer, error) {
	name, run, _ := strings.Cut(b.ID, " ")
	s, err := req.find(ctx, name)
	if err != nil {
		return bot.Answer{}, err
	}
	if b.Word == bot.WordChange {
		return bot.Answer{Form: form.ToSchedule(b.ID, s.When, s.Goal, s.Report == "")}, nil
	}
	set := map[string]string{recurring.NameSchedule + name: "", recurring.NameServed + name: "", recurring.NamePaused + name: ""}
	if err := req.revise(ctx, agent.RunID(run), name, agent.RunControlled{Word: agent.WordUndo}, set); err != nil {
		return bot.Answer{}, err
	}
	if run != "" { // its card says so
		return private("Undone: it does not come."), nil
	}
	when, err := s.Timing()
	if err != nil {
		return private("Undone: it does not come."), nil //nolint:nilerr // it could not be served, and is gone
	}
	undone := card.Scheduling(req.reader().Made(s, when), card.ScheduleNow{Revised: &agent.RunControlled{Word: agent.WordUndo, By: req.in.By.ID}})
	return bot.Answer{Instead: &undone}, nil
}

// filled changes a schedule as the form says.
func (req scheduleOrder) filled(ctx context.Context, about string, values map[string]string) (bot.Answer, error) {
	name, run, _ := strings.Cut(about, " ")
	s, err := req.find(ctx, name)
	if err != nil {
		return bot.Answer{}, err
	}
	line, err := bot.TimeWords(values[form.FieldWhen], "")
	if err != nil {
		return bot.Answer{}, &form.FieldError{Field: form.FieldWhen, Why: err.Error()}
	}
	if goal := strings.TrimSpace(values[form.FieldTask]); s.Report == "" {
		line += ": " + cmp.Or(goal, s.Goal)
	}
	if s, err = req.parse(ctx, line, s); err != nil {
		if no, is := errors.AsType[*refusedError](err); is { // most are about the time
			err = &form.FieldError{Field: form.FieldWhen, Why: text.Plain(no.text)}
		}
		return bot.Answer{}, err
	}
	set, when, err := req.kept(ctx, s)
	if err != nil {
		return bot.Answer{}, err
	}
	made := req.reader().Made(s, when)
	now := agent.RunControlled{Word: agent.WordChange, Reason: "**" + text.Escape(format.Capital(made.When)) + "**: " + made.What}
	if err := req.revise(ctx, agent.RunID(run), name, now, set); err != nil {
		return bot.Answer{}, err
	}
	return req.confirm(s, when), nil
}

// revise gives names their values and, where a run made the schedule, lets its
// card say so.
func (req scheduleOrder) revise(ctx context.Context, run agent.RunID, name string, now agent.RunControlled, set map[string]string) error {
	if !runPattern.MatchString(string(run)) {
		return req.note(ctx, set)
	}
	r, err := req.cfg.Runs.Load(ctx, run)
	if errors.Is(err, agent.ErrNoRun) || (err == nil && (r.Report == nil || r.Report.Schedule == nil || r.Report.Schedule.Name != name)) {
		return req.note(ctx, set) // it expired
	}
	if err != nil {
		return err
	}
	now.By = req.in.By.ID
	return req.wrote(req.cfg.Runs.Append(ctx, r, agent.Main, now, false, req.withNames(set)))
}

// schedules lists those of the place and those that the person may manage.
// What is not of the place is for the person alone.
func (req scheduleOrder) schedules(ctx context.Context) (bot.Answer, error) {
	all, err := req.recurring(ctx)
	if err != nil && !errors.Is(err, recurring.ErrUnreadable) {
		return bot.Answer{}, err
	}
	var local, others []recurring.Schedule
	for _, s := range all {
		switch {
		case recurring.KindOf(s) != req.kind:
		case req.sees(s):
			local = append(local, s)
		case req.manages(s):
			others = append(others, s)
		}
	}
	a := req.answer("", req.reader().List(req.kind, slices.Concat(local, others), err != nil))
	a.Confidential = len(others) > 0
	return a, nil
}

// reportNow posts a report at once.
func (req scheduleOrder) reportNow(ctx context.Context, options string) (bot.Answer, error) {
	s, err := req.parseReport(ctx, recurring.Schedule{Name: "now", By: req.in.By.ID, Zone: req.zone("").String(), Always: true}, options)
	if err != nil {
		return bot.Answer{}, err
	}
	opening, err := req.cfg.Reporter.Now(ctx, s, req.now)
	if err != nil {
		return bot.Answer{}, err
	}
	opening.Run = req.cfg.Runs.Journals.NewRun(req.dedupe.Anchor)
	opening.Dedupe = runs.Dedupe{Once: req.dedupe.Once, Anchor: req.dedupe.Anchor, Set: maps.Clone(req.dedupe.Set)}
	if _, err := req.cfg.Runs.Begin(ctx, opening); req.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return req.acknowledge("", "The report is on its way."), nil
}
