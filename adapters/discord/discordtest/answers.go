package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// hook finds the interaction of a token that still lives.
func (s *Server) hook(c *call) (*interaction, error) {
	for _, i := range slices.Backward(s.interactions) {
		if i.token != c.path("token") {
			continue
		}
		switch {
		case time.Since(i.Sent) > s.cfg.TokenLife:
			return nil, no(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
		case !i.acked || c.path("app") != App:
			return nil, unknownHook()
		case s.channel(i.Channel) == nil:
			return nil, unknownChannel()
		}
		return i, nil
	}
	return nil, unknownHook()
}

func (s *Server) followUp(c *call) (any, error) {
	i, err := s.hook(c)
	if err != nil {
		return nil, err
	}
	if i.deferred { // the first one takes the place of "is thinking…"
		i.deferred = false
		return s.amend(c, i.original)
	}
	what, err := s.readContent(c, c.body, nil)
	if err != nil {
		return nil, err
	}
	if what.empty() {
		return nil, emptyMessage()
	}
	m := s.answered(i, what)
	if i.original != nil && i.original.For == "" {
		m.Type, m.ReplyTo = ReplyMessage, i.original.ID
	}
	m.Pings = s.pings(m, quiet(what.Allowed, i))
	s.post(m)
	return s.messageJSON(m, true), nil
}

// answerOf finds a message that answers the interaction.
func (s *Server) answerOf(c *call) (*interaction, *message, error) {
	i, err := s.hook(c)
	if err != nil {
		return nil, nil, err
	}
	m := i.original
	if id := c.path("message"); id != "@original" {
		if m = s.message(i.Channel, id); m != nil && m.Interaction != i.ID && m != i.original {
			m = nil
		}
	}
	if m == nil || m.Deleted {
		return nil, nil, unknownMessage()
	}
	return i, m, nil
}

func (s *Server) getAnswer(c *call) (any, error) {
	_, m, err := s.answerOf(c)
	if err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

func (s *Server) editAnswer(c *call) (any, error) {
	i, m, err := s.answerOf(c)
	if err != nil {
		return nil, err
	}
	out, err := s.amend(c, m)
	if err == nil && m == i.original {
		i.deferred = false
	}
	return out, err
}

func (s *Server) amend(c *call, m *message) (any, error) {
	what, err := s.readContent(c, c.body, m)
	if err != nil {
		return nil, err
	}
	if err := s.rewrite(m, what); err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

func (s *Server) dropAnswer(c *call) (any, error) {
	i, m, err := s.answerOf(c)
	if err != nil {
		return nil, err
	}
	if m == i.original {
		i.deferred = false
	}
	s.remove(m)
	return nothing{}, nil
}
