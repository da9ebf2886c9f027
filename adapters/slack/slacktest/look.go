package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
)

// Screen is what can be seen of a workspace.
type Screen struct{ *workspace }

// Messages are the messages of a channel, replies included, oldest first. What
// was deleted is not among them.
func (s Screen) Messages(channel string) []Message {
	return s.look(func(m *message) bool { return m.Channel == channel && !m.Deleted })
}

// Thread is a parent and its replies, oldest first.
func (s Screen) Thread(channel, ts string) []Message {
	return s.look(func(m *message) bool {
		return m.Channel == channel && (m.TS == ts || m.ThreadTS == ts) && !m.Deleted
	})
}

// FromBot are the bot's messages everywhere, oldest first.
func (s Screen) FromBot() []Message {
	return s.look(func(m *message) bool { return m.BotID == Bot && !m.Deleted })
}

// Message is one message, deleted or not.
func (s Screen) Message(channel, ts string) (Message, bool) {
	out := s.look(func(m *message) bool { return m.Channel == channel && m.TS == ts })
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

// Ephemerals are the messages that only a person saw; "" is everybody's.
func (s Screen) Ephemerals(user string) []Ephemeral {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []Ephemeral
	for _, e := range s.ephemeral {
		if user == "" || e.User == user {
			out = append(out, e)
		}
	}
	return out
}

// Modal is the modal that a person has before them.
func (s Screen) Modal(user string) (View, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, v := range slices.Backward(s.views) {
		if v.Type == "modal" && v.User == user && v.Open {
			return v.View, true
		}
	}
	return View{}, false
}

// Home is what the app published for a person.
func (s Screen) Home(user string) (View, bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, v := range s.views {
		if v.Type == "home" && v.User == user {
			return v.View, true
		}
	}
	return View{}, false
}

// Files are the files of the workspace.
func (s Screen) Files() []File {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []File
	for _, f := range s.files {
		if f.ready {
			out = append(out, f.File)
		}
	}
	return out
}

// Statuses are the calls that set a thread's status, oldest first.
func (s Screen) Statuses() []Status {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.sessions.statuses)
}

// Status is what a thread's status says now; it is sticky until the app
// empties it.
func (s Screen) Status(channel, thread string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.sessions.shown(channel, thread)
}

// AssistantThreads are the titles and prompts that the app set.
func (s Screen) AssistantThreads() []Thread {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := make([]Thread, 0, len(s.sessions.threads))
	for _, t := range s.sessions.threads {
		out = append(out, *t)
	}
	return out
}

// Requests is the log of all calls, oldest first.
func (s *web) Requests() []Request {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := make([]Request, 0, len(s.requests))
	for _, r := range s.requests {
		c := *r
		c.Args = maps.Clone(c.Args)
		out = append(out, c)
	}
	return out
}

// Deliveries is the log of all attempts to hand something to the app, oldest first.
func (s *outbox) Deliveries() []Delivery {
	s.Mu.Lock()
	defer s.Mu.Unlock()
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
