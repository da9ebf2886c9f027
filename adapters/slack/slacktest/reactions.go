package slacktest

import "strings"

// target finds the message that a reaction is about.
func (s *Server) target(c *call) (*message, error) {
	ch, err := s.readable(c.str("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.str("timestamp"))
	if m == nil {
		return nil, no("message_not_found")
	}
	return m, nil
}

func (s *Server) reactionsAdd(c *call) (obj, error) {
	m, err := s.target(c)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(c.str("name"), ":")
	if name == "" || strings.ContainsAny(name, " <>") {
		return nil, no("invalid_name")
	}
	if ch := s.channel(m.Channel); ch.Archived {
		return nil, no("is_archived")
	}
	if !m.react(BotUser, name) {
		return nil, no("already_reacted")
	}
	s.tellReaction("reaction_added", BotUser, name, m)
	s.change()
	return obj{}, nil
}

// The assistant's thread: status, title, prompts.

func (s *Server) assistantThread(c *call) (channel, thread string, err error) {
	ch, err := s.readable(c.str("channel_id"))
	if err != nil {
		return "", "", err
	}
	thread, err = s.root(ch.ID, c.str("thread_ts"))
	if err != nil || thread == "" {
		return "", "", no("thread_not_found")
	}
	return ch.ID, thread, nil
}

func (s *Server) assistantStatus(c *call) (obj, error) {
	channel, thread, err := s.assistantThread(c)
	if err != nil {
		return nil, err
	}
	st := Status{Channel: channel, ThreadTS: thread, Status: c.str("status")}
	_, st.At = s.ts()
	s.statuses = append(s.statuses, st)
	s.change()
	return obj{}, nil
}

// agentStatus sets the status of an agent session, which is a thread's: only
// while it is processing people see it, and a button to stop it.
func (s *Server) agentStatus(c *call) (obj, error) {
	status := c.str("status")
	shown := ""
	switch status {
	case "processing":
		shown = status
	case "active", "suspended", "closed":
	default:
		return nil, no("invalid_arguments")
	}
	channel, thread, err := s.assistantThread(c)
	if err != nil {
		return nil, err
	}
	st := Status{Channel: channel, ThreadTS: thread, Status: shown}
	_, st.At = s.ts()
	s.statuses = append(s.statuses, st)
	s.change()
	return obj{"status": status, "agent_status": status}, nil
}

func (s *Server) assistantPrompts(c *call) (obj, error) {
	t, err := s.assistantOf(c)
	if err != nil {
		return nil, err
	}
	prompts := list(obj{"p": decode(c.json("prompts"))}, "p")
	if len(prompts) == 0 || len(prompts) > 4 {
		return nil, no("invalid_arguments")
	}
	t.Prompts = c.json("prompts")
	s.change()
	return obj{}, nil
}

func (s *Server) assistantOf(c *call) (*Thread, error) {
	channel, thread, err := s.assistantThread(c)
	if err != nil {
		return nil, err
	}
	for _, t := range s.threads {
		if t.Channel == channel && t.ThreadTS == thread {
			return t, nil
		}
	}
	t := &Thread{Channel: channel, ThreadTS: thread}
	s.threads = append(s.threads, t)
	return t, nil
}
