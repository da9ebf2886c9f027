package slacktest

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

func (s *Server) chatStartStream(c *call) (obj, error) {
	ch, err := s.place(c.str("channel"))
	if err != nil {
		return nil, err
	}
	if c.str("thread_ts") == "" {
		return nil, no("invalid_arguments")
	}
	thread, err := s.root(ch.ID, c.str("thread_ts"))
	if err != nil {
		return nil, err
	}
	if ch.IM == "" {
		switch {
		case c.str("recipient_team_id") == "":
			return nil, no("missing_recipient_team_id")
		case c.str("recipient_user_id") == "":
			return nil, no("missing_recipient_user_id")
		}
	}
	m := &message{
		Message: Message{Channel: ch.ID, ThreadTS: thread, User: BotUser, BotID: Bot, Streaming: true},
		stream:  &stream{started: time.Now()},
	}
	if err := s.grow(m, c); err != nil {
		return nil, err
	}
	s.post(m)
	return obj{"channel": ch.ID, "ts": m.TS}, nil
}

func (s *Server) chatAppendStream(c *call) (obj, error) {
	m, err := s.streaming(c)
	if err != nil {
		return nil, err
	}
	if c.str("markdown_text") == "" && c.str("chunks") == "" {
		return nil, no("no_text")
	}
	if err := s.grow(m, c); err != nil {
		return nil, err
	}
	return obj{"channel": m.Channel, "ts": m.TS}, nil
}

func (s *Server) chatStopStream(c *call) (obj, error) {
	m, err := s.streaming(c)
	if err != nil {
		return nil, err
	}
	if blocks := c.json("blocks"); blocks != nil {
		if _, err := s.checkBlocks(blocks, inMessage); err != nil {
			return nil, err
		}
		m.stream.extra = append(m.stream.extra, blocks)
	}
	if raw := c.json("metadata"); raw != nil {
		meta, err := readMetadata(raw)
		if err != nil {
			return nil, err
		}
		m.Metadata = meta.orNil()
	}
	if err := s.grow(m, c); err != nil {
		return nil, err
	}
	m.Streaming = false
	s.tell(m)
	s.change()
	return obj{"channel": m.Channel, "ts": m.TS, "message": s.messageJSON(m, true)}, nil
}

// streaming finds a stream of the bot that is still alive.
func (s *Server) streaming(c *call) (*message, error) {
	m, err := s.own(c, "message_not_owned_by_app")
	if err != nil {
		return nil, err
	}
	if !m.Streaming || time.Since(m.stream.started) > s.cfg.StreamLife {
		return nil, no("message_not_in_streaming_state")
	}
	return m, nil
}

// grow adds what a call brings to a stream and writes the message anew.
func (s *Server) grow(m *message, c *call) error {
	st := m.stream
	var add strings.Builder
	_, _ = add.WriteString(c.str("markdown_text")) // a builder takes everything
	var chunks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		ID      string          `json:"id"`
		Title   string          `json:"title"`
		Status  string          `json:"status"`
		Details string          `json:"details"`
		Output  string          `json:"output"`
		Blocks  json.RawMessage `json:"blocks"`
	}
	if raw := c.json("chunks"); raw != nil && json.Unmarshal(raw, &chunks) != nil {
		return no("invalid_chunks")
	}
	for _, k := range chunks {
		switch k.Type {
		case "markdown_text":
			_, _ = add.WriteString(k.Text) // as above
		case "plan_update":
			st.plan = k.Title
		case "task_update":
			st.task(obj{"type": "task_card", "task_id": k.ID, "title": k.Title, "status": k.Status})
		case "blocks":
			if _, err := s.checkBlocks(k.Blocks, inMessage); err != nil {
				return err
			}
			st.extra = append(st.extra, k.Blocks)
		default:
			return no("invalid_chunks")
		}
	}
	if utf8.RuneCountInString(add.String()) > maxMarkdown {
		return no("msg_too_long")
	}
	_, _ = st.text.WriteString(add.String()) // as above
	m.Text, m.Blocks = st.text.String(), st.blocks()
	s.change()
	return nil
}

// task adds a task card, or replaces the one with its id.
func (st *stream) task(card obj) {
	for i, t := range st.tasks {
		if t["task_id"] == card["task_id"] {
			st.tasks[i] = card
			return
		}
	}
	st.tasks = append(st.tasks, card)
}

func (st *stream) blocks() json.RawMessage {
	var out []any
	switch {
	case st.plan != "":
		out = append(out, obj{"type": "plan", "title": st.plan, "tasks": st.tasks})
	default:
		for _, t := range st.tasks {
			out = append(out, t)
		}
	}
	if st.text.Len() > 0 {
		out = append(out, obj{"type": "markdown", "text": st.text.String()})
	}
	for _, raw := range st.extra {
		var more []any
		_ = json.Unmarshal(raw, &more) // checked when it came
		out = append(out, more...)
	}
	if len(out) == 0 {
		return nil
	}
	return encode(out)
}
