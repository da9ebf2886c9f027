package discordtest

import (
	"encoding/json"
	"strings"
)

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
