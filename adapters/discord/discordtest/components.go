package discordtest

// This file checks the components of messages and forms, such as buttons,
// menus and text inputs, against Discord's limits, so that a bad layout fails
// in tests.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Kinds of components.
const (
	typeRow       = 1
	typeButton    = 2
	typeSelect    = 3
	typeInput     = 4
	typeUsers     = 5
	typeChannels  = 8
	typeSection   = 9
	typeText      = 10
	typeThumbnail = 11
	typeGallery   = 12
	typeFile      = 13
	typeSeparator = 14
	typeContainer = 17
	typeLabel     = 18
)

const (
	maxComponents  = 40
	maxDisplayText = 4000
	linkButton     = 5
	premiumButton  = 6
)

func isSelect(t int) bool { return t == typeSelect || t >= typeUsers && t <= typeChannels }

// checker checks components and numbers them, as Discord does.
type checker struct {
	form  *form
	v2    bool
	modal bool
	files []File
	seen  map[string]bool // custom ids
	count int
	text  int
}

// message checks the components of a message and returns them with ids.
func (k *checker) message(raw json.RawMessage) json.RawMessage {
	var all []obj
	if err := json.Unmarshal(raw, &all); err != nil {
		k.form.wrong("LIST_TYPE_CONVERT", "Only iterables may be used in a ListType", "components")
		return nil
	}
	tops := []int{typeRow}
	if k.v2 {
		tops = []int{typeRow, typeSection, typeText, typeGallery, typeFile, typeSeparator, typeContainer}
	} else if len(all) > 5 {
		k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.", "components")
	}
	k.all(all, tops, "components")
	k.totals()
	return platformtest.Encode(all)
}

// form checks the components of a modal.
func (k *checker) modalForm(all []obj) {
	k.modal = true
	if len(all) < 1 || len(all) > 5 {
		k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.", "data", "components")
	}
	k.all(all, []int{typeRow, typeText, typeLabel}, "data", "components")
	k.totals()
}

func (k *checker) totals() {
	if k.count > maxComponents {
		k.form.wrong("COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", fmt.Sprintf("The total number of components cannot exceed %d", maxComponents), "components")
	}
	if k.text > maxDisplayText {
		k.form.wrong("COMPONENT_MAX_TOTAL_TEXT_LENGTH_EXCEEDED", fmt.Sprintf("The total text length of all components cannot exceed %d", maxDisplayText), "components")
	}
}

func (k *checker) all(list []obj, kinds []int, path ...any) {
	for i, c := range list {
		k.one(c, kinds, append(slices.Clone(path), i)...)
	}
}

func (k *checker) one(c obj, kinds []int, path ...any) {
	k.count++
	if number(c, "id") == 0 {
		c["id"] = k.count
	}
	t := number(c, "type")
	at := func(field ...any) []any { return append(slices.Clone(path), field...) }
	if !slices.Contains(kinds, t) {
		words := make([]string, 0, len(kinds))
		for _, kind := range kinds {
			words = append(words, strconv.Itoa(kind))
		}
		k.form.wrong("BASE_TYPE_CHOICES", "Value of field \"type\" must be one of ("+strings.Join(words, ", ")+").", at("type")...)
		return
	}
	switch {
	case t == typeRow:
		k.row(c, at)
	case t == typeButton:
		k.button(c, at)
	case isSelect(t):
		k.menu(c, t, at)
	case t == typeInput:
		k.input(c, at)
	case t == typeText:
		k.form.long(text(c, "content"), 1, maxDisplayText, at("content")...)
		k.text += length(text(c, "content"))
	default:
		k.layout(c, t, at)
	}
}

func (k *checker) row(c obj, at func(...any) []any) {
	children := objects(c, "components")
	kinds := []int{typeButton, typeSelect, 5, 6, 7, typeChannels}
	if k.modal {
		kinds = []int{typeInput}
	}
	if len(children) < 1 || len(children) > 5 || k.modal && len(children) > 1 {
		k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.", at("components")...)
	}
	menus := 0
	for _, child := range children {
		if isSelect(number(child, "type")) {
			menus++
		}
	}
	if menus > 0 && len(children) > 1 {
		k.form.wrong("COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width", at("components")...)
	}
	k.all(children, kinds, at("components")...)
}

