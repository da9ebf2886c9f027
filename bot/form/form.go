package form

// This file builds the forms that people fill in, each with its fields.

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The kinds of forms beside those of bot: the first word of a form's id; the id
// of what it is about follows.
const (
	Deny   = "deny"
	Edit   = "edit"
	Answer = "answer"
	Rate   = "rate"

	Schedule = "schedule"
)

// The fields of the forms beside those of bot; arguments and questions are numbered.
const (
	FieldReason   = "reason"
	FieldComment  = "comment"
	FieldJSON     = "json"
	FieldText     = "text"
	FieldWhen     = "when"
	FieldTask     = "goal"
	fieldArgument = "a"
	fieldQuestion = "q"
)

// FieldOf is the field of the i-th question, from 0.
func FieldOf(question int) string { return fieldQuestion + strconv.Itoa(question) }

// Bounds of forms, the smallest of the platforms.
const (
	maxField  = 2900 // characters in a field
	maxFields = 5
	maxName   = 45 // characters of a field's label
	maxHint   = 100
)

// ForGoal asks for a new goal, to be worked on at a place; a zero one is where the
// person talks to the bot alone.
func ForGoal(where bot.Address) *bot.Form {
	id := bot.FormRun
	if where.Channel != "" {
		id += " " + where.String()
	}
	return &bot.Form{ID: id, Title: "New goal", Submit: "Start", Fields: []bot.Field{
		{ID: bot.FieldGoal, Label: "Goal", Hint: "What is to be done, in plain words", Kind: bot.FieldLong},
		{ID: bot.FieldBudget, Label: "Budget", Hint: "US$, or usd=2,tokens=100000,time=1h,steps=50", Kind: bot.FieldText, Optional: true},
		{ID: bot.FieldApprovers, Label: "Approvers", Hint: "Who approves changes", Kind: bot.FieldPeople, Optional: true},
		{ID: bot.FieldDeadline, Label: "Deadline", Hint: "Working time at most, as 90m or 2h", Kind: bot.FieldText, Optional: true},
	}}
}

// WithAutonomy adds the choice of how much the run may do without asking.
func WithAutonomy(f bot.Form, choices []string) bot.Form {
	f.Fields = append(f.Fields, bot.Field{ID: bot.FieldAutonomy, Label: "Autonomy", Hint: "How much it may do without asking", Kind: bot.FieldChoice,
		Choices: choices, Optional: true})
	return f
}

// ToDeny asks why a question is denied; title is the question as people were asked it.
func ToDeny(c agent.Checkpoint, title string) *bot.Form {
	return &bot.Form{ID: Deny + " " + string(c.ID), Title: "Deny", Submit: "Deny", Intro: text.Quoted(title, 150),
		Fields: []bot.Field{{ID: FieldReason, Label: "Reason", Hint: "What should be done instead?", Kind: bot.FieldLong, Optional: true, Max: maxField}}}
}

// ToSteer asks for a word to the run.
func ToSteer(r agent.Run) *bot.Form {
	return &bot.Form{ID: bot.FormSteer + " " + string(r.ID), Title: "Steer", Submit: "Tell it", Intro: text.Quoted(r.Brief.Goal, 150),
		Fields: []bot.Field{{ID: FieldText, Label: "What should it know?", Hint: "It counts before the next step", Kind: bot.FieldLong, Max: maxField}}}
}

// ToSchedule changes when a schedule's turns are and, of one with a goal, what is
// done; about is what its buttons carry.
func ToSchedule(about, when, goal string, works bool) *bot.Form {
	f := &bot.Form{ID: Schedule + " " + about, Title: "Change", Submit: "Change", Fields: []bot.Field{
		{ID: FieldWhen, Label: "When", Hint: "every weekday at 9:00, tomorrow at 14:00, every 2 hours …", Kind: bot.FieldText, Value: when, Max: 200}}}
	if works && utf8.RuneCountInString(goal) <= maxField {
		f.Fields = append(f.Fields, bot.Field{ID: FieldTask, Label: "What is to be done", Kind: bot.FieldLong, Value: goal, Max: maxField})
	}
	return f
}

// ToRate asks what was wrong with a report.
func ToRate(run agent.RunID) *bot.Form {
	return &bot.Form{ID: Rate + " " + string(run), Title: "What was wrong?", Submit: "Send",
		Fields: []bot.Field{{ID: FieldComment, Label: "What should be better?", Hint: "Later runs are told", Kind: bot.FieldLong, Optional: true, Max: maxField}}}
}

// ToAnswer asks for an answer to each question, those first that have none.
func ToAnswer(c agent.Checkpoint, given map[string]string) *bot.Form {
	f := &bot.Form{ID: Answer + " " + string(c.ID), Title: "Your answer", Submit: "Answer"}
	var later []bot.Field
	for i, q := range c.Questions {
		n := strconv.Itoa(i)
		hint := q.Why
		if len(q.Choices) > 0 {
			hint = strings.Join(q.Choices, " / ")
		}
		field := bot.Field{ID: FieldOf(i), Label: text.InLine(q.Question, maxName), Hint: text.InLine(hint, maxHint), Kind: bot.FieldLong,
			Value: given[n], Optional: len(c.Questions) > 1, Max: maxField}
		f.Intro += fmt.Sprintf("%d. %s\n", i+1, text.Quoted(q.Question, 500))
		if given[n] != "" {
			later = append(later, field)
			continue
		}
		f.Fields = append(f.Fields, field)
	}
	f.Fields = append(f.Fields, later...)
	f.Fields = f.Fields[:min(len(f.Fields), maxFields)]
	if len(c.Questions) == 0 {
		f.Intro = text.Quoted(c.Title, 500)
		f.Fields = []bot.Field{{ID: FieldText, Label: "Answer", Kind: bot.FieldLong, Max: maxField}}
	}
	return f
}

// ErrUneditable says why a question cannot be edited in a form, and what to do.
var ErrUneditable = errors.New("cannot be edited here")

// ToEdit lets a person change what a question is about: a field for each
// argument where they fit, else one for the whole as JSON. Title is the question
// as people were asked it.
func ToEdit(c agent.Checkpoint, title string) (*bot.Form, error) {
	f := &bot.Form{ID: Edit + " " + string(c.ID), Title: "Edit", Submit: "Propose", Intro: text.Quoted(title, 150)}
	var whole []byte
	var err error
	if c.Ask == agent.CheckPlan {
		whole, err = json.MarshalIndent(c.Plan, "", " ")
	} else {
		var args map[string]json.RawMessage
		args, err = object(c.Arguments)
		f.Fields = argumentFields(args)
		whole = c.Arguments
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUneditable, err)
	}
	if len(f.Fields) == 0 {
		if utf8.RuneCount(whole) > maxField {
			return nil, fmt.Errorf("%w: it is too long", ErrUneditable)
		}
		f.Fields = []bot.Field{{ID: FieldJSON, Label: "As JSON", Kind: bot.FieldLong, Value: string(whole), Max: maxField}}
	}
	return f, nil
}
