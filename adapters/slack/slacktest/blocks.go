package slacktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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
