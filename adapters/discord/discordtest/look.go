package discordtest

import (
	"maps"
	"slices"
)

// Messages are what people and bots wrote in a channel or thread, oldest
// first: no system messages, nothing that was deleted, nothing that one person
// sees alone.
func (s *Server) Messages(channel string) []Message {
	return s.look(func(m *message) bool { return m.Channel == channel && m.For == "" && !m.Deleted && !m.system() })
}

// FromBot are the bot's messages everywhere, oldest first.
func (s *Server) FromBot() []Message {
	return s.look(func(m *message) bool { return m.Author == BotUser && m.For == "" && !m.Deleted && !m.system() })
}

// Ephemerals are the messages that only a person saw, oldest first; "" is everybody's.
func (s *Server) Ephemerals(user string) []Message {
	return s.look(func(m *message) bool { return m.For != "" && (user == "" || m.For == user) && !m.Deleted })
}

// Message is one message, deleted or not.
func (s *Server) Message(channel, id string) (Message, bool) {
	out := s.look(func(m *message) bool { return m.Channel == channel && m.ID == id })
	if len(out) == 0 {
		return Message{}, false
	}
	return out[0], true
}

func (s *Server) look(want func(*message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
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
func (s *Server) Channel(id string) (Channel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		if c.ID == id {
			return c.snapshot(), true
		}
	}
	return Channel{}, false
}

// Threads are the threads of a channel, oldest first, archived ones included.
func (s *Server) Threads(parent string) []Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
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
func (s *Server) Commands(guild string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Command
	for _, c := range s.commands {
		if c.Guild == guild {
			out = append(out, *c)
		}
	}
	return out
}

// Modals are all forms that were opened, oldest first.
func (s *Server) Modals() []Modal {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Modal, 0, len(s.modals))
	for _, m := range s.modals {
		out = append(out, m.Modal)
	}
	return out
}

// Modal is the form that a person has before them.
func (s *Server) Modal(user string) (Modal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.modals) {
		if m.User == user && m.Open {
			return m.Modal, true
		}
	}
	return Modal{}, false
}

// Interactions is the log of all interactions with how fast they were
// acknowledged, oldest first.
func (s *Server) Interactions() []Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Interaction, 0, len(s.interactions))
	for _, i := range s.interactions {
		out = append(out, i.Interaction)
	}
	return out
}

// Typing is how often the bot said that it is typing in a channel.
func (s *Server) Typing(channel string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typed[channel]
}

// Requests is the log of all calls, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, 0, len(s.requests))
	for _, r := range s.requests {
		out = append(out, *r)
	}
	return out
}

// Count is how many calls of a route were made, however they ended.
func (s *Server) Count(route string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r.Route == route {
			n++
		}
	}
	return n
}

// Unknown are the calls that this server does not know.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		if !r.Known && !slices.Contains(out, r.Route) {
			out = append(out, r.Route)
		}
	}
	return out
}

// Limited is how often each route was answered 429.
func (s *Server) Limited() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.limited)
}
