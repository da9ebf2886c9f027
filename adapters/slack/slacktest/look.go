package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
)

// Messages are the messages of a channel, replies included, oldest first. What
// was deleted is not among them.
func (s *Server) Messages(channel string) []Message {
	return s.look(func(m *message) bool { return m.Channel == channel && !m.Deleted })
}

// Thread is a parent and its replies, oldest first.
func (s *Server) Thread(channel, ts string) []Message {
	return s.look(func(m *message) bool {
		return m.Channel == channel && (m.TS == ts || m.ThreadTS == ts) && !m.Deleted
	})
}

// FromBot are the bot's messages everywhere, oldest first.
func (s *Server) FromBot() []Message {
	return s.look(func(m *message) bool { return m.BotID == Bot && !m.Deleted })
}

// Message is one message, deleted or not.
func (s *Server) Message(channel, ts string) (Message, bool) {
	out := s.look(func(m *message) bool { return m.Channel == channel && m.TS == ts })
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

// Ephemerals are the messages that only a person saw; "" is everybody's.
func (s *Server) Ephemerals(user string) []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Ephemeral
	for _, e := range s.ephemeral {
		if user == "" || e.User == user {
			out = append(out, e)
		}
	}
	return out
}

// Modal is the modal that a person has before them.
func (s *Server) Modal(user string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range slices.Backward(s.views) {
		if v.Type == "modal" && v.User == user && v.Open {
			return v.View, true
		}
	}
	return View{}, false
}

// Home is what the app published for a person.
func (s *Server) Home(user string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.views {
		if v.Type == "home" && v.User == user {
			return v.View, true
		}
	}
	return View{}, false
}

// Files are the files of the workspace.
func (s *Server) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []File
	for _, f := range s.files {
		if f.ready {
			out = append(out, f.File)
		}
	}
	return out
}

// Statuses are the calls that set a thread's status, oldest first.
func (s *Server) Statuses() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.statuses)
}

// Status is what a thread's status says now; it is sticky until the app
// empties it.
func (s *Server) Status(channel, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status(channel, thread)
}

func (s *Server) status(channel, thread string) string {
	for _, st := range slices.Backward(s.statuses) {
		if st.Channel == channel && st.ThreadTS == thread {
			return st.Status
		}
	}
	return ""
}

// AssistantThreads are the titles and prompts that the app set.
func (s *Server) AssistantThreads() []Thread {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Thread, 0, len(s.threads))
	for _, t := range s.threads {
		out = append(out, *t)
	}
	return out
}

// Requests is the log of all calls, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, 0, len(s.requests))
	for _, r := range s.requests {
		c := *r
		c.Args = maps.Clone(c.Args)
		out = append(out, c)
	}
	return out
}

// Count is how many calls of a method were made, however they ended.
func (s *Server) Count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if r.Method == method {
			n++
		}
	}
	return n
}

// Unknown are the methods that were called and that this server does not know.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		if !r.Known && !slices.Contains(out, r.Method) {
			out = append(out, r.Method)
		}
	}
	return out
}

// Deliveries is the log of all attempts to hand something to the app, oldest first.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, 0, len(s.deliveries))
	for _, d := range s.deliveries {
		out = append(out, *d)
	}
	return out
}

// BlockTypes are the types of a message's blocks in their order.
func (m Message) BlockTypes() []string {
	var blocks []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(m.Blocks, &blocks) // checked when it was posted
	out := make([]string, 0, len(blocks))
	for _, b := range blocks {
		out = append(out, b.Type)
	}
	return out
}
