package intake

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// fill is a form that was sent in.
type fill struct{ decider }

// receive takes in a form. Who may do it is looked at again: the form may be
// older than the last change.
func (h fill) receive(ctx context.Context, f bot.Filled) (bot.Answer, error) {
	what, about, _ := strings.Cut(f.Form, " ")
	id := agent.CheckpointID(about)
	switch what {
	case bot.FormRun:
		return h.filledGoal(ctx, about, f.Values)
	case formDeny:
		return h.decide(ctx, id, agent.CheckpointDecided{Decision: agent.DecideDeny, Text: strings.TrimSpace(f.Values[fieldReason])})
	case formEdit:
		return h.filledEdit(ctx, id, f.Values)
	case formAnswer:
		return h.filledAnswer(ctx, id, f.Values)
	case bot.FormSteer:
		return h.filledSteer(ctx, agent.RunID(about), strings.TrimSpace(f.Values[fieldText]))
	case formRate:
		return h.rated(ctx, agent.RunID(about), agent.Feedback{Rating: -1, Comment: strings.TrimSpace(f.Values[fieldComment])})
	}
	return private("I do not know this form; it may be of an older version."), nil
}

// filledSteer tells the run what was written into the form.
func (h fill) filledSteer(ctx context.Context, run agent.RunID, text string) (bot.Answer, error) {
	if text == "" {
		return private("Nothing was written, so the run was told nothing."), nil
	}
	r, err := h.cfg.Desk.Living(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	return h.told(ctx, r, text)
}

// filledGoal starts a run as the form says.
func (h fill) filledGoal(ctx context.Context, place string, values map[string]string) (bot.Answer, error) {
	t, err := readTerms(values)
	if err != nil {
		return bot.Answer{}, err
	}
	if h.in.Where.Channel == "" && place != "" {
		if h.in.Where, err = bot.ParseAddress(place); err != nil {
			return bot.Answer{}, refuse("This form is about no place that I know. Start again.")
		}
	}
	old, live, err := h.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	goal := strings.ToValidUTF8(values[bot.FieldGoal], "\uFFFD")
	return newGoal{request: h.request, goal: goal, old: old, apart: live,
		change: func(b *agent.RunStarted) error { return t.apply(b, h.cfg.Desk.Authority, h.in.By) }}.start(ctx)
}

// filledEdit proposes other arguments, or another plan.
func (h fill) filledEdit(ctx context.Context, id agent.CheckpointID, values map[string]string) (bot.Answer, error) {
	q, err := h.cfg.Desk.Question(ctx, h.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	check := q.Check
	d := agent.CheckpointDecided{Decision: agent.DecideEdit}
	if check.Ask == agent.CheckPlan {
		var p agent.Plan
		if err := json.Unmarshal([]byte(values[fieldJSON]), &p); err != nil {
			return private("This is no plan: %s. Press Edit once more.", text.Escape(text.Safe(err.Error()))), nil
		}
		d.Plan = &p
		return h.commit(ctx, q, d)
	}
	d.Arguments, err = edited(check.Arguments, values)
	if errors.Is(err, bot.ErrNotAnAnswer) {
		return private("The arguments stay as they were: %s. Press Edit once more.", text.Escape(text.Safe(err.Error()))), nil
	}
	if err != nil {
		return bot.Answer{}, err
	}
	if agent.Digest(check.Tool, d.Arguments) == agent.Digest(check.Tool, check.Arguments) {
		return private("Nothing was changed, so the question is still open."), nil
	}
	return h.commit(ctx, q, d)
}

// filledAnswer answers questions in a person's own words, with what was
// clicked before.
func (h fill) filledAnswer(ctx context.Context, id agent.CheckpointID, values map[string]string) (bot.Answer, error) {
	q, err := h.cfg.Desk.Question(ctx, h.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	check := q.Check
	given, err := h.partial(ctx, id)
	if err != nil {
		return bot.Answer{}, err
	}
	for i := range check.Questions {
		n := strconv.Itoa(i)
		if text := strings.TrimSpace(values[fieldQuestion+n]); text != "" {
			given[n] = text
		}
	}
	d := agent.CheckpointDecided{Decision: agent.DecideAnswer, Text: strings.TrimSpace(values[fieldText]), Answers: merged(check, given)}
	if d.Text == "" && len(d.Answers) == 0 {
		return private("That is no answer yet: say something, or press Decide for me."), nil
	}
	return h.commit(ctx, q, d)
}
