package slacktest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxText     = 40000
	maxMetadata = 8000
)

// place finds the channel that a message goes to and says why it may not.
func (s *workspace) place(id string) (*Channel, error) {
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

func (s *workspace) content(c *call) (content, error) {
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
		out.blocks = platformtest.Encode([]obj{{"type": "markdown", "text": md}})
	}
	if out.blocks != nil {
		blocks, err := checkBlocks(s, out.blocks, inMessage)
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
func (s *workspace) root(channel, ts string) (string, error) {
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

func chatPost(s *workspace, c *call) (obj, error) {
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
	s.events.tell(m)
	return obj{"channel": ch.ID, "ts": m.TS, "message": s.messageJSON(m, true)}, nil
}

// own finds a message of the bot.
func (s *workspace) own(c *call, otherwise string) (*message, error) {
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

func chatUpdate(s *workspace, c *call) (obj, error) {
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
	s.events.tellChanged(m, before)
	return obj{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": s.messageJSON(m, true)}, nil
}

func chatDelete(s *workspace, c *call) (obj, error) {
	m, err := s.own(c, "cant_delete_message")
	if err != nil {
		return nil, err
	}
	s.events.remove(m)
	return obj{"channel": m.Channel, "ts": m.TS}, nil
}

func chatEphemeral(s *workspace, c *call) (obj, error) {
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

func (s *workspace) whisper(e Ephemeral) string {
	e.TS, e.At = s.ts()
	s.ephemeral = append(s.ephemeral, e)
	s.Change()
	return e.TS
}

// readable finds a channel that the bot may read.
func (s *workspace) readable(id string) (*Channel, error) {
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
func conversationsHistory(s *workspace, c *call) (obj, error) {
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
func conversationsReplies(s *workspace, c *call) (obj, error) {
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
func (s *workspace) page(c *call, found []*message) (obj, error) {
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
