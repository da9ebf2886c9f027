package intake

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Forms that people sent in.

// maxWhy bounds what a reader of JSON says of what was typed, in characters.
const maxWhy = 100

// fill is a form that was sent in.
type fill struct{ decider }

// receive takes in a form. Who may do it is looked at again: the form may be
// older than the last change.
func (req fill) receive(ctx context.Context, f bot.Filled) (bot.Answer, error) {
	a, err := req.take(ctx, f)
	if wrong, is := errors.AsType[*form.FieldError](err); is {
		return req.again(ctx, f, wrong)
	}
	if err == nil {
		err = drawer{req.request}.forget(ctx, keptForm)
	}
	return a, err
}

// take does what a form is for. A value that cannot be taken is a form.FieldError.
func (req fill) take(ctx context.Context, f bot.Filled) (bot.Answer, error) {
	what, about, _ := strings.Cut(f.Form, " ")
	id := agent.CheckpointID(about)
	switch what {
	case bot.FormRun:
		a, err := req.filledGoal(ctx, about, f.Values)
		if errors.Is(err, runs.ErrEmptyGoal) {
			err = &form.FieldError{Field: bot.FieldGoal, Why: "Say what is to be done."}
		}
		return a, err
	case form.Deny:
		return req.decide(ctx, id, agent.CheckpointDecided{Decision: agent.DecideDeny, Text: strings.TrimSpace(f.Values[form.FieldReason])})
	case form.Edit:
		return req.filledEdit(ctx, id, f.Values)
	case form.Answer:
		return req.filledAnswer(ctx, id, f.Values)
	case bot.FormSteer:
		return req.filledSteer(ctx, agent.RunID(about), strings.TrimSpace(f.Values[form.FieldText]))
	case form.Schedule:
		return orderAbout(req.request, about).filled(ctx, about, f.Values)
	case form.Rate:
		return req.rated(ctx, agent.RunID(about), agent.Feedback{Rating: -1, Comment: strings.TrimSpace(f.Values[form.FieldComment])})
	}
	return private("I do not know this form; it may be of an older version."), nil
}

// filledSteer tells the run what was written into the form.
func (req fill) filledSteer(ctx context.Context, run agent.RunID, text string) (bot.Answer, error) {
	if text == "" {
		return bot.Answer{}, &form.FieldError{Field: form.FieldText, Why: "Write what the run should know."}
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
		if err := json.Unmarshal([]byte(values[form.FieldJSON]), &p); err != nil {
			return bot.Answer{}, &form.FieldError{Field: form.FieldJSON, Why: "This is no plan: " + text.InLine(err.Error(), maxWhy) + "."}
		}
		d.Plan = &p
		return req.commit(ctx, q, d)
	}
	if d.Arguments, err = form.Edited(check.Arguments, values); err != nil {
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
		if text := strings.TrimSpace(values[form.FieldOf(i)]); text != "" {
			given[n] = text
		}
	}
	d := agent.CheckpointDecided{Decision: agent.DecideAnswer, Text: strings.TrimSpace(values[form.FieldText]), Answers: merged(check, given)}
	if d.Text == "" && len(d.Answers) == 0 {
		field := form.FieldText
		if len(check.Questions) > 0 {
			field = form.FieldOf(0)
		}
		return bot.Answer{}, &form.FieldError{Field: field, Why: "That is no answer yet: say something, or press Decide for me."}
	}
	return req.commit(ctx, q, d)
}
