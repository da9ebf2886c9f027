package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const clock = "15:04:05"

// Render writes a thread, or with an empty thread a channel's top level, in
// plain text for people.
func (s Screen) Render(w io.Writer, channel, thread string) error {
	s.Mu.Lock()
	var b strings.Builder
	p := &painter{s: s.workspace, b: &b}
	p.channel(channel, thread)
	s.Mu.Unlock()
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("slacktest: rendering %s: %w", channel, err)
	}
	return nil
}

// RenderMessage is one message in plain text.
func (s Screen) RenderMessage(channel, ts string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return ""
	}
	var b strings.Builder
	(&painter{s: s.workspace, b: &b}).message(m, "")
	return b.String()
}

// RenderEphemeral is the newest message that only the person saw, in plain text.
func (s Screen) RenderEphemeral(user string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, e := range slices.Backward(s.ephemeral) {
		if e.User == user {
			var b strings.Builder
			(&painter{s: s.workspace, b: &b}).whisper(e)
			return b.String()
		}
	}
	return ""
}

// RenderView is a modal or a Home in plain text.
func (s Screen) RenderView(id string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	v := s.view(id, "")
	if v == nil {
		return ""
	}
	var b strings.Builder
	p := &painter{s: s.workspace, b: &b}
	p.line("┌ ", v.Title)
	for _, line := range p.blocks(v.Blocks) {
		p.line("│ ", line)
	}
	if v.body.Submit != nil {
		p.line("└ ", "["+v.body.Submit.Text+"]")
	}
	return b.String()
}

// painter writes a workspace down as text; the server's lock is held.
type painter struct {
	s *workspace
	b *strings.Builder
}

func (p *painter) channel(channel, thread string) {
	fmt.Fprintln(p.b, p.placeName(channel))
	for _, m := range p.s.messages {
		switch {
		case m.Channel != channel || m.Deleted && m.Subtype != "tombstone":
		case thread == "" && (m.ThreadTS == "" || m.Broadcast):
			p.message(m, "")
			if n := len(p.s.replies(channel, m.TS)); n > 0 {
				fmt.Fprintf(p.b, "  ↳ %s\n", platformtest.Number(n, "reply", "replies"))
			}
		case thread != "" && m.TS == thread:
			p.message(m, "")
		case thread != "" && m.ThreadTS == thread:
			p.message(m, "  ")
		}
	}
	p.ephemerals(channel, thread)
}

func (p *painter) placeName(channel string) string {
	switch c := p.s.channel(channel); {
	case c != nil && c.IM != "":
		return "direct message with " + p.s.name(c.IM)
	case c != nil && c.Name != "":
		return "#" + c.Name
	default:
		return channel
	}
}

func (p *painter) message(m *message, indent string) {
	head := m.Posted.Local().Format(clock) + "  " + p.s.name(m.User)
	if m.Broadcast {
		head += " (also sent to the channel)"
	}
	if n := len(m.Edits); n > 0 {
		head += fmt.Sprintf(" (edited %s)", platformtest.Number(n, "time", "times"))
	}
	fmt.Fprintf(p.b, "\n%s%s\n", indent, head)
	indent += "  "
	for _, line := range p.body(m.Text, m.Blocks) {
		p.line(indent, line)
	}
	for _, f := range m.Files {
		p.line(indent, fmt.Sprintf("📎 %s (%s)", f.Title, platformtest.Size(len(f.Data))))
	}
	var set []string
	for _, r := range m.Reactions {
		set = append(set, fmt.Sprintf(":%s: %d", r.Name, len(r.Users)))
	}
	if len(set) > 0 {
		p.line(indent, strings.Join(set, "  "))
	}
}

func (p *painter) ephemerals(channel, thread string) {
	for _, e := range p.s.ephemeral {
		if e.Channel != channel || e.Gone || thread != "" && e.ThreadTS != thread {
			continue
		}
		p.whisper(e)
	}
}

func (p *painter) whisper(e Ephemeral) {
	fmt.Fprintf(p.b, "\n%s  only visible to %s\n", e.At.Local().Format(clock), p.s.name(e.User))
	for _, line := range p.body(e.Text, e.Blocks) {
		p.line("  ", line)
	}
}

// line writes one line of text.
func (p *painter) line(indent, line string) { p.b.WriteString(platformtest.Line(indent + line)) }

// body is what a message shows: its blocks, or else its text.
func (p *painter) body(text string, blocks json.RawMessage) []string {
	if out := p.blocks(blocks); len(out) > 0 {
		return out
	}
	if text == "" {
		return nil
	}
	return strings.Split(p.words(text), "\n")
}

var entity = regexp.MustCompile(`<([^<>]*)>`)

// words is mrkdwn with names instead of ids.
func (p *painter) words(text string) string {
	text = entity.ReplaceAllStringFunc(text, func(e string) string {
		target, label, labelled := strings.Cut(e[1:len(e)-1], "|")
		switch {
		case strings.HasPrefix(target, "@"):
			return "@" + p.s.name(target[1:])
		case strings.HasPrefix(target, "#"):
			if c := p.s.channel(target[1:]); c != nil {
				return "#" + c.Name
			}
			return "#" + target[1:]
		case strings.HasPrefix(target, "!subteam^"):
			return "@" + p.group(target[len("!subteam^"):])
		case strings.HasPrefix(target, "!") && labelled:
			return label
		case strings.HasPrefix(target, "!"):
			return "@" + target[1:]
		case labelled && label != target:
			return label + " (" + target + ")"
		default:
			return target
		}
	})
	return unescape(text)
}

func (p *painter) group(id string) string {
	for _, g := range p.s.groups {
		if g.ID == id {
			return g.Handle
		}
	}
	return id
}

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
			platformtest.Default(&word, "choose")
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
			platformtest.Default(&word, str(e, "url"))
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
