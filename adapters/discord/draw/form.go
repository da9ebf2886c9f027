package draw

// This file builds Discord's modals from the bot's forms, within Discord's
// limits, and reads the values out of a modal that was sent, so that both use
// the same ids of fields.

import (
	"cmp"
	"encoding/json"
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
	FormPrefix   = "form:"
	maxFormTitle = 45
	maxFormLabel = 45
	maxFormHint  = 100
	MaxInput     = 4000
	MaxFields    = 5
	maxIntro     = 2000
)

// labelComponent stands around a field of a form; the library does not know it.
const labelComponent discordgo.ComponentType = 18

// errForm says why a form cannot be shown.
var errForm = errors.New("the form does not fit into Discord")

// formField is a component of a form.
type formField struct {
	Kind        discordgo.ComponentType `json:"type"`
	Label       string                  `json:"label,omitempty"`
	Description string                  `json:"description,omitempty"`
	Content     string                  `json:"content,omitempty"`
	Component   *formField              `json:"component,omitempty"`
	CustomID    string                  `json:"custom_id,omitempty"`
	Style       discordgo.ButtonStyle   `json:"style,omitempty"`
	Value       string                  `json:"value,omitempty"`
	Max         int                     `json:"max_length,omitempty"`
	MinValues   *int                    `json:"min_values,omitempty"`
	MaxValues   int                     `json:"max_values,omitempty"`
	Required    *bool                   `json:"required,omitempty"`
	Options     []fieldChoice           `json:"options,omitempty"`
	Defaults    []fieldPerson           `json:"default_values,omitempty"`
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

// Modal is a form as Discord takes it, and opens it for somebody.
type Modal struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []formField `json:"components"`
}

// Form is a form as Discord shows it. What it says before its fields is left
// out where there is no room beside them: the fields say what they take.
func Form(f bot.Form) (Modal, error) {
	out := Modal{CustomID: FormPrefix + f.ID, Title: PlainText(f.Title, maxFormTitle)}
	switch {
	case len(out.CustomID) > maxCustomID:
		return Modal{}, fmt.Errorf("%w: its id is too long", errForm)
	case len(f.Fields) == 0 || len(f.Fields) > MaxFields:
		return Modal{}, fmt.Errorf("%w: it has %d fields", errForm, len(f.Fields))
	}
	if f.Intro != "" && len(f.Fields) < MaxFields {
		intro, _ := markdown.Head(strings.Join(markdownBlocks(f.Intro), "\n"), maxIntro)
		out.Components = append(out.Components, formField{Kind: discordgo.TextDisplayComponent, Content: Options{}.withMentions(intro)})
	}
	for _, one := range f.Fields {
		inner, err := input(one)
		if err != nil {
			return Modal{}, err
		}
		label := formField{Kind: labelComponent, Label: PlainText(one.Label, maxFormLabel), Component: &inner}
		if hint := cmp.Or(one.Problem, one.Hint); hint != "" {
			label.Description = PlainText(hint, maxFormHint)
		}
		out.Components = append(out.Components, label)
	}
	return out, nil
}

// input is what a field is filled in with.
func input(f bot.Field) (formField, error) {
	required := !f.Optional
	out := formField{CustomID: f.ID, Required: &required}
	if f.ID == "" || len(f.ID) > maxCustomID {
		return out, fmt.Errorf("%w: a field has no id, or one that is too long", errForm)
	}
	switch f.Kind {
	case bot.FieldText, bot.FieldLong:
		return textInput(f, out)
	case bot.FieldChoice:
		return choiceInput(f, out)
	case bot.FieldPeople:
		out.Kind, out.MaxValues = discordgo.UserSelectMenuComponent, MaxOptions
		if f.Optional {
			out.MinValues = new(int)
		}
		for who := range strings.FieldsSeq(f.Value) {
			if id, is := api.UserID(who); is {
				out.Defaults = append(out.Defaults, fieldPerson{ID: id, Kind: "user"})
			}
		}
		return out, nil
	}
	return out, fmt.Errorf("%w: %q is a field of an unknown kind", errForm, f.Label)
}

func textInput(f bot.Field, out formField) (formField, error) {
	out.Kind, out.Style, out.Value = discordgo.TextInputComponent, 1, f.Value
	if f.Kind == bot.FieldLong {
		out.Style = 2
	}
	if Width(f.Value) > MaxInput {
		return out, fmt.Errorf("%w: %q is longer than %d characters", errForm, f.Label, MaxInput)
	}
	if f.Max > 0 {
		out.Max = min(max(f.Max, Width(f.Value)), MaxInput)
	}
	return out, nil
}

func choiceInput(f bot.Field, out formField) (formField, error) {
	out.Kind = discordgo.SelectMenuComponent
	if len(f.Choices) == 0 || len(f.Choices) > MaxOptions {
		return out, fmt.Errorf("%w: %q has %d choices", errForm, f.Label, len(f.Choices))
	}
	for _, c := range f.Choices {
		if c == "" || Width(c) > MaxOption {
			return out, fmt.Errorf("%w: a choice of %q is empty or longer than %d characters", errForm, f.Label, MaxOption)
		}
		out.Options = append(out.Options, fieldChoice{Label: PlainText(c, MaxOption), Value: c, Default: c == f.Value})
	}
	return out, nil
}

// Values are what was filled in, by the ids of the fields.
func Values(components []json.RawMessage) map[string]string {
	values := map[string]string{}
	for _, c := range components {
		collect(c, values, 0)
	}
	return values
}

// collect takes the values out of the components of a form, of whatever kind
// they are: what is not understood holds no value.
func collect(raw json.RawMessage, values map[string]string, depth int) {
	var c struct {
		CustomID   json.RawMessage `json:"custom_id"`
		Kind       json.RawMessage `json:"type"`
		Value      json.RawMessage `json:"value"`
		Values     json.RawMessage `json:"values"`
		Component  json.RawMessage `json:"component"`
		Components json.RawMessage `json:"components"`
	}
	if depth > 5 || json.Unmarshal(raw, &c) != nil {
		return
	}
	var id, value string
	var kind discordgo.ComponentType
	var picks []string
	_ = json.Unmarshal(c.Kind, &kind) // 0 is no kind of a field
	switch {
	case json.Unmarshal(c.CustomID, &id) != nil || id == "":
	case json.Unmarshal(c.Value, &value) == nil && len(c.Value) > 0:
		values[id] = value
	case json.Unmarshal(c.Values, &picks) == nil:
		values[id] = pickedIn(kind, picks)
	}
	if len(c.Component) > 0 {
		collect(c.Component, values, depth+1)
	}
	var list []json.RawMessage
	if json.Unmarshal(c.Components, &list) == nil {
		for _, inner := range list {
			collect(inner, values, depth+1)
		}
	}
}

// pickedIn is what was chosen in a menu: people are principals.
func pickedIn(kind discordgo.ComponentType, picks []string) string {
	if kind == discordgo.UserSelectMenuComponent {
		people := make([]string, len(picks))
		for i, id := range picks {
			people[i] = api.Principal(id)
		}
		picks = people
	}
	return strings.Join(picks, " ")
}
