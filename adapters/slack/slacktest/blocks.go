package slacktest

// This file checks the blocks of messages and views against Slack's rules and
// limits, so that a card that Slack would refuse fails in a test first, with
// an error that points at the place.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxMarkdown = 12000
	maxBlocks   = 50
	maxInView   = 100
	maxAllText  = 13200 // of all blocks of a message together
	maxID       = 255
)

type where int

const (
	inMessage where = iota
	inModal
	inHome
)

var everywhere = []string{"section", "divider", "header", "context", "actions", "input", "image", "rich_text", "video"}

var onlyInMessages = []string{"markdown", "context_actions", "plan", "task_card", "file", "table"}

// check walks through blocks and writes down what is wrong with them.
type check struct {
	at       string // where it is, as a JSON pointer
	wrong    []string
	total    int // characters of all texts
	markdown int
}

func (k *check) fail(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf(format, args...)+" [json-pointer:"+k.at+"]")
}

// checkBlocks checks blocks as Slack does and gives ids to those without.
func checkBlocks(s *workspace, raw json.RawMessage, w where) (json.RawMessage, error) {
	var blocks []obj
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&blocks); err != nil {
		return nil, no("invalid_blocks_format")
	}
	most := maxBlocks
	if w != inMessage {
		most = maxInView
	}
	if len(blocks) > most {
		return nil, invalidBlocks(s, w, []string{fmt.Sprintf("no more than %d items allowed [json-pointer:/blocks]", most)})
	}
	k := &check{}
	ids := map[string]bool{}
	for i, b := range blocks {
		k.at = fmt.Sprintf("/blocks/%d", i)
		checkBlock(s, k, b, w)
		id := str(b, "block_id")
		if id == "" {
			id = s.id("b")
			b["block_id"] = id
		}
		if ids[id] {
			k.fail("block_id %q is used twice", id)
		}
		ids[id] = true
	}
	if k.markdown > maxMarkdown {
		k.fail("markdown of more than %d characters", maxMarkdown)
	}
	if len(k.wrong) > 0 {
		return nil, invalidBlocks(s, w, k.wrong)
	}
	if w == inMessage && k.total > maxAllText {
		return nil, no("msg_blocks_too_long")
	}
	return platformtest.Encode(blocks), nil
}

func invalidBlocks(s *workspace, w where, wrong []string) error {
	if w != inMessage {
		return invalid(s, "blocks", wrong...)
	}
	return &slackError{code: "invalid_blocks", extra: messages(wrong)}
}

// invalid refuses a view.
func invalid(s *workspace, _ string, wrong ...string) error {
	return &slackError{code: "invalid_arguments", extra: messages(wrong)}
}

func messages(wrong []string) obj {
	out := make([]string, 0, len(wrong))
	for _, w := range wrong {
		out = append(out, "[ERROR] "+w)
	}
	return obj{"errors": out, "response_metadata": obj{"messages": out}}
}

func checkBlock(s *workspace, k *check, b obj, w where) {
	kind := str(b, "type")
	known := slices.Contains(everywhere, kind) || w == inMessage && slices.Contains(onlyInMessages, kind)
	if !known || s.rejected[kind] {
		k.fail("unsupported type: %s", kind)
		return
	}
	if n := utf8.RuneCountInString(str(b, "block_id")); n > maxID {
		k.fail("block_id of %d characters", n)
	}
	k.count(b)
	check := checks[kind]
	if check != nil {
		check(k, b)
	}
	checkElements(s, k, b, kind)
}

// checkElements checks what people can press and fill in.
func checkElements(s *workspace, k *check, b obj, kind string) {
	ids := map[string]bool{}
	look := func(e obj, at string) {
		before := k.at
		k.at += at
		k.element(e)
		if str(e, "action_id") == "" && interactive(e) {
			e["action_id"] = s.id("a")
		}
		if id := str(e, "action_id"); id != "" {
			if ids[id] {
				k.fail("action_id %q is used twice in one block", id)
			}
			ids[id] = true
		}
		k.at = before
	}
	if kind == "actions" || kind == "context_actions" {
		for i, e := range list(b, "elements") {
			look(e, fmt.Sprintf("/elements/%d", i))
		}
	}
	if e, ok := child(b, "accessory"); ok {
		look(e, "/accessory")
	}
	if e, ok := child(b, "element"); ok && kind == "input" {
		look(e, "/element")
	}
}

func interactive(e obj) bool { return str(e, "type") != "image" }

// count adds up the texts of a block.
func (k *check) count(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok && (key == "text" || key == "title") {
				k.total += utf8.RuneCountInString(text)
			} else {
				k.count(v[key])
			}
		}
	case obj:
		k.count(map[string]any(v))
	case []any:
		for _, e := range v {
			k.count(e)
		}
	}
}

func str(o obj, key string) string {
	v, _ := o[key].(string)
	return v
}

func child(o obj, key string) (obj, bool) {
	v, ok := o[key].(map[string]any)
	return v, ok
}

// list are the objects of an array; its other members are nil.
func list(o obj, key string) []obj {
	array, _ := o[key].([]any)
	out := make([]obj, 0, len(array))
	for _, v := range array {
		m, _ := v.(map[string]any)
		out = append(out, m)
	}
	return out
}

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
