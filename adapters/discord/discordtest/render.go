package discordtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

const clock = "15:04:05"

// Render writes a channel or a thread in plain text for people.
func (s *Server) Render(w io.Writer, channel string) error {
	s.mu.Lock()
	var b strings.Builder
	p := &painter{s: s, b: &b}
	p.channel(channel)
	s.mu.Unlock()
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("discordtest: rendering %s: %w", channel, err)
	}
	return nil
}

// RenderMessage is one message in plain text.
func (s *Server) RenderMessage(channel, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, id)
	if m == nil {
		return ""
	}
	var b strings.Builder
	(&painter{s: s, b: &b}).message(m)
	return b.String()
}

// RenderModal is a form in plain text.
func (s *Server) RenderModal(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	p := &painter{s: s, b: &b}
	for _, m := range s.modals {
		if m.ID == id {
			p.line("┌ ", m.Title)
			for _, line := range p.components(m.Components) {
				p.line("│ ", line)
			}
			p.line("└ ", "[Submit]")
		}
	}
	return b.String()
}

// painter writes a world down as text; the server's lock is held.
type painter struct {
	s *Server
	b *strings.Builder
}

func (p *painter) channel(id string) {
	name := id
	if c := p.s.channel(id); c != nil {
		switch {
		case c.Type == DMChannel:
			name = "direct message with " + p.s.name(c.Recipient)
		case c.Thread():
			name = "thread: " + c.Name
			if c.Archived {
				name += " (archived)"
			}
		default:
			name = "#" + c.Name
		}
	}
	fmt.Fprintln(p.b, name)
	for _, m := range p.s.messages {
		if m.Channel == id && !m.Deleted && !m.system() {
			p.message(m)
		}
	}
}

func (p *painter) message(m *message) {
	head := m.Posted.Local().Format(clock) + "  " + p.s.name(m.Author)
	if n := len(m.Edits); n > 0 {
		head += fmt.Sprintf(" (edited %s)", count(n, "time", "times"))
	}
	if m.For != "" {
		head += " (only " + p.s.name(m.For) + " sees this)"
	}
	fmt.Fprintf(p.b, "\n%s\n", head)
	if to := p.s.message(m.Channel, m.ReplyTo); to != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(p.s.plain(to.Text())), "\n")
		p.line("  ", "↱ "+p.s.name(to.Author)+": "+line)
	}
	if m.Flags&FlagLoading != 0 {
		p.line("  ", p.s.name(m.Author)+" is thinking…")
	}
	for _, line := range p.body(m) {
		p.line("  ", line)
	}
	for _, f := range m.Files {
		p.line("  ", fmt.Sprintf("📎 %s (%s)", f.Name, size(len(f.Data))))
	}
	var set []string
	for _, r := range m.Reactions {
		set = append(set, fmt.Sprintf("%s %d", r.Name, len(r.Users)))
	}
	if len(set) > 0 {
		p.line("  ", strings.Join(set, "  "))
	}
	if t := p.s.channel(m.ID); t != nil && m.Flags&FlagHasThread != 0 {
		p.line("  ", fmt.Sprintf("↳ thread: %s (%s)", t.Name, count(p.s.countIn(t.ID), "message", "messages")))
	}
}

// body is what a message shows.
func (p *painter) body(m *message) []string {
	var out []string
	if m.Content != "" {
		out = append(out, strings.Split(p.s.plain(m.Content), "\n")...)
	}
	var embeds []embed
	_ = json.Unmarshal(list(m.Embeds), &embeds) // checked when it was posted
	for i := range embeds {
		for _, line := range embeds[i].lines() {
			for l := range strings.SplitSeq(p.s.plain(line), "\n") {
				out = append(out, "│ "+l)
			}
		}
	}
	return append(out, p.components(m.Components)...)
}

func (p *painter) components(raw json.RawMessage) []string {
	var all []obj
	_ = json.Unmarshal(list(raw), &all) // checked when it was posted
	var out []string
	for _, c := range all {
		out = append(out, p.component(c)...)
	}
	return out
}

func (p *painter) component(c obj) []string {
	inner := func(prefix string, field string) []string {
		var out []string
		for _, child := range objects(c, field) {
			for _, line := range p.component(child) {
				out = append(out, prefix+line)
			}
		}
		return out
	}
	switch t := number(c, "type"); t {
	case typeRow:
		return []string{strings.Join(inner("", "components"), " ")}
	case typeSection:
		out := inner("", "components")
		if a, ok := c["accessory"].(obj); ok && len(out) > 0 {
			out[len(out)-1] += "  " + strings.Join(p.component(a), " ")
		}
		return out
	case typeContainer:
		return inner("┃ ", "components")
	case typeLabel:
		field, _ := c["component"].(obj) // checked when it was opened
		return append([]string{text(c, "label") + ":"}, p.component(field)...)
	case typeText:
		return strings.Split(p.s.plain(text(c, "content")), "\n")
	default:
		return leaf(c, t)
	}
}

func leaf(c obj, t int) []string {
	switch {
	case t == typeButton:
		label := text(c, "label")
		if e, ok := c["emoji"].(obj); ok {
			label = strings.TrimSpace(text(e, "name") + " " + label)
		}
		if flag(c, "disabled") {
			return []string{"(" + label + ")"}
		}
		return []string{"[" + label + "]"}
	case isSelect(t):
		var words []string
		for _, o := range objects(c, "options") {
			words = append(words, text(o, "label"))
		}
		return []string{"[" + text(c, "placeholder") + " ▾ " + strings.Join(words, " | ") + "]"}
	case t == typeInput:
		return []string{strings.TrimSpace(text(c, "label") + " [" + text(c, "value") + "…]")}
	case t == typeSeparator:
		return []string{"────────"}
	case t == typeFile, t == typeThumbnail:
		return nil // the attachment is listed below the message
	case t == typeGallery:
		return []string{count(len(objects(c, "items")), "picture", "pictures")}
	default:
		return nil
	}
}

// line writes one line without a trailing blank and without control characters.
func (p *painter) line(indent, line string) {
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, line)
	fmt.Fprintln(p.b, strings.TrimRight(indent+line, " "))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func size(n int) string {
	switch {
	case n < 1<<10:
		return count(n, "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}
