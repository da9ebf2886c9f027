package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The forms that people fill in, and how edited arguments are read back with
// the types that they had.

// The other forms are these words with the id of what they are about.
const (
	formDeny   = "deny"
	formEdit   = "edit"
	formAnswer = "answer"
	formRate   = "rate"

	formSchedule = "schedule"
)

// The fields of the other forms; those of several are numbered.
const (
	fieldReason   = "reason"
	fieldComment  = "comment"
	fieldJSON     = "json"
	fieldText     = "text"
	fieldWhen     = "when"
	fieldGoal     = "goal"
	fieldArgument = "a"
	fieldQuestion = "q"
)

// Bounds of forms, the smallest of the platforms.
const (
	maxField  = 2900 // characters in a field
	maxFields = 5
	maxName   = 45 // characters of a field's label
	maxHint   = 100
)

func goalForm(where bot.Address) *bot.Form {
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

func denyForm(c agent.Checkpoint) *bot.Form {
	return &bot.Form{ID: formDeny + " " + string(c.ID), Title: "Deny", Submit: "Deny", Intro: text.Quoted(c.Title, 150),
		Fields: []bot.Field{{ID: fieldReason, Label: "Reason", Hint: "What should be done instead?", Kind: bot.FieldLong, Optional: true, Max: maxField}}}
}

func steerForm(r agent.Run) *bot.Form {
	return &bot.Form{ID: bot.FormSteer + " " + string(r.ID), Title: "Steer", Submit: "Tell it", Intro: text.Quoted(r.Brief.Goal, 150),
		Fields: []bot.Field{{ID: fieldText, Label: "What should it know?", Hint: "It counts before the next step", Kind: bot.FieldLong, Max: maxField}}}
}

// scheduleForm changes a schedule; about is what its buttons carry.
func scheduleForm(s recurring.Schedule, about string) *bot.Form {
	f := &bot.Form{ID: formSchedule + " " + about, Title: "Change", Submit: "Change", Fields: []bot.Field{
		{ID: fieldWhen, Label: "When", Hint: "every weekday at 9:00, tomorrow at 14:00, every 2 hours …", Kind: bot.FieldText, Value: s.When, Max: 200}}}
	if s.Report == "" && utf8.RuneCountInString(s.Goal) <= maxField {
		f.Fields = append(f.Fields, bot.Field{ID: fieldGoal, Label: "What is to be done", Kind: bot.FieldLong, Value: s.Goal, Max: maxField})
	}
	return f
}

func rateForm(run agent.RunID) *bot.Form {
	return &bot.Form{ID: formRate + " " + string(run), Title: "What was wrong?", Submit: "Send",
		Fields: []bot.Field{{ID: fieldComment, Label: "What should be better?", Hint: "Later runs are told", Kind: bot.FieldLong, Optional: true, Max: maxField}}}
}

// answerForm asks for an answer to each question, those first that have none.
func answerForm(c agent.Checkpoint, given map[string]string) *bot.Form {
	f := &bot.Form{ID: formAnswer + " " + string(c.ID), Title: "Your answer", Submit: "Answer"}
	var later []bot.Field
	for i, q := range c.Questions {
		n := strconv.Itoa(i)
		hint := q.Why
		if len(q.Choices) > 0 {
			hint = strings.Join(q.Choices, " / ")
		}
		field := bot.Field{ID: fieldQuestion + n, Label: text.InLine(q.Question, maxName), Hint: text.InLine(hint, maxHint), Kind: bot.FieldLong,
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
		f.Fields = []bot.Field{{ID: fieldText, Label: "Answer", Kind: bot.FieldLong, Max: maxField}}
	}
	return f
}

// editForm lets a person change what a question is about: a field for each
// argument where they fit, else one for the whole as JSON.
func editForm(c agent.Checkpoint) (*bot.Form, error) {
	f := &bot.Form{ID: formEdit + " " + string(c.ID), Title: "Edit", Submit: "Propose", Intro: text.Quoted(c.Title, 150)}
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
		return nil, refuse("This cannot be edited here. Deny it and say what should change.")
	}
	if len(f.Fields) == 0 {
		if utf8.RuneCount(whole) > maxField {
			return nil, refuse("This is too long to be edited in a form. Deny it and say what should change.")
		}
		f.Fields = []bot.Field{{ID: fieldJSON, Label: "As JSON", Kind: bot.FieldLong, Value: string(whole), Max: maxField}}
	}
	return f, nil
}

func object(data json.RawMessage) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(data, &m)
	if err == nil && m == nil {
		err = fmt.Errorf("%w: null", bot.ErrNotAnAnswer)
	}
	return m, err
}

