package intake

import (
	"context"
	"errors"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// call is a command that somebody gave, in whatever way.
type call struct{ decider }

// receive takes in what stands behind the platform's own command.
func (h call) receive(ctx context.Context, line string) (bot.Answer, error) {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	word, rest := firstWord(line)
	if c := commandOf(word); c != nil {
		return c.do(h, ctx, rest)
	}
	if c := controlWord(line); c != nil {
		return c.do(h, ctx, "")
	}
	if line == "" {
		return h.help(ctx, "")
	}
	return private("I do not know the command %s. To start a run, put `run` in front of the goal; `help` lists the commands.", text.Quoted(word, 40)), nil
}

// run starts a run, or asks for the goal.
func (h call) run(ctx context.Context, goal string) (bot.Answer, error) {
	if _, said := h.in.Act.(bot.Said); said && goal == "" {
		return h.greeting(), nil // a message opens no form
	}
	if goal == "" {
		return h.ask(ctx)
	}
	old, live, err := h.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	return newGoal{request: h.request, goal: goal, old: old, apart: live}.start(ctx)
}

// ask opens the form for a new goal.
func (h *request) ask(context.Context) (bot.Answer, error) {
	if !h.cfg.Desk.Authority.Starts(h.in.Where, h.in.By) {
		h.log("a start was refused", agent.Run{})
		return private("You may not start runs here. %s.", h.starters(h.in.Where)), nil
	}
	return bot.Answer{Form: goalForm(h.in.Where)}, nil
}

// runs lists the person's runs.
func (h call) runs(ctx context.Context, _ string) (bot.Answer, error) {
	list, err := h.Mine(ctx, h.in.By)
	if err != nil {
		return bot.Answer{}, err
	}
	return bot.Answer{Private: bot.Markdown(card.Runs(list, h.now))}, nil
}

// steer tells a run something on its way.
func (h call) steer(ctx context.Context, text string) (bot.Answer, error) {
	if text == "" {
		return private("Say what I should know: `steer TEXT`."), nil
	}
	r, err := h.target(ctx, "")
	if err != nil {
		return bot.Answer{}, err
	}
	return h.told(ctx, r, text)
}

// told gives a person's word to the run, as a way out where it waits for one.
func (h decider) told(ctx context.Context, r agent.Run, text string) (bot.Answer, error) {
	if !h.cfg.Desk.Authority.Steers(r, h.in.By) {
		h.log("steering was refused", r)
		return bot.Answer{Run: r.ID, Private: h.steerers(r)}, nil
	}
	if a, is, err := h.hint(ctx, r, text, nil); is || err != nil {
		return a, err
	}
	_, err := h.cfg.Desk.Tell(ctx, r.ID, h.in.By, agent.PersonSaid{Text: text}, h.dedupe)
	if h.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return h.marked(r.ID, "Noted."), nil
}

// controls is a command that pauses, resumes or cancels.
func controlling(word agent.Word) func(h call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(h call, ctx context.Context, rest string) (bot.Answer, error) {
		r, err := h.target(ctx, rest)
		if err != nil {
			return bot.Answer{}, err
		}
		return h.control(ctx, r.ID, word)
	}
}

// decides is a command that decides a question: the one that is named, else
// the oldest of the run that takes the word.
func decides(word string) func(h call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(h call, ctx context.Context, rest string) (bot.Answer, error) {
		id, text := firstWord(rest)
		if checkPattern.MatchString(id) {
			return h.decide(ctx, agent.CheckpointID(id), agent.CheckpointDecided{Decision: word, Text: text})
		}
		r, err := h.target(ctx, "")
		if err != nil {
			return bot.Answer{}, err
		}
		for _, c := range h.put(r) {
			if _, takes := runs.Choice(c, word); takes && r.Ended == nil {
				return h.decide(ctx, c.ID, agent.CheckpointDecided{Decision: word, Text: rest})
			}
		}
		return bot.Answer{Run: r.ID, Private: "Nothing that this word decides is being asked."}, nil
	}
}

// showing is what can be shown of a run.
type showing string

const (
	showStatus      showing = "status"
	showPlan        showing = "plan"
	showBudget      showing = "budget"
	showPermissions showing = "permissions"
)

// show is a command that shows something of a run.
func show(what showing) func(h call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(h call, ctx context.Context, rest string) (bot.Answer, error) {
		r, err := h.target(ctx, rest)
		if err != nil {
			return bot.Answer{}, err
		}
		return h.shown(r, what), nil
	}
}

func (h *request) show(ctx context.Context, run agent.RunID, what showing) (bot.Answer, error) {
	r, err := h.visible(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	return h.shown(r, what), nil
}

func (h *request) shown(r agent.Run, what showing) bot.Answer {
	var c bot.Card
	switch what {
	case showStatus:
		c = card.Standing(r, h.now)
	case showPlan:
		c = card.Plan(r)
	case showBudget:
		c = card.Budget(r)
	case showPermissions:
		c = card.Permissions(r, h.cfg.Desk.Authority.Audience)
	}
	return h.answer(r.ID, c)
}

// answer shows a card: what was asked aloud is answered aloud, everything else
// to the person alone.
func (h *request) answer(run agent.RunID, card bot.Card) bot.Answer {
	if _, said := h.in.Act.(bot.Said); !said || h.in.Message.ID == "" {
		return bot.Answer{Run: run, Private: bot.Markdown(card)}
	}
	card.Key = bot.Key{Run: run, Name: "answer/" + h.in.Message.ID, Kind: agent.PostAnswer}
	return bot.Answer{Run: run, Public: &card}
}

// watch shows a run here, too. Who may not look at the run cannot have it shown.
func (h call) watch(ctx context.Context, named string) (bot.Answer, error) {
	if named == "" {
		return private("Say which run: `watch RUN`. `runs` lists yours."), nil
	}
	r, err := h.target(ctx, named)
	if err != nil {
		return bot.Answer{}, err
	}
	where, err := h.place(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	if r.Ended != nil {
		return bot.Answer{Run: r.ID, Private: "That run has ended: there is nothing left to watch. `status` shows how it went."}, nil
	}
	err = h.cfg.Desk.Watch(ctx, r, agent.RunWatched{Where: where.String(), By: h.in.By.ID}, h.dedupe)
	if h.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return h.marked(r.ID, "Its card is shown here, too."), nil
}

// help lists the commands.
func (h call) help(ctx context.Context, _ string) (bot.Answer, error) {
	here, _, err := h.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	var list []card.Command
	for _, c := range commands() {
		if c.usage != "" {
			list = append(list, card.Command{Usage: c.usage, Does: c.does})
		}
	}
	return h.answer(here.ID, card.Help(list...)), nil
}

// greeting answers a mention that says nothing.
func (h call) greeting() bot.Answer {
	return private("I am %s. Tell me what is to be done, and I work on it in a thread; `help` lists what else I understand.", text.Escape(h.cfg.Name))
}

// missing answers commands that are not there.
func (h call) missing(context.Context, string) (bot.Answer, error) {
	return private("Memory cannot be looked at in this version yet. `help` lists what can."), nil
}

// target is the run that a command is about: the one that is named, else the
// one that lives in the thread, else the person's only live one at this place.
func (h *request) target(ctx context.Context, named string) (agent.Run, error) {
	if named != "" {
		return h.visible(ctx, agent.RunID(strings.Trim(named, "`")))
	}
	r, _, err := h.resident(ctx)
	if err != nil || r.ID != "" {
		return r, err
	}
	place := h.in.Where.Place()
	list, err := h.survey(ctx, 2, true, func(r agent.Run) bool {
		return authority.Requested(r, h.in.By) && (h.in.Where.Channel == "" || placeOf(r) == place)
	})
	switch {
	case err != nil:
		return r, err
	case len(list) == 0:
		return r, refuse("No run lives here. `runs` lists yours; name one behind the command.")
	case len(list) > 1:
		return r, refuse("You have several runs here. `runs` lists them; name one behind the command.")
	}
	return list[0], nil
}

// visible is a run that the person may look at: at the place where it answers,
// or with a part in it.
func (h *request) visible(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r, err := h.cfg.Desk.Load(ctx, run)
	if err != nil {
		return r, err
	}
	if h.looks(r) {
		return r, nil
	}
	h.log("a look at a run was refused", r)
	return agent.Run{}, agent.ErrNoRun
}

// looks reports whether the person may look at the run.
func (h *request) looks(r agent.Run) bool {
	a, here := h.cfg.Desk.Authority, h.in.Where.Channel != "" && placeOf(r) == h.in.Where.Place()
	return here || a.Steers(r, h.in.By) || a.May(r, agent.CheckApproval, h.in.By) || a.May(r, agent.CheckBudget, h.in.By)
}

// placeOf is the channel that a run answers in, empty for one that is only watched.
func placeOf(r agent.Run) string {
	a, err := bot.ParseAddress(r.Brief.ReplyTo)
	if errors.Is(err, bot.ErrAddress) {
		return ""
	}
	return a.Place()
}

// scheduling is a command about schedules of the kind.
func scheduling(kind recurring.Kind) func(h call, ctx context.Context, rest string) (bot.Answer, error) {
	return func(h call, ctx context.Context, rest string) (bot.Answer, error) {
		return scheduleOrder{h.request, kind}.receive(ctx, rest)
	}
}
