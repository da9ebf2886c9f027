package slacktest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	maxText     = 40000
	maxMetadata = 8000
)

// place finds the channel that a message goes to and says why it may not.
func (s *Server) place(id string) (*Channel, error) {
	c := s.channel(id)
	if c == nil && s.user(id) != nil {
		c = s.im(id)
	}
	for _, o := range s.channels {
		if c == nil && o.Name != "" && strings.TrimPrefix(id, "#") == o.Name {
			c = o
		}
	}
	switch {
	case c == nil, !c.has(BotUser) && (c.Private || c.IM != "" || c.MPIM):
		return nil, no("channel_not_found")
	case c.Archived:
		return nil, no("is_archived")
	case !c.has(BotUser):
		return nil, no("not_in_channel")
	default:
		return c, nil
	}
}

// content is what a message consists of, checked.
type content struct {
	text                string
	blocks, attachments json.RawMessage
	metadata            *Metadata
}

func (s *Server) content(c *call) (content, error) {
	out := content{text: c.str("text"), blocks: c.json("blocks"), attachments: c.json("attachments")}
	if utf8.RuneCountInString(out.text) > maxText {
		return out, no("msg_too_long")
	}
	if md := c.str("markdown_text"); md != "" {
		if out.text != "" || out.blocks != nil {
			return out, no("markdown_text_conflict")
		}
		if utf8.RuneCountInString(md) > maxMarkdown {
			return out, no("msg_too_long")
		}
		out.text = md
		out.blocks = encode([]obj{{"type": "markdown", "text": md}})
	}
	if out.blocks != nil {
		blocks, err := s.checkBlocks(out.blocks, inMessage)
		if err != nil {
			return out, err
		}
		if out.blocks = blocks; string(blocks) == "[]" {
			out.blocks = nil
		}
	}
	if raw := c.json("metadata"); raw != nil {
		m, err := readMetadata(raw)
		if err != nil {
			return out, err
		}
		out.metadata = m
	}
	return out, nil
}

func readMetadata(raw json.RawMessage) (*Metadata, error) {
	if len(raw) > maxMetadata {
		return nil, no("metadata_too_large")
	}
	var m Metadata
	if json.Unmarshal(raw, &m) != nil {
		return nil, no("invalid_metadata_format")
	}
	if m.EventType == "" && (len(m.EventPayload) == 0 || string(m.EventPayload) == "null") {
		return &Metadata{}, nil // {} clears
	}
	if m.EventType == "" || len(m.EventPayload) == 0 || m.EventPayload[0] != '{' {
		return nil, no("invalid_metadata_schema")
	}
	return &m, nil
}

// orNil is no metadata where they are empty.
func (m *Metadata) orNil() *Metadata {
	if m == nil || m.EventType == "" {
		return nil
	}
	return m
}

func (c content) empty() bool {
	return c.text == "" && len(c.blocks) == 0 && len(c.attachments) == 0
}

// root is the thread that a reply belongs to: that of its parent. A parent
// that was deleted and left nothing makes it a message of its own.
func (s *Server) root(channel, ts string) (string, error) {
	if ts == "" {
		return "", nil
	}
	for _, m := range s.messages {
		if m.Channel != channel || m.TS != ts {
			continue
		}
		switch {
		case m.ThreadTS != "":
			return m.ThreadTS, nil
		case m.Deleted && m.Subtype != "tombstone":
			return "", nil
		default:
			return m.TS, nil
		}
	}
	return "", no("thread_not_found")
}

func (s *Server) chatPost(c *call) (obj, error) {
	ch, err := s.place(c.str("channel"))
	if err != nil {
		return nil, err
	}
	what, err := s.content(c)
	if err != nil {
		return nil, err
	}
	if what.empty() {
		return nil, no("no_text")
	}
	thread, err := s.root(ch.ID, c.str("thread_ts"))
	if err != nil {
		return nil, err
	}
	m := &message{Message: Message{
		Channel: ch.ID, ThreadTS: thread, User: BotUser, BotID: Bot, Text: what.text,
		Blocks: what.blocks, Attachments: what.attachments,
		Broadcast: thread != "" && c.flag("reply_broadcast"),
	}}
	m.Metadata = what.metadata.orNil()
	if m.Broadcast {
		m.Subtype = "thread_broadcast"
	}
	s.post(m)
	s.tell(m)
	return obj{"channel": ch.ID, "ts": m.TS, "message": s.messageJSON(m, true)}, nil
}

// own finds a message of the bot.
func (s *Server) own(c *call, otherwise string) (*message, error) {
	ch, err := s.place(c.str("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.str("ts"))
	switch {
	case m == nil:
		return nil, no("message_not_found")
	case m.BotID != Bot:
		return nil, no(otherwise)
	default:
		return m, nil
	}
}

func (s *Server) chatUpdate(c *call) (obj, error) {
	m, err := s.own(c, "cant_update_message")
	if err != nil {
		return nil, err
	}
	what, err := s.content(c)
	if err != nil {
		return nil, err
	}
	if what.empty() && what.metadata == nil {
		return nil, no("no_text")
	}
	before := s.messageJSON(m, true)
	s.rewrite(m, BotUser, what.text, what.blocks)
	m.Attachments = what.attachments
	if what.metadata != nil {
		m.Metadata = what.metadata.orNil()
	}
	s.tellChanged(m, before)
	return obj{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": s.messageJSON(m, true)}, nil
}

func (s *Server) chatDelete(c *call) (obj, error) {
	m, err := s.own(c, "cant_delete_message")
	if err != nil {
		return nil, err
	}
	s.remove(m)
	return obj{"channel": m.Channel, "ts": m.TS}, nil
}

func (s *Server) chatEphemeral(c *call) (obj, error) {
	ch, err := s.place(c.str("channel"))
	if err != nil {
		return nil, err
	}
	if !ch.has(c.str("user")) {
		return nil, no("user_not_in_channel")
	}
	what, err := s.content(c)
	if err != nil {
		return nil, err
	}
	if what.empty() {
		return nil, no("no_text")
	}
	thread, err := s.root(ch.ID, c.str("thread_ts"))
	if err != nil {
		return nil, err
	}
	ts := s.whisper(Ephemeral{Channel: ch.ID, ThreadTS: thread, User: c.str("user"), Text: what.text, Blocks: what.blocks})
	return obj{"message_ts": ts}, nil
}

func (s *Server) whisper(e Ephemeral) string {
	e.TS, e.At = s.ts()
	s.ephemeral = append(s.ephemeral, e)
	s.change()
	return e.TS
}