// id checks a custom id, which is there once.
func (k *checker) id(c obj, at func(...any) []any) {
	id := text(c, "custom_id")
	k.form.long(id, 1, 100, at("custom_id")...)
	if id != "" && k.seen[id] {
		k.form.wrong("COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated", at("custom_id")...)
	}
	k.seen[id] = true
}

func (k *checker) button(c obj, at func(...any) []any) {
	style := number(c, "style")
	k.form.long(text(c, "label"), 0, 80, at("label")...)
	_, emoji := c["emoji"].(obj)
	switch {
	case style < 1 || style > premiumButton:
		k.form.wrong("BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2, 3, 4, 5, 6).", at("style")...)
	case style == linkButton:
		k.form.long(text(c, "url"), 1, 512, at("url")...)
		if text(c, "custom_id") != "" {
			k.form.wrong("BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified", at("custom_id")...)
		}
	case style != premiumButton:
		k.id(c, at)
		if text(c, "label") == "" && !emoji {
			k.form.wrong("BUTTON_COMPONENT_INVALID_LABEL", "A button must have a label or an emoji", at("label")...)
		}
	}
}

func (k *checker) menu(c obj, t int, at func(...any) []any) {
	k.id(c, at)
	k.form.long(text(c, "placeholder"), 0, 150, at("placeholder")...)
	least, most := 1, 1
	if _, ok := c["min_values"]; ok {
		least = number(c, "min_values")
	}
	if n := number(c, "max_values"); n > 0 {
		most = n
	}
	if least < 0 || least > 25 || most > 25 || least > most {
		k.form.wrong("BASE_TYPE_MAX", "min_values and max_values must be between 0 and 25 and in order.", at("max_values")...)
	}
	options := objects(c, "options")
	if t != typeSelect {
		return
	}
	if len(options) < 1 || len(options) > 25 {
		k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.", at("options")...)
	}
	values := map[string]bool{}
	for i, o := range options {
		k.form.long(text(o, "label"), 1, 100, at("options", i, "label")...)
		k.form.long(text(o, "value"), 1, 100, at("options", i, "value")...)
		k.form.long(text(o, "description"), 0, 100, at("options", i, "description")...)
		if values[text(o, "value")] {
			k.form.wrong("SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used", at("options", i, "value")...)
		}
		values[text(o, "value")] = true
	}
	if most > len(options) {
		k.form.wrong("BASE_TYPE_MAX", "max_values cannot be larger than the number of options.", at("max_values")...)
	}
}

func (k *checker) input(c obj, at func(...any) []any) {
	k.id(c, at)
	if style := number(c, "style"); style != 1 && style != 2 {
		k.form.wrong("BASE_TYPE_CHOICES", "Value of field \"style\" must be one of (1, 2).", at("style")...)
	}
	if len(at()) > 4 && at()[len(at())-1] != "component" { // in an action row it has its own label
		k.form.long(text(c, "label"), 1, 45, at("label")...)
	}
	k.form.long(text(c, "placeholder"), 0, 100, at("placeholder")...)
	most := number(c, "max_length")
	platformtest.Default(&most, 4000)
	if most > 4000 {
		k.form.wrong("NUMBER_TYPE_MAX", "int value should be less than or equal to 4000.", at("max_length")...)
	}
	k.form.long(text(c, "value"), 0, most, at("value")...)
}

// objects are the children of a component; every one is the object itself.
func objects(c obj, field string) []obj {
	list, _ := c[field].([]any) // absent is empty
	out := make([]obj, 0, len(list))
	for _, v := range list {
		if o, ok := v.(obj); ok {
			out = append(out, o)
		}
	}
	return out
}

