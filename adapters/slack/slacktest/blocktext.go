package slacktest

import (
	"encoding/json"
	"strings"
)

// blocks are the lines that blocks show.
func (p *painter) blocks(raw json.RawMessage) []string {
	var some []obj
	if json.Unmarshal(raw, &some) != nil {
		return nil
	}
	var out []string
	for _, b := range some {
		text := p.block(b)
		if a, ok := child(b, "accessory"); ok {
			text = strings.TrimPrefix(text+"  "+p.element(a), "  ")
		}
		if text != "" {
			out = append(out, strings.Split(text, "\n")...)
		}
	}
	return out
}

func (p *painter) block(b obj) string {
	switch str(b, "type") {
	case "section":
		return p.section(b)
	case "header":
		return "▌ " + p.textOf(b, "text")
	case "divider":
		return strings.Repeat("─", 40)
	case "context", "actions", "context_actions":
		var parts []string
		for _, e := range list(b, "elements") {
			parts = append(parts, p.element(e))
		}
		return strings.Join(parts, " ")
	case "markdown":
		return p.words(str(b, "text"))
	case "rich_text":
		return strings.TrimRight(p.rich(b), "\n")
	case "input":
		e, _ := child(b, "element")
		return p.textOf(b, "label") + ": " + p.element(e)
	case "plan":
		lines := []string{str(b, "title")}
		for _, t := range list(b, "tasks") {
			lines = append(lines, "  "+p.task(t))
		}
		return strings.Join(lines, "\n")
	case "task_card":
		return p.task(b)
	case "table":
		return p.table(b)
	case "image", "video":
		return "[" + str(b, "type") + ": " + str(b, "alt_text") + "]"
	default:
		return "[" + str(b, "type") + "]"
	}
}

func (p *painter) section(b obj) string {
	var lines []string
	if t := p.textOf(b, "text"); t != "" {
		lines = append(lines, t)
	}
	for _, f := range list(b, "fields") {
		lines = append(lines, p.words(str(f, "text")))
	}
	return strings.Join(lines, "\n")
}

func (p *painter) textOf(o obj, key string) string {
	t, _ := child(o, key)
	return p.words(str(t, "text"))
}

var marks = map[string]string{"": "○", "pending": "○", "in_progress": "◐", "complete": "●", "error": "✗"}

func (p *painter) task(t obj) string {
	parts := []string{marks[str(t, "status")] + " " + str(t, "title")}
	for _, key := range []string{"details", "output"} {
		if d, ok := child(t, key); ok {
			if text := strings.TrimSpace(p.rich(d)); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, ": ")
}

func (p *painter) element(e obj) string {
	switch kind := str(e, "type"); kind {
	case "button", "icon_button", "workflow_button":
		return "[" + p.textOf(e, "text") + "]"
	case "feedback_buttons":
		good, _ := child(e, "positive_button")
		bad, _ := child(e, "negative_button")
		return "[" + p.textOf(good, "text") + "] [" + p.textOf(bad, "text") + "]"
	case plainText, "mrkdwn":
		return p.words(str(e, "text"))
	case "image":
		return "[image: " + str(e, "alt_text") + "]"
	case "checkboxes", "radio_buttons", "overflow":
		var parts []string
		for _, o := range list(e, "options") {
			parts = append(parts, "( ) "+p.textOf(o, "text"))
		}
		return strings.Join(parts, "  ")
	default:
		if strings.HasSuffix(kind, "_select") || strings.HasSuffix(kind, "picker") {
			word := p.textOf(e, "placeholder")
			def(&word, "choose")
			return "[" + word + " ▾]"
		}
		return "________"
	}
}

func (p *painter) table(b obj) string {
	rows, _ := b["rows"].([]any)
	var lines []string
	for _, r := range rows {
		cells, _ := r.([]any)
		var parts []string
		for _, c := range cells {
			cell, _ := c.(map[string]any)
			if str(cell, "type") == "rich_text" {
				parts = append(parts, strings.TrimSpace(p.rich(cell)))
			} else {
				parts = append(parts, str(cell, "text"))
			}
		}
		lines = append(lines, strings.Join(parts, " | "))
	}
	return strings.Join(lines, "\n")
}

// rich is the text of rich text, whose elements hold elements.
func (p *painter) rich(o obj) string {
	var b strings.Builder
	for _, e := range list(o, "elements") {
		switch str(e, "type") {
		case "text":
			b.WriteString(str(e, "text"))
		case "link":
			word := str(e, "text")
			def(&word, str(e, "url"))
			b.WriteString(word)
		case "emoji":
			b.WriteString(":" + str(e, "name") + ":")
		case "user":
			b.WriteString("@" + p.s.name(str(e, "user_id")))
		case "usergroup":
			b.WriteString("@" + p.group(str(e, "usergroup_id")))
		case "channel":
			b.WriteString(p.words("<#" + str(e, "channel_id") + ">"))
		case "broadcast":
			b.WriteString("@" + str(e, "range"))
		case "rich_text_list":
			for _, item := range list(e, "elements") {
				b.WriteString("• " + strings.TrimRight(p.rich(item), "\n") + "\n")
			}
		case "rich_text_quote":
			b.WriteString("> " + p.rich(e) + "\n")
		default:
			b.WriteString(p.rich(e) + "\n")
		}
	}
	return b.String()
}
