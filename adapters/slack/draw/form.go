package draw

// This file builds Slack's modals from the bot's forms: each field becomes an
// input of its kind. What would exceed Slack's limits for values and choices
// is reported as an error before Slack is asked.

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// Slack's limits of modals, in characters.
const (
	maxFormTitle = 24
	maxFormLabel = 2000
	maxFormHint  = 150
	maxInput     = 3000
	maxOptions   = 100
	maxOption    = 75
)

// Form is a form as Slack shows it, asked for at a place.
func Form(f bot.Form, where bot.Address, d Drawing) (slackapi.ModalViewRequest, error) {
	private, err := wire.FormPrivate(f.ID, where)
	if err != nil {
		return slackapi.ModalViewRequest{}, err
	}
	var blocks []slackapi.Block
	if f.Intro != "" {
		d.Refused = MessagesOnly
		blocks = append(blocks, Card(bot.Card{Parts: []bot.Part{bot.Prose{Markdown: f.Intro}}}, d).Blocks...)
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
	return slackapi.ModalViewRequest{Type: slackapi.VTModal, CallbackID: wire.FormCallback, PrivateMetadata: private,
		Title: plainText(f.Title, maxFormTitle), Submit: plainText(submit, maxFormTitle), Close: plainText("Close", maxFormTitle),
		Blocks: slackapi.Blocks{BlockSet: blocks}}, nil
}

// input is one field.
func input(f bot.Field) (*slackapi.InputBlock, error) {
	var element slackapi.BlockElement
	switch f.Kind {
	case bot.FieldText, bot.FieldLong:
		if utf8.RuneCountInString(f.Value) > maxInput {
			return nil, fmt.Errorf("%w: %q is longer than %d characters", wire.ErrForm, f.Label, maxInput)
		}
		e := &slackapi.PlainTextInputBlockElement{Type: slackapi.METPlainTextInput, ActionID: wire.FormField, InitialValue: f.Value,
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
		e := &slackapi.MultiSelectBlockElement{Type: slackapi.MultiOptTypeUser, ActionID: wire.FormField}
		for who := range strings.FieldsSeq(f.Value) {
			if id := wire.PersonOf(who); id != "" {
				e.InitialUsers = append(e.InitialUsers, id)
			}
		}
		element = e
	default:
		return nil, fmt.Errorf("%w: %q is a field of an unknown kind", wire.ErrForm, f.Label)
	}
	b := slackapi.NewInputBlock(f.ID, plainText(f.Label, maxFormLabel), nil, element)
	if hint := cmp.Or(f.Problem, f.Hint); hint != "" {
		b.Hint = plainText(hint, maxFormHint)
	}
	b.Optional = f.Optional
	return b, nil
}

func choice(f bot.Field) (*slackapi.SelectBlockElement, error) {
	e := &slackapi.SelectBlockElement{Type: slackapi.OptTypeStatic, ActionID: wire.FormField}
	if len(f.Choices) == 0 || len(f.Choices) > maxOptions {
		return nil, fmt.Errorf("%w: %q has %d choices", wire.ErrForm, f.Label, len(f.Choices))
	}
	for _, c := range f.Choices {
		if utf8.RuneCountInString(c) > maxOption || c == "" {
			return nil, fmt.Errorf("%w: a choice of %q is empty or longer than %d characters", wire.ErrForm, f.Label, maxOption)
		}
		o := slackapi.NewOptionBlockObject(c, plainText(c, maxOption), nil)
		e.Options = append(e.Options, o)
		if c == f.Value {
			e.InitialOption = o
		}
	}
	return e, nil
}
