package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

// Slack's limits of modals, in characters.
const (
	formCallback = "form"
	formField    = "v" // the action id of every field; the block's id is the field's
	maxFormTitle = 24
	maxFormLabel = 2000
	maxFormHint  = 150
	maxInput     = 3000
	maxOptions   = 100
	maxOption    = 75
	maxPrivate   = 3000
)

// errForm says why a form cannot be shown in a modal.
var errForm = errors.New("the form does not fit into Slack")

// formPlace is what a modal carries unseen: which form it is, and where it was
// asked for, which Slack does not tell when it comes back.
type formPlace struct {
	Form  string `json:"form"`
	Where string `json:"where,omitempty"`
}

// ask opens a form.
func (s *Slack) ask(ctx context.Context, n *notice, f bot.Form) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	view, err := s.modal(ctx, f, n.in.Where)
	if err != nil {
		s.whisper(ctx, n, "This form cannot be shown in Slack: "+err.Error()+". Use the command line or the web page instead.")
		return
	}
	_, err = s.api.OpenViewContext(ctx, n.trigger, view)
	s.noteCall(err)
	switch code := codeOf(err); {
	case err == nil:
	case code == "expired_trigger_id" || code == "exchanged_trigger_id" || code == "invalid_trigger_id" || n.trigger == "":
		s.whisper(ctx, n, tooLate)
	default:
		s.grumble("a form could not be opened", n.in.Where, err)
		s.whisper(ctx, n, "The form could not be opened. Please click again.")
	}
}

// modal is a form as Slack shows it.
func (s *Slack) modal(ctx context.Context, f bot.Form, where bot.Address) (slackapi.ModalViewRequest, error) {
	private, err := json.Marshal(formPlace{Form: f.ID, Where: where.String()})
	if err != nil || utf8.RuneCount(private) > maxPrivate {
		return slackapi.ModalViewRequest{}, fmt.Errorf("%w: its id is too long", errForm)
	}
	var blocks []slackapi.Block
	if f.Intro != "" {
		blocks = append(blocks, s.draw(ctx, bot.Card{Parts: []bot.Part{bot.Prose{Markdown: f.Intro}}}, messagesOnly).blocks...)
	}
	for _, field := range f.Fields {
		b, err := input(field)
		if err != nil {
			return slackapi.ModalViewRequest{}, err
		}
		blocks = append(blocks, b)
	}
	submit := f.Submit
	if submit == "" {
		submit = "Send"
	}
	return slackapi.ModalViewRequest{Type: slackapi.VTModal, CallbackID: formCallback, PrivateMetadata: string(private),
		Title: plainText(f.Title, maxFormTitle), Submit: plainText(submit, maxFormTitle), Close: plainText("Close", maxFormTitle),
		Blocks: slackapi.Blocks{BlockSet: blocks}}, nil
}

// input is one field.
func input(f bot.Field) (*slackapi.InputBlock, error) {
	var element slackapi.BlockElement
	switch f.Kind {
	case bot.FieldText, bot.FieldLong:
		if utf8.RuneCountInString(f.Value) > maxInput {
			return nil, fmt.Errorf("%w: %q is longer than %d characters", errForm, f.Label, maxInput)
		}
		e := &slackapi.PlainTextInputBlockElement{Type: slackapi.METPlainTextInput, ActionID: formField, InitialValue: f.Value,
			Multiline: f.Kind == bot.FieldLong, MaxLength: min(f.Max, maxInput)}
		if f.Max > 0 {
			e.MaxLength = max(e.MaxLength, utf8.RuneCountInString(f.Value), 1)
		}
		element = e
	case bot.FieldChoice:
		e, err := choice(f)
		if err != nil {
			return nil, err
		}
		element = e
	case bot.FieldPeople:
		e := &slackapi.MultiSelectBlockElement{Type: slackapi.MultiOptTypeUser, ActionID: formField}
		for who := range strings.FieldsSeq(f.Value) {
			if id, is := strings.CutPrefix(who, Platform+":"); is && !strings.HasPrefix(id, "S") {
				e.InitialUsers = append(e.InitialUsers, id)
			}
		}
		element = e
	default:
		return nil, fmt.Errorf("%w: %q is a field of an unknown kind", errForm, f.Label)
	}
	b := slackapi.NewInputBlock(f.ID, plainText(f.Label, maxFormLabel), nil, element)
	if f.Hint != "" {
		b.Hint = plainText(f.Hint, maxFormHint)
	}
	b.Optional = f.Optional
	return b, nil
}

func choice(f bot.Field) (*slackapi.SelectBlockElement, error) {
	e := &slackapi.SelectBlockElement{Type: slackapi.OptTypeStatic, ActionID: formField}
	if len(f.Choices) == 0 || len(f.Choices) > maxOptions {
		return nil, fmt.Errorf("%w: %q has %d choices", errForm, f.Label, len(f.Choices))
	}
	for _, c := range f.Choices {
		if utf8.RuneCountInString(c) > maxOption || c == "" {
			return nil, fmt.Errorf("%w: a choice of %q is empty or longer than %d characters", errForm, f.Label, maxOption)
		}
		o := slackapi.NewOptionBlockObject(c, plainText(c, maxOption), nil)
		e.Options = append(e.Options, o)
		if c == f.Value {
			e.InitialOption = o
		}
	}
	return e, nil
}

// filled reads a form that was sent in. A modal of somebody else's is none.
func filled(n *notice, i interaction) (*notice, error) {
	if i.View.Callback != formCallback {
		return nil, nil //nolint:nilnil // not ours
	}
	var p formPlace
	if err := json.Unmarshal([]byte(i.View.Private), &p); err != nil || p.Form == "" {
		return nil, errors.New("a form without its id")
	}
	where, err := bot.ParseAddress(p.Where)
	if err != nil && p.Where != "" {
		return nil, err
	}
	values := map[string]string{}
	for field, actions := range i.View.State.Values {
		a, is := actions[formField]
		if !is {
			continue
		}
		values[field] = a.Value
		if a.Option.Value != "" {
			values[field] = a.Option.Value
		}
		if len(a.Users) > 0 {
			people := make([]string, len(a.Users))
			for i, u := range a.Users {
				people[i] = principal(u)
			}
			values[field] = strings.Join(people, " ")
		}
	}
	n.alone = where.Channel == ""
	n.in = bot.Inbound{Keys: keyOf("form", i.View.ID, i.View.Hash, i.User.ID), Where: where,
		Act: bot.Filled{Form: p.Form, Values: values, Direct: n.alone || alone(where.Channel)}}
	return n, nil
}
