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

// Forms that people sent in.

// fill is a form that was sent in.
type fill struct{ decider }

// receive takes in a form. Who may do it is looked at again: the form may be
// older than the last change.
func (req fill) receive(ctx context.Context, f bot.Filled) (bot.Answer, error) {
	what, about, _ := strings.Cut(f.Form, " ")
	id := agent.CheckpointID(about)
	switch what {
	case bot.FormRun:
		return req.filledGoal(ctx, about, f.Values)
	case formDeny:
		return req.decide(ctx, id, agent.CheckpointDecided{Decision: agent.DecideDeny, Text: strings.TrimSpace(f.Values[fieldReason])})
	case formEdit:
		return req.filledEdit(ctx, id, f.Values)
	case formAnswer:
		return req.filledAnswer(ctx, id, f.Values)
	case bot.FormSteer:
		return req.filledSteer(ctx, agent.RunID(about), strings.TrimSpace(f.Values[fieldText]))
	case formSchedule:
		return orderAbout(req.request, about).filled(ctx, about, f.Values)
	case formRate:
		return req.rated(ctx, agent.RunID(about), agent.Feedback{Rating: -1, Comment: strings.TrimSpace(f.Values[fieldComment])})
	}
	return private("I do not know this form; it may be of an older version."), nil
}

// filledSteer tells the run what was written into the form.
func (req fill) filledSteer(ctx context.Context, run agent.RunID, text string) (bot.Answer, error) {
	if text == "" {
		return private("Nothing was written, so the run was told nothing."), nil
	}
	r, err := req.cfg.Runs.LoadLive(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	return req.steerRun(ctx, r, text)
}

// filledGoal starts a run as the form says.
func (req fill) filledGoal(ctx context.Context, place string, values map[string]string) (bot.Answer, error) {
	t, err := readTerms(values)
	if err != nil {
		return bot.Answer{}, err
	}
	if req.in.Where.Channel == "" && place != "" {
		if req.in.Where, err = bot.ParseAddress(place); err != nil {
			return bot.Answer{}, refuse("This form is about no place that I know. Start again.")
		}
	}
	old, live, err := req.resident(ctx)
	if err != nil {
		return bot.Answer{}, err
	}
	goal := strings.ToValidUTF8(values[bot.FieldGoal], "\uFFFD")
	o := newGoal{request: req.request, goal: goal, old: old, apart: live}
	if !t.none() {
		o.change = func(b *agent.RunStarted) error { return t.apply(b, req.cfg.Runs.Authority, req.in.By) }
	}
	return o.start(ctx)
}

// filledEdit proposes other arguments, or another plan.
func (req fill) filledEdit(ctx context.Context, id agent.CheckpointID, values map[string]string) (bot.Answer, error) {
	q, err := req.cfg.Runs.Question(ctx, req.in.By, id)
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
		return req.commit(ctx, q, d)
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
	return req.commit(ctx, q, d)
}

// filledAnswer answers questions in a person's own words, with what was
// clicked before.
func (req fill) filledAnswer(ctx context.Context, id agent.CheckpointID, values map[string]string) (bot.Answer, error) {
	q, err := req.cfg.Runs.Question(ctx, req.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	check := q.Check
	given, err := req.partial(ctx, id)
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
	return req.commit(ctx, q, d)
}
