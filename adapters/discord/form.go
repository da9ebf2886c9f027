package discord

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/markdown"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// Discord's limits of forms, in characters.
const (
	formPrefix   = "form:"
	maxFormTitle = 45
	maxFormLabel = 45
	maxFormHint  = 100
	maxInput     = 4000
	maxFields    = 5
	maxIntro     = 2000
)

// Kinds of components in forms.
const (
	fieldText   = 4
	fieldPeople = 5
	fieldLabel  = 18
)

// errForm says why a form cannot be shown.
var errForm = errors.New("the form does not fit into Discord")

// field is a component of a form.
type field struct {
	Kind        int           `json:"type"`
	Label       string        `json:"label,omitempty"`
	Description string        `json:"description,omitempty"`
	Content     string        `json:"content,omitempty"`
	Component   *field        `json:"component,omitempty"`
	CustomID    string        `json:"custom_id,omitempty"`
	Style       int           `json:"style,omitempty"`
	Value       string        `json:"value,omitempty"`
	Max         int           `json:"max_length,omitempty"`
	MinValues   *int          `json:"min_values,omitempty"`
	MaxValues   int           `json:"max_values,omitempty"`
	Required    *bool         `json:"required,omitempty"`
	Options     []fieldChoice `json:"options,omitempty"`
	Defaults    []fieldPerson `json:"default_values,omitempty"`
}

type fieldChoice struct {
	Label   string `json:"label"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"`
}

type fieldPerson struct {
	ID   string `json:"id"`
	Kind string `json:"type"`
}

// modal is a form as Discord shows it. What it says before its fields is left
// out where there is no room beside them: the fields say what they take.
func modal(f bot.Form) (response, error) {
	out := responseData{CustomID: formPrefix + f.ID, Title: plainText(f.Title, maxFormTitle)}
	switch {
	case len(out.CustomID) > maxCustomID:
		return response{}, fmt.Errorf("%w: its id is too long", errForm)
	case len(f.Fields) == 0 || len(f.Fields) > maxFields:
		return response{}, fmt.Errorf("%w: it has %d fields", errForm, len(f.Fields))
	}
	if f.Intro != "" && len(f.Fields) < maxFields {
		intro, _ := markdown.Head(strings.Join(markdownBlocks(f.Intro), "\n"), maxIntro)
		out.Components = append(out.Components, field{Kind: kindText, Content: drawing{}.people(intro)})
	}
	for _, one := range f.Fields {
		inner, err := input(one)
		if err != nil {
			return response{}, err
		}
		label := field{Kind: fieldLabel, Label: plainText(one.Label, maxFormLabel), Component: &inner}
		if one.Hint != "" {
			label.Description = plainText(one.Hint, maxFormHint)
		}
		out.Components = append(out.Components, label)
	}
	return response{Kind: discordgo.InteractionResponseModal, Data: out}, nil
}

// input is what a field is filled in with.
func input(f bot.Field) (field, error) {
	required := !f.Optional
	out := field{CustomID: f.ID, Required: &required}
	if f.ID == "" || len(f.ID) > maxCustomID {
		return out, fmt.Errorf("%w: a field has no id, or one that is too long", errForm)
	}
	switch f.Kind {
	case bot.FieldText, bot.FieldLong:
		return textInput(f, out)
	case bot.FieldChoice:
		return choiceInput(f, out)
	case bot.FieldPeople:
		out.Kind, out.MaxValues = fieldPeople, maxOptions
		if f.Optional {
			out.MinValues = new(int)
		}
		for who := range strings.FieldsSeq(f.Value) {
			if id, is := strings.CutPrefix(who, Platform+":"); is && api.IsID(id) {
				out.Defaults = append(out.Defaults, fieldPerson{ID: id, Kind: "user"})
			}
		}
		return out, nil
	}
	return out, fmt.Errorf("%w: %q is a field of an unknown kind", errForm, f.Label)
}

func textInput(f bot.Field, out field) (field, error) {
	out.Kind, out.Style, out.Value = fieldText, 1, f.Value
	if f.Kind == bot.FieldLong {
		out.Style = 2
	}
	if width(f.Value) > maxInput {
		return out, fmt.Errorf("%w: %q is longer than %d characters", errForm, f.Label, maxInput)
	}
	if f.Max > 0 {
		out.Max = min(max(f.Max, width(f.Value)), maxInput)
	}
	return out, nil
}

func choiceInput(f bot.Field, out field) (field, error) {
	out.Kind = kindMenu
	if len(f.Choices) == 0 || len(f.Choices) > maxOptions {
		return out, fmt.Errorf("%w: %q has %d choices", errForm, f.Label, len(f.Choices))
	}
	for _, c := range f.Choices {
		if c == "" || width(c) > maxOption {
			return out, fmt.Errorf("%w: a choice of %q is empty or longer than %d characters", errForm, f.Label, maxOption)
		}
		out.Options = append(out.Options, fieldChoice{Label: plainText(c, maxOption), Value: c, Default: c == f.Value})
	}
	return out, nil
}