// argumentFields are a field for each argument, none where they do not fit.
func argumentFields(args map[string]json.RawMessage) []bot.Field {
	if len(args) > maxFields {
		return nil
	}
	var list []bot.Field
	for i, name := range slices.Sorted(maps.Keys(args)) {
		f := bot.Field{ID: fieldArgument + strconv.Itoa(i), Label: text.InLine(name, maxName), Value: shownValue(args[name]), Kind: bot.FieldText, Max: maxField}
		switch kindOf(args[name]) {
		case kindText:
			f.Optional = true
			if strings.Contains(f.Value, "\n") || len(f.Value) > 80 {
				f.Kind = bot.FieldLong
			}
		case kindBool:
			f.Kind, f.Choices = bot.FieldChoice, []string{"true", "false"}
		case kindOther:
			f.Kind = bot.FieldLong
		case kindNumber, kindNull:
		}
		if utf8.RuneCountInString(f.Value) > maxField {
			return nil
		}
		list = append(list, f)
	}
	return list
}

// valueKind is what an argument is.
type valueKind int

const (
	kindNumber valueKind = iota
	kindText
	kindBool
	kindNull
	kindOther
)

func kindOf(v json.RawMessage) valueKind {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return kindNull
	}
	switch v[0] {
	case '"':
		return kindText
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	case '{', '[':
		return kindOther
	}
	return kindNumber
}

// shownValue is an argument as a person edits it: text as it is, else JSON.
func shownValue(v json.RawMessage) string {
	var text string
	if kindOf(v) == kindText && json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

// edited builds the arguments anew from the form: each has the type that it
// had. What was not touched stays byte for byte.
func edited(original json.RawMessage, values map[string]string) (json.RawMessage, error) {
	if text, is := values[fieldJSON]; is {
		if _, err := object(json.RawMessage(text)); err != nil {
			return nil, fmt.Errorf("%w: these arguments are no JSON object", bot.ErrNotAnAnswer)
		}
		return json.RawMessage(strings.TrimSpace(text)), nil
	}
	args, err := object(original)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bot.ErrNotAnAnswer, err)
	}
	for i, name := range slices.Sorted(maps.Keys(args)) {
		text, given := values[fieldArgument+strconv.Itoa(i)]
		if !given || sameText(text, shownValue(args[name])) {
			continue
		}
		if args[name], err = retyped(args[name], text); err != nil {
			return nil, fmt.Errorf("%w: %s %w", bot.ErrNotAnAnswer, name, err)
		}
	}
	return format.JSON(args)
}

// sameText compares what a form brought back with what it showed: platforms
// change the ends of lines.
func sameText(a, b string) bool {
	return strings.ReplaceAll(a, "\r\n", "\n") == strings.ReplaceAll(b, "\r\n", "\n")
}

// retyped is a text as a value of the type that the old one has.
func retyped(old json.RawMessage, text string) (json.RawMessage, error) {
	kind := kindOf(old)
	if kind == kindText {
		return format.JSON(text)
	}
	v := json.RawMessage(strings.TrimSpace(text))
	switch {
	case json.Valid(v) && (kindOf(v) == kind || kind == kindNull):
		if kind == kindOther && v[0] != bytes.TrimSpace(old)[0] {
			return nil, valueError("is a list or an object, as before")
		}
		return v, nil
	case kind == kindNull:
		return format.JSON(text)
	case kind == kindNumber:
		return nil, valueError("is a number")
	case kind == kindBool:
		return nil, valueError("is true or false")
	}
	return nil, valueError("is JSON of the same shape as before")
}

type valueError string

func (e valueError) Error() string { return string(e) }
