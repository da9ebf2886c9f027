package slacktest

import (
	"encoding/json"
	"slices"
	"strings"
)

// obj is a JSON object on its way out.
type obj map[string]any

// message is a message of the workspace.
type message struct{ Message }

// post stores a new message; the lock is held.
func (s *Server) post(m *message) {
	m.TS, m.Posted = s.ts()
	s.messages = append(s.messages, m)
	s.change()
}

// rewrite keeps what m was and gives it a new text; the lock is held.
func (s *Server) rewrite(m *message, by, text string, blocks json.RawMessage) {
	_, at := s.ts()
	m.Edits = append(m.Edits, Edit{At: at, By: by, Text: m.Text, Blocks: m.Blocks})
	m.Text, m.Blocks = text, blocks
	s.change()
}

// remove deletes m; a parent with replies stays as a tombstone.
func (s *Server) remove(m *message) {
	before := s.messageJSON(m, false)
	m.Deleted = true
	if len(s.replies(m.Channel, m.TS)) > 0 {
		m.Subtype, m.Text, m.Blocks, m.Files = "tombstone", "This message was deleted.", nil, nil
	}
	s.tellDeleted(m, before)
	s.change()
}

func (s *Server) message(channel, ts string) *message {
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// replies are the messages under a parent, oldest first.
func (s *Server) replies(channel, ts string) []*message {
	var out []*message
	for _, m := range s.messages {
		if m.Channel == channel && m.ThreadTS == ts && m.TS != ts && !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

func (s *Server) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *Server) channel(id string) *Channel {
	for _, c := range s.channels {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (c *Channel) has(user string) bool { return slices.Contains(c.Members, user) }

func (c *Channel) kind() string {
	switch {
	case c.IM != "":
		return "im"
	case c.MPIM:
		return "mpim"
	case c.Private:
		return "group"
	default:
		return "channel"
	}
}

func (m *message) react(user, name string) bool {
	for i, r := range m.Reactions {
		if r.Name != name {
			continue
		}
		if slices.Contains(r.Users, user) {
			return false
		}
		m.Reactions[i].Users = append(slices.Clone(r.Users), user)
		return true
	}
	m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{user}})
	return true
}

// messageJSON is a message as the Web API and events show it.
func (s *Server) messageJSON(m *message, metadata bool) obj {
	out := obj{"type": "message", "ts": m.TS, "text": m.Text, "team": Team}
	put(out, "user", m.User)
	put(out, "subtype", m.Subtype)
	put(out, "thread_ts", m.ThreadTS)
	if u := s.user(m.User); u != nil {
		out["team"] = u.TeamID
		if u.TeamID != Team {
			out["user_team"], out["source_team"] = u.TeamID, u.TeamID
		}
	}
	if m.BotID == "" {
		out["client_msg_id"] = "cmi-" + m.TS
	} else {
		out["bot_id"] = m.BotID
		out["bot_profile"] = obj{"id": m.BotID, "name": s.name(m.User), "app_id": s.app(m.BotID), "team_id": Team, "deleted": false, "updated": 1700000000, "icons": obj{}}
		out["app_id"] = s.app(m.BotID)
	}
	raw(out, "blocks", m.Blocks)
	raw(out, "attachments", m.Attachments)
	if n := len(m.Edits); n > 0 {
		out["edited"] = obj{"user": m.Edits[n-1].By, "ts": stamp(m.Edits[n-1].At)}
	}
	if len(m.Files) > 0 {
		var files []obj
		for _, f := range m.Files {
			files = append(files, s.fileJSON(f))
		}
		out["files"], out["upload"] = files, false
	}
	if len(m.Reactions) > 0 {
		out["reactions"] = reactionsJSON(m.Reactions)
	}
	if metadata && m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	s.threadJSON(m, out)
	return out
}

// threadJSON adds what a parent says of its replies, and a reply of its parent.
func (s *Server) threadJSON(m *message, out obj) {
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		if p := s.message(m.Channel, m.ThreadTS); p != nil {
			put(out, "parent_user_id", p.User)
		}
		return
	}
	under := s.replies(m.Channel, m.TS)
	if len(under) == 0 {
		return
	}
	var users []string
	for _, r := range under {
		if r.User != "" && !slices.Contains(users, r.User) {
			users = append(users, r.User)
		}
	}
	out["thread_ts"], out["reply_count"] = m.TS, len(under)
	out["reply_users"], out["reply_users_count"] = users, len(users)
	out["latest_reply"] = under[len(under)-1].TS
}

func reactionsJSON(rs []Reaction) []obj {
	out := make([]obj, 0, len(rs))
	for _, r := range rs {
		out = append(out, obj{"name": r.Name, "users": r.Users, "count": len(r.Users)})
	}
	return out
}

func (s *Server) name(user string) string {
	if u := s.user(user); u != nil {
		return u.RealName
	}
	return user
}

func (s *Server) app(bot string) string {
	if bot == Bot {
		return App
	}
	return "A" + bot
}

// richText is what Slack's own editor makes of a text.
func richText(text string) json.RawMessage {
	var parts []obj
	words := func(text string) {
		if text != "" {
			parts = append(parts, obj{"type": "text", "text": unescape(text)})
		}
	}
	for at := entity.FindStringIndex(text); at != nil; at = entity.FindStringIndex(text) {
		words(text[:at[0]])
		parts = append(parts, richElement(text[at[0]+1:at[1]-1]))
		text = text[at[1]:]
	}
	words(text)
	return encode([]obj{{"type": "rich_text", "block_id": "rt", "elements": []obj{{"type": "rich_text_section", "elements": parts}}}})
}

// richElement is what stands between < and >.
func richElement(e string) obj {
	target, label, _ := strings.Cut(e, "|")
	switch {
	case strings.HasPrefix(target, "@"):
		return obj{"type": "user", "user_id": target[1:]}
	case strings.HasPrefix(target, "#"):
		return obj{"type": "channel", "channel_id": target[1:]}
	case strings.HasPrefix(target, "!subteam^"):
		return obj{"type": "usergroup", "usergroup_id": target[len("!subteam^"):]}
	case strings.HasPrefix(target, "!"):
		return obj{"type": "broadcast", "range": target[1:]}
	default:
		out := obj{"type": "link", "url": target}
		put(out, "text", label)
		return out
	}
}

func unescape(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

func put(o obj, key, value string) {
	if value != "" {
		o[key] = value
	}
}

func raw(o obj, key string, value json.RawMessage) {
	if len(value) > 0 && string(value) != "null" {
		o[key] = value
	}
}

// encode cannot fail: what it is given was decoded from JSON or built here.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("slacktest: " + err.Error())
	}
	return b
}
