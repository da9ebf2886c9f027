package slack_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// readable is everything of a message that people can read.
func readable(text string, blocks json.RawMessage) string {
	lines := []string{text}
	walk(blocks, func(o map[string]json.RawMessage) {
		for _, name := range []string{"text", "title", "label"} {
			var s string
			if json.Unmarshal(o[name], &s) == nil && s != "" {
				lines = append(lines, s)
			}
		}
	})
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(strings.Join(lines, "\n"))
}

// labels are the words of all buttons.
func labels(blocks json.RawMessage) []string {
	var out []string
	walk(blocks, func(o map[string]json.RawMessage) {
		var kind string
		_ = json.Unmarshal(o["type"], &kind) // not every object has one
		for _, name := range map[string][]string{"button": {"text"}, "feedback_buttons": {"positive_button", "negative_button"}}[kind] {
			var label struct {
				Text json.RawMessage `json:"text"`
			}
			raw := o[name]
			if kind != "button" && json.Unmarshal(raw, &label) == nil {
				raw = label.Text
			}
			var text struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(raw, &text) == nil {
				out = append(out, text.Text)
			}
		}
	})
	return out
}

// mention is what notifies people where Slack reads its own markup.
var mention = regexp.MustCompile(`<(@[UW][A-Z0-9]+|![a-z]+(\^[A-Z0-9]+)?)[|>]`)

// pings are the principals that a message notifies, or "everybody". Markdown
// blocks and plain text do not read Slack's markup.
func pings(text string, blocks json.RawMessage) []string {
	var out []string
	add := func(s string) {
		for _, m := range mention.FindAllStringSubmatch(s, -1) {
			who := "everybody"
			if id, is := strings.CutPrefix(m[1], "@"); is {
				who = "slack:" + id
			} else if _, id, is := strings.Cut(m[1], "^"); is {
				who = "slack:" + id
			}
			if !slices.Contains(out, who) {
				out = append(out, who)
			}
		}
	}
	add(text)
	walk(blocks, func(o map[string]json.RawMessage) {
		var kind, s, id string
		_ = json.Unmarshal(o["type"], &kind) // not every object has one
		switch {
		case kind == "mrkdwn" && json.Unmarshal(o["text"], &s) == nil:
			add(s)
		case kind == "user" && json.Unmarshal(o["user_id"], &id) == nil:
			add("<@" + id + ">")
		case kind == "broadcast":
			add("<!channel>")
		}
	})
	return out
}

// walk visits every object of a JSON value, the outer ones first and lists in
// their order.
func walk(raw json.RawMessage, visit func(map[string]json.RawMessage)) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, one := range list {
			walk(one, visit)
		}
		return
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	visit(o)
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		walk(o[name], visit)
	}
}
