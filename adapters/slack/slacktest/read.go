package slacktest

import (
	"slices"
	"strconv"
	"strings"
)

// readable finds a channel that the bot may read.
func (s *Server) readable(id string) (*Channel, error) {
	c := s.channel(id)
	switch {
	case c == nil, !c.has(BotUser) && c.kind() != "channel":
		return nil, no("channel_not_found")
	case !c.has(BotUser):
		return nil, no("not_in_channel")
	default:
		return c, nil
	}
}

// within says whether ts lies in the window that the call asks for. Timestamps
// have ten digits before the point until 2286 and compare as strings.
func (c *call) within(ts string) bool {
	oldest, latest, inclusive := c.str("oldest"), c.str("latest"), c.flag("inclusive")
	if oldest != "" && oldest != "0" {
		if o := compareTS(ts, oldest); o < 0 || o == 0 && !inclusive {
			return false
		}
	}
	if latest != "" {
		if o := compareTS(ts, latest); o > 0 || o == 0 && !inclusive {
			return false
		}
	}
	return true
}

func compareTS(a, b string) int {
	ai, af, _ := strings.Cut(a, ".")
	bi, bf, _ := strings.Cut(b, ".")
	pad := func(i, f string) string {
		return strings.Repeat("0", max(0, 12-len(i))) + i + "." + f + strings.Repeat("0", max(0, 6-len(f)))
	}
	return strings.Compare(pad(ai, af), pad(bi, bf))
}

// conversationsHistory gives the top level of a channel, newest first.
func (s *Server) conversationsHistory(c *call) (obj, error) {
	ch, err := s.readable(c.str("channel"))
	if err != nil {
		return nil, err
	}
	var found []*message
	for _, m := range slices.Backward(s.messages) {
		top := m.ThreadTS == "" || m.ThreadTS == m.TS || m.Broadcast
		alive := !m.Deleted || m.Subtype == "tombstone"
		if m.Channel == ch.ID && top && alive && c.within(m.TS) {
			found = append(found, m)
		}
	}
	return s.page(c, found)
}

// conversationsReplies gives a parent and its replies, oldest first.
func (s *Server) conversationsReplies(c *call) (obj, error) {
	ch, err := s.readable(c.str("channel"))
	if err != nil {
		return nil, err
	}
	root, err := s.root(ch.ID, c.str("ts"))
	if err != nil || root == "" {
		return nil, no("thread_not_found")
	}
	var found []*message
	for _, m := range s.messages {
		alive := !m.Deleted || m.Subtype == "tombstone"
		if m.Channel != ch.ID || !alive {
			continue
		}
		if m.TS == root && c.str("cursor") == "" || m.ThreadTS == root && m.TS != root && c.within(m.TS) {
			found = append(found, m)
		}
	}
	return s.page(c, found)
}

// page cuts a list of messages to its limit; the cursor is the next one's timestamp.
func (s *Server) page(c *call, found []*message) (obj, error) {
	if cursor := c.str("cursor"); cursor != "" {
		at := slices.IndexFunc(found, func(m *message) bool { return "next_ts:"+m.TS == cursor })
		if at < 0 {
			return nil, no("invalid_cursor")
		}
		found = found[at:]
	}
	limit := min(c.number("limit", 100), 999)
	out := obj{"has_more": false, "response_metadata": obj{"next_cursor": ""}, "pin_count": 0}
	if len(found) > limit {
		out["has_more"] = true
		out["response_metadata"] = obj{"next_cursor": "next_ts:" + found[limit].TS}
		found = found[:limit]
	}
	shown := make([]obj, 0, len(found))
	for _, m := range found {
		shown = append(shown, s.messageJSON(m, c.flag("include_all_metadata")))
	}
	out["messages"] = shown
	return out, nil
}

// slice is a page of any list; the cursor is an index.
func slice[T any](c *call, all []T) ([]T, string) {
	from, _ := strconv.Atoi(c.str("cursor")) // none is the beginning
	from = min(max(from, 0), len(all))
	to := min(from+c.number("limit", 100), len(all))
	if to == len(all) {
		return all[from:], ""
	}
	return all[from:to], strconv.Itoa(to)
}
