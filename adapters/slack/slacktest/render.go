package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
)

const clock = "15:04:05"

// Render writes a thread, or with an empty thread a channel's top level, in
// plain text for people.
func (s *Server) Render(w io.Writer, channel, thread string) error {
	s.mu.Lock()
	var b strings.Builder
	p := &painter{s: s, b: &b}
	p.channel(channel, thread)
	s.mu.Unlock()
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("slacktest: rendering %s: %w", channel, err)
	}
	return nil
}

// RenderMessage is one message in plain text.
func (s *Server) RenderMessage(channel, ts string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return ""
	}
	var b strings.Builder
	(&painter{s: s, b: &b}).message(m, "")
	return b.String()
}

// RenderView is a modal or a Home in plain text.
func (s *Server) RenderView(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view(id, "")
	if v == nil {
		return ""
	}
	var b strings.Builder
	p := &painter{s: s, b: &b}
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
	s *Server
	b *strings.Builder
}

func (p *painter) channel(channel, thread string) {
	name := channel
	if c := p.s.channel(channel); c != nil {
		switch {
		case c.IM != "":
			name = "direct message with " + p.s.name(c.IM)
		case c.Name != "":
			name = "#" + c.Name
		}
	}
	fmt.Fprintln(p.b, name)
	for _, m := range p.s.messages {
		switch {
		case m.Channel != channel || m.Deleted && m.Subtype != "tombstone":
		case thread == "" && (m.ThreadTS == "" || m.Broadcast):
			p.message(m, "")
			if n := len(p.s.replies(channel, m.TS)); n > 0 {
				fmt.Fprintf(p.b, "  ↳ %s\n", count(n, "reply", "replies"))
			}
		case thread != "" && m.TS == thread:
			p.message(m, "")
		case thread != "" && m.ThreadTS == thread:
			p.message(m, "  ")
		}
	}
	p.ephemerals(channel, thread)
}

func (p *painter) message(m *message, indent string) {
	head := m.Posted.Local().Format(clock) + "  " + p.s.name(m.User)
	if m.Broadcast {
		head += " (also sent to the channel)"
	}
	if n := len(m.Edits); n > 0 {
		head += fmt.Sprintf(" (edited %s)", count(n, "time", "times"))
	}
	fmt.Fprintf(p.b, "\n%s%s\n", indent, head)
	indent += "  "
	for _, line := range p.body(m.Text, m.Blocks) {
		p.line(indent, line)
	}
	for _, f := range m.Files {
		p.line(indent, fmt.Sprintf("📎 %s (%s)", f.Title, size(len(f.Data))))
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
		fmt.Fprintf(p.b, "\n%s  only visible to %s\n", e.At.Local().Format(clock), p.s.name(e.User))
		for _, line := range p.body(e.Text, e.Blocks) {
			p.line("  ", line)
		}
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