func text(c obj, field string) string {
	v, _ := c[field].(string) // absent is empty
	return v
}

func number(c obj, field string) int {
	switch v := c[field].(type) {
	case float64:
		return int(v)
	case int:
		return v
	default:
		return 0
	}
}

func flag(c obj, field string) bool {
	v, _ := c[field].(bool) // absent is false
	return v
}

// layout checks the components that arrange others or show media.
func (k *checker) layout(c obj, t int, at func(...any) []any) {
	switch t {
	case typeSection:
		children := objects(c, "components")
		if len(children) < 1 || len(children) > 3 {
			k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 3 in length.", at("components")...)
		}
		k.all(children, []int{typeText}, at("components")...)
		accessory, ok := c["accessory"].(obj)
		if !ok {
			k.form.wrong("BASE_TYPE_REQUIRED", "This field is required", at("accessory")...)
			return
		}
		k.one(accessory, []int{typeButton, typeThumbnail}, at("accessory")...)
	case typeThumbnail:
		k.media(c, "media", false, at)
	case typeGallery:
		items := objects(c, "items")
		if len(items) < 1 || len(items) > 10 {
			k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 10 in length.", at("items")...)
		}
		for i, item := range items {
			k.media(item, "media", false, func(field ...any) []any { return at(append([]any{"items", i}, field...)...) })
		}
	case typeFile:
		k.media(c, "file", true, at)
	case typeContainer:
		children := objects(c, "components")
		if len(children) == 0 {
			k.form.wrong("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 40 in length.", at("components")...)
		}
		k.all(children, []int{typeRow, typeSection, typeText, typeGallery, typeFile, typeSeparator}, at("components")...)
	case typeLabel:
		k.form.long(text(c, "label"), 1, 45, at("label")...)
		k.form.long(text(c, "description"), 0, 100, at("description")...)
		child, ok := c["component"].(obj)
		if !ok {
			k.form.wrong("BASE_TYPE_REQUIRED", "This field is required", at("component")...)
			return
		}
		k.one(child, []int{typeSelect, typeInput, typeUsers, 6, 7, typeChannels}, at("component")...)
	}
}

// media checks what a component shows: an attachment of the message, or for
// pictures also an address.
func (k *checker) media(c obj, field string, attachment bool, at func(...any) []any) {
	m, _ := c[field].(obj) // absent has no url
	url := text(m, "url")
	name, attached := strings.CutPrefix(url, "attachment://")
	switch {
	case url == "":
		k.form.wrong("BASE_TYPE_REQUIRED", "This field is required", at(field, "url")...)
	case attached && !k.has(name):
		k.form.wrong("REFERENCED_FILE_NOT_FOUND", "The file "+name+" is not attached to the message", at(field, "url")...)
	case !attached && attachment:
		k.form.wrong("URL_TYPE_INVALID_SCHEME", "Scheme \""+scheme(url)+"\" is not supported. Scheme must be one of ('attachment',).", at(field, "url")...)
	}
}

func scheme(url string) string {
	s, _, _ := strings.Cut(url, ":")
	return s
}

func (k *checker) has(name string) bool {
	for _, f := range k.files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// walk visits every component of a message or a modal, parents first.
func walk(raw json.RawMessage, visit func(obj)) {
	var all []any
	_ = json.Unmarshal(raw, &all) // checked when it was posted; nothing is empty
	walkAll(all, visit)
}

func walkAll(all []any, visit func(obj)) {
	for _, v := range all {
		c, ok := v.(obj)
		if !ok {
			continue
		}
		visit(c)
		children, _ := c["components"].([]any) // not every component has some
		walkAll(children, visit)
		walkAll([]any{c["accessory"], c["component"]}, visit)
	}
}

// shown is all text that a message shows, for mentions and for looking.
func (m *message) shown() string {
	parts := []string{m.Content}
	walk(m.Components, func(c obj) {
		if number(c, "type") == typeText {
			parts = append(parts, text(c, "content"))
		}
	})
	return strings.Join(parts, "\n")
}
