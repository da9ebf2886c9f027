package discordtest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Screen is what can be seen of a world.
type Screen struct{ *world }

// Messages are what people and bots wrote in a channel or thread, oldest
// first: no system messages, nothing that was deleted, nothing that one person
// sees alone.
func (s Screen) Messages(channel string) []Message {
	return s.look(func(m *message) bool { return m.Channel == channel && m.For == "" && !m.Deleted && !m.system() })
}

// FromBot are the bot's messages everywhere, oldest first.
func (s Screen) FromBot() []Message {
	return s.look(func(m *message) bool { return m.Author == BotUser && m.For == "" && !m.Deleted && !m.system() })
}

// Ephemerals are the messages that only a person saw, oldest first; "" is everybody's.
func (s Screen) Ephemerals(user string) []Message {
	return s.look(func(m *message) bool { return m.For != "" && (user == "" || m.For == user) && !m.Deleted })
}

// Message is one message, deleted or not.
func (s Screen) Message(channel, id string) (Message, bool) {
	out := s.look(func(m *message) bool { return m.Channel == channel && m.ID == id })
	if len(out) == 0 {
		return Message{}, false
	}
	return out[0], true
}

func (s Screen) look(want func(*message) bool) []Message {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []Message
	for _, m := range s.messages {
		if want(m) {
			out = append(out, m.snapshot())
		}
	}
	return out
}

func (m *message) snapshot() Message {
	c := m.Message
	c.Files, c.Edits = slices.Clone(c.Files), slices.Clone(c.Edits)
	c.Reactions = slices.Clone(c.Reactions)
	return c
}

// Channel is one channel or thread, deleted or not.
func (s Screen) Channel(id string) (Channel, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, c := range s.channels {
		if c.ID == id {
			return c.snapshot(), true
		}
	}
	return Channel{}, false
}

// Threads are the threads of a channel, oldest first, archived ones included.
func (s Screen) Threads(parent string) []Channel {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []Channel
	for _, c := range s.channels {
		if c.Thread() && c.Parent == parent && !c.Deleted {
			out = append(out, c.snapshot())
		}
	}
	return out
}

func (c *Channel) snapshot() Channel {
	out := *c
	out.Members, out.Overwrites = slices.Clone(c.Members), slices.Clone(c.Overwrites)
	return out
}

// Commands are the commands of a guild, or the global ones for "".
func (s Screen) Commands(guild string) []Command {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []Command
	for _, c := range s.commands {
		if c.Guild == guild {
			out = append(out, *c)
		}
	}
	return out
}

// Modal is the form that a person has before them.
func (s Screen) Modal(user string) (Modal, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, m := range slices.Backward(s.modals) {
		if m.User == user && m.Open {
			return m.Modal, true
		}
	}
	return Modal{}, false
}

// Interactions is the log of all interactions with how fast they were
// acknowledged, oldest first.
func (s *outbox) Interactions() []Interaction {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := make([]Interaction, 0, len(s.interactions))
	for _, i := range s.interactions {
		out = append(out, i.Interaction)
	}
	return out
}

// Typing is how often the bot said that it is typing in a channel.
func (s Screen) Typing(channel string) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.typed[channel]
}

// Requests is the log of all calls, oldest first.
func (s *web) Requests() []Request {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := make([]Request, 0, len(s.requests))
	for _, r := range s.requests {
		out = append(out, *r)
	}
	return out
}

const clock = "15:04:05"

// Render writes a channel or a thread in plain text for people.
func (s Screen) Render(w io.Writer, channel string) error {
	s.Mu.Lock()
	var b strings.Builder
	p := &painter{s: s.world, b: &b}
	p.channel(channel)
	s.Mu.Unlock()
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("discordtest: rendering %s: %w", channel, err)
	}
	return nil
}

// RenderMessage is one message in plain text.
func (s Screen) RenderMessage(channel, id string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, id)
	if m == nil {
		return ""
	}
	var b strings.Builder
	(&painter{s: s.world, b: &b}).message(m)
	return b.String()
}

// RenderModal is a form in plain text.
func (s Screen) RenderModal(id string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var b strings.Builder
	p := &painter{s: s.world, b: &b}
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
	s *world
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
		head += fmt.Sprintf(" (edited %s)", platformtest.Number(n, "time", "times"))
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
		p.line("  ", fmt.Sprintf("📎 %s (%s)", f.Name, platformtest.Size(len(f.Data))))
	}
	var set []string
	for _, r := range m.Reactions {
		set = append(set, fmt.Sprintf("%s %d", r.Name, len(r.Users)))
	}
	if len(set) > 0 {
		p.line("  ", strings.Join(set, "  "))
	}
	if t := p.s.channel(m.ID); t != nil && m.Flags&FlagHasThread != 0 {
		p.line("  ", fmt.Sprintf("↳ thread: %s (%s)", t.Name, platformtest.Number(p.s.countIn(t.ID), "message", "messages")))
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
		return []string{platformtest.Number(len(objects(c, "items")), "picture", "pictures")}
	default:
		return nil
	}
}

// line writes one line of text.
func (p *painter) line(indent, line string) { p.b.WriteString(platformtest.Line(indent + line)) }
