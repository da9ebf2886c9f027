package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// text is a text object.
type text struct {
	Type  string `json:"type"`
	Text  string `json:"text"`
	Emoji *bool  `json:"emoji,omitempty"`
}

// labelled is an option, or one of two feedback buttons.
type labelled struct {
	Text  *text  `json:"text"`
	Value string `json:"value"`
}

// element is an interactive element, or one that is none.
type element struct {
	Type         string      `json:"type"`
	ActionID     string      `json:"action_id"`
	Text         *text       `json:"text"`
	Placeholder  *text       `json:"placeholder"`
	Value        string      `json:"value"`
	URL          string      `json:"url"`
	Options      []*labelled `json:"options"`
	OptionGroups []struct {
		Options []*labelled `json:"options"`
	} `json:"option_groups"`
	Positive *labelled `json:"positive_button"`
	Negative *labelled `json:"negative_button"`

	InitialValue    string          `json:"initial_value"`
	InitialOption   json.RawMessage `json:"initial_option"`
	InitialOptions  json.RawMessage `json:"initial_options"`
	InitialUser     string          `json:"initial_user"`
	InitialUsers    json.RawMessage `json:"initial_users"`
	InitialDate     string          `json:"initial_date"`
	InitialTime     string          `json:"initial_time"`
	InitialDateTime json.RawMessage `json:"initial_date_time"`
	MaxLength       int             `json:"max_length"`

	block string
}

// block is a block as far as people can use it.
type block struct {
	Type      string          `json:"type"`
	BlockID   string          `json:"block_id"`
	Label     *text           `json:"label"`
	Optional  bool            `json:"optional"`
	Elements  json.RawMessage `json:"elements"` // of another shape in rich text
	Accessory *element        `json:"accessory"`
	Element   *element        `json:"element"`
}

func blocksOf(raw json.RawMessage) []block {
	var out []block
	_ = json.Unmarshal(raw, &out) // checked when it was sent
	return out
}

// elements are all elements of blocks that can be used, in their order.
func elements(raw json.RawMessage) []*element {
	var out []*element
	for _, b := range blocksOf(raw) {
		out = append(out, b.usable()...)
	}
	return out
}

// usable are the elements of one block that can be used.
func (b block) usable() []*element {
	var some, out []*element
	switch b.Type {
	case "actions", "context_actions":
		_ = json.Unmarshal(b.Elements, &some) // checked when it was sent
	case "input":
		some = []*element{b.Element}
	}
	for _, e := range append(some, b.Accessory) {
		if e != nil && e.Type != "image" {
			e.block = b.BlockID
			out = append(out, e)
		}
	}
	return out
}

func (e *element) label() string {
	if e.Text != nil {
		return e.Text.Text
	}
	return ""
}

func (e *element) options() []*labelled {
	out := e.Options
	for _, g := range e.OptionGroups {
		out = append(out, g.Options...)
	}
	return out
}

// pick is the state of an element after a person has filled it in.
func (e *element) pick(picks []string) (obj, error) {
	one := ""
	if len(picks) > 0 {
		one = picks[0]
	}
	switch e.Type {
	case "plain_text_input", "number_input", "email_text_input", "url_text_input":
		if e.MaxLength > 0 && len([]rune(one)) > e.MaxLength {
			return nil, fmt.Errorf("%q takes %d characters, not %d", e.ActionID, e.MaxLength, len([]rune(one)))
		}
		return obj{"value": one}, nil
	case "rich_text_input":
		return obj{"rich_text_value": json.RawMessage(strings.TrimSuffix(strings.TrimPrefix(string(richText(one)), "["), "]"))}, nil
	case "static_select", "radio_buttons", "overflow", "external_select":
		o, err := e.option(one)
		return obj{"selected_option": o}, err
	case "checkboxes", "multi_static_select", "multi_external_select":
		chosen := []*labelled{}
		for _, p := range picks {
			o, err := e.option(p)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, o)
		}
		return obj{"selected_options": chosen}, nil
	case "datetimepicker":
		return obj{"selected_date_time": json.RawMessage(one)}, nil
	}
	if key, ok := plural[e.Type]; ok {
		return obj{key: picks}, nil
	}
	if key, ok := singular[e.Type]; ok {
		return obj{key: one}, nil
	}
	return nil, fmt.Errorf("an element %s is nothing that can be filled in", e.Type)
}

var singular = map[string]string{
	"users_select": "selected_user", "channels_select": "selected_channel", "conversations_select": "selected_conversation",
	"datepicker": "selected_date", "timepicker": "selected_time",
}

var plural = map[string]string{
	"multi_users_select": "selected_users", "multi_channels_select": "selected_channels", "multi_conversations_select": "selected_conversations",
}

func (e *element) option(want string) (*labelled, error) {
	var words []string
	for _, o := range e.options() {
		if o.Value == want || o.Text != nil && o.Text.Text == want {
			return o, nil
		}
		words = append(words, o.Value)
	}
	return nil, fmt.Errorf("%q has no option %q, only %q", e.ActionID, want, words)
}

// initial is the state before anybody touched the element; nil is empty.
func (e *element) initial() obj {
	out := obj{}
	platformtest.Put(out, "value", e.InitialValue)
	raw(out, "selected_option", e.InitialOption)
	raw(out, "selected_options", e.InitialOptions)
	platformtest.Put(out, "selected_user", e.InitialUser)
	raw(out, "selected_users", e.InitialUsers)
	platformtest.Put(out, "selected_date", e.InitialDate)
	platformtest.Put(out, "selected_time", e.InitialTime)
	raw(out, "selected_date_time", e.InitialDateTime)
	if len(out) == 0 {
		return nil
	}
	return out
}
