package slacktest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

var checks = map[string]func(*check, obj){
	"section":         (*check).section,
	"header":          func(k *check, b obj) { k.text(b, "text", 150, plainText) },
	"context":         (*check).context,
	"actions":         func(k *check, b obj) { k.some(b, "elements", 25) },
	"context_actions": (*check).contextActions,
	"input":           (*check).input,
	"image":           (*check).image,
	"markdown":        (*check).markdownText,
	"rich_text":       func(k *check, b obj) { k.some(b, "elements", 1000) },
	"plan":            (*check).plan,
	"task_card":       (*check).taskCard,
	"video":           func(k *check, b obj) { k.required(b, "alt_text", "video_url", "thumbnail_url") },
	"file":            func(k *check, b obj) { k.required(b, "external_id", "source") },
	"table":           (*check).table,
}

const (
	plainText = "plain_text"
	anyText   = ""
)

// text checks a text object that must be there.
func (k *check) text(o obj, key string, most int, kind string) {
	t, ok := child(o, key)
	if !ok {
		k.fail("missing required field: %s", key)
		return
	}
	k.textObject(t, key, most, kind)
}

func (k *check) optionalText(o obj, key string, most int, kind string) {
	if _, ok := o[key]; ok {
		k.text(o, key, most, kind)
	}
}

func (k *check) textObject(t obj, key string, most int, kind string) {
	switch got := str(t, "type"); {
	case got != plainText && got != "mrkdwn", kind != anyText && got != kind:
		k.fail("%s: unsupported type of text: %q", key, got)
	}
	n := utf8.RuneCountInString(str(t, "text"))
	switch {
	case n == 0:
		k.fail("%s: must be more than 0 characters", key)
	case n > most:
		k.fail("%s: must be less than %d characters", key, most+1)
	}
}

func (k *check) some(o obj, key string, most int) {
	n := len(list(o, key))
	switch {
	case n == 0:
		k.fail("%s: no fewer than 1 item allowed", key)
	case n > most:
		k.fail("%s: no more than %d items allowed", key, most)
	}
}

func (k *check) required(o obj, keys ...string) {
	for _, key := range keys {
		if str(o, key) == "" {
			k.fail("missing required field: %s", key)
		}
	}
}

func (k *check) atMost(o obj, key string, most int) {
	if n := utf8.RuneCountInString(str(o, key)); n > most {
		k.fail("%s: must be less than %d characters", key, most+1)
	}
}

func (k *check) section(b obj) {
	_, hasText := b["text"]
	_, hasFields := b["fields"]
	if !hasText && !hasFields {
		k.fail("missing required field: text or fields")
	}
	k.optionalText(b, "text", 3000, anyText)
	if !hasFields {
		return
	}
	k.some(b, "fields", 10)
	for _, f := range list(b, "fields") {
		k.textObject(f, "fields", 2000, anyText)
	}
}

func (k *check) context(b obj) {
	k.some(b, "elements", 10)
	for _, e := range list(b, "elements") {
		if str(e, "type") == "image" {
			k.image(e)
			continue
		}
		k.textObject(e, "elements", 3000, anyText)
	}
}

func (k *check) contextActions(b obj) {
	k.some(b, "elements", 5)
	for _, e := range list(b, "elements") {
		if kind := str(e, "type"); kind != "feedback_buttons" && kind != "icon_button" {
			k.fail("elements: unsupported type: %s", kind)
		}
	}
}

func (k *check) input(b obj) {
	k.text(b, "label", 2000, plainText)
	k.optionalText(b, "hint", 2000, plainText)
	if _, ok := child(b, "element"); !ok {
		k.fail("missing required field: element")
	}
}

func (k *check) image(b obj) {
	_, hosted := child(b, "slack_file")
	if url := str(b, "image_url"); url == "" && !hosted {
		k.fail("missing required field: image_url or slack_file")
	}
	k.required(b, "alt_text")
	k.atMost(b, "image_url", 3000)
	k.atMost(b, "alt_text", 2000)
	k.optionalText(b, "title", 2000, plainText)
}

func (k *check) markdownText(b obj) {
	k.required(b, "text")
	k.markdown += utf8.RuneCountInString(str(b, "text"))
}

func (k *check) plan(b obj) {
	k.required(b, "title")
	for _, t := range list(b, "tasks") {
		k.taskCard(t)
	}
}

func (k *check) taskCard(b obj) {
	k.required(b, "task_id", "title")
	if s := str(b, "status"); !slices.Contains([]string{"", "pending", "in_progress", "complete", "error"}, s) {
		k.fail("status: unknown %q", s)
	}
	for _, key := range []string{"details", "output"} {
		if t, ok := child(b, key); ok && str(t, "type") != "rich_text" {
			k.fail("%s: must be rich_text", key)
		}
	}
}

func (k *check) table(b obj) {
	rows, _ := b["rows"].([]any)
	if len(rows) == 0 || len(rows) > 100 {
		k.fail("rows: from 1 to 100 items allowed")
	}
	for _, r := range rows {
		if cells, ok := r.([]any); !ok || len(cells) > 20 {
			k.fail("rows: no more than 20 cells allowed")
		}
	}
}

// element checks a button, a menu or a field.
func (k *check) element(e obj) {
	k.atMost(e, "action_id", maxID)
	k.confirm(e)
	switch kind := str(e, "type"); {
	case kind == "button", kind == "workflow_button":
		k.button(e)
	case kind == "icon_button":
		k.text(e, "text", 75, plainText)
	case kind == "feedback_buttons":
		for _, key := range []string{"positive_button", "negative_button"} {
			b, ok := child(e, key)
			if !ok {
				k.fail("missing required field: %s", key)
				continue
			}
			k.text(b, "text", 75, plainText)
			k.required(b, "value")
			k.atMost(b, "value", 2000)
		}
	case kind == "overflow":
		k.choices(e, 5, plainText)
	case kind == "checkboxes", kind == "radio_buttons":
		k.choices(e, 10, anyText)
	case kind == "static_select", kind == "multi_static_select":
		k.optionalText(e, "placeholder", 150, plainText)
		if groups := list(e, "option_groups"); len(groups) > 0 {
			for _, g := range groups {
				k.text(g, "label", 75, plainText)
				k.choices(g, 100, plainText)
			}
			return
		}
		k.choices(e, 100, plainText)
	case kind == "image":
		k.image(e)
	case strings.HasSuffix(kind, "_select"), strings.HasSuffix(kind, "picker"), strings.HasSuffix(kind, "_input"):
		k.optionalText(e, "placeholder", 150, plainText)
		k.atMost(e, "initial_value", 3000)
	default:
		k.fail("unsupported type of element: %q", kind)
	}
}

func (k *check) button(e obj) {
	k.text(e, "text", 75, plainText)
	k.atMost(e, "value", 2000)
	k.atMost(e, "url", 3000)
	if s := str(e, "style"); s != "" && s != "primary" && s != "danger" {
		k.fail("style: unknown %q", s)
	}
	k.atMost(e, "accessibility_label", 75)
}

func (k *check) choices(e obj, most int, kind string) {
	k.some(e, "options", most)
	for _, o := range list(e, "options") {
		k.text(o, "text", 75, kind)
		k.required(o, "value")
		k.atMost(o, "value", 150)
		k.optionalText(o, "description", 75, kind)
	}
}

func (k *check) confirm(e obj) {
	c, ok := child(e, "confirm")
	if !ok {
		return
	}
	k.text(c, "title", 100, plainText)
	k.text(c, "text", 300, anyText)
	k.optionalText(c, "confirm", 30, plainText)
	k.optionalText(c, "deny", 30, plainText)
}
