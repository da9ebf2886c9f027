package discordtest

import (
	"slices"
	"strconv"
	"strings"
)

func (s *Server) getMessage(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.path("message"))
	if m == nil || m.For != "" {
		return nil, unknownMessage()
	}
	if !s.may(BotUser, ch, ReadHistory) {
		return nil, missingAccess()
	}
	return s.messageJSON(m, s.readable(m, s.cfg.Privileged)), nil
}

// listMessages gives the newest first, as Discord does.
func (s *Server) listMessages(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	limit := 50
	if v := c.query("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 100 {
			return nil, invalid("NUMBER_TYPE_MAX", "int value should be between 1 and 100.", "limit")
		}
		limit = n
	}
	out := []obj{}
	if !s.may(BotUser, ch, ReadHistory) {
		return out, nil
	}
	var all []*message
	for _, m := range s.messages {
		if m.Channel == ch.ID && m.For == "" && !m.Deleted {
			all = append(all, m)
		}
	}
	for _, m := range slices.Backward(window(all, c, limit)) {
		out = append(out, s.messageJSON(m, s.readable(m, s.cfg.Privileged)))
	}
	return out, nil
}

// window is the part of all messages, oldest first, that the call asks for.
func window(all []*message, c *call, limit int) []*message {
	first := func(id string) int { // the index of the first message after id
		n, _ := slices.BinarySearchFunc(all, id, func(m *message, id string) int { return older(m.ID, id) })
		return n
	}
	switch {
	case c.query("before") != "":
		to := first(c.query("before"))
		return all[max(0, to-limit):to]
	case c.query("after") != "":
		id := c.query("after")
		from := first(id)
		if from < len(all) && all[from].ID == id {
			from++
		}
		return all[from:min(len(all), from+limit)]
	case c.query("around") != "":
		at := first(c.query("around"))
		from := max(0, at-limit/2)
		return all[from:min(len(all), from+limit)]
	default:
		return all[max(0, len(all)-limit):]
	}
}

// older compares two snowflakes.
func older(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
