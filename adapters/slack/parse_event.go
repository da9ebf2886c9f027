package slack

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

func (s *Slack) parseEvent(payload []byte) (*notice, error) {
	var kind kinds
	if err := json.Unmarshal(payload, &kind); err != nil {
		return nil, err
	}
	if kind.Type != "event_callback" || !understood(kind.Event.Type) {
		return nil, nil //nolint:nilnil // a type that nobody asked for is no error
	}
	var c callback
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, err
	}
	n, err := s.noticed(c.Event)
	if n == nil || err != nil {
		return nil, err
	}
	if c.EventID != "" {
		n.in.Keys = append([]string{Platform + ":" + c.EventID}, n.in.Keys...)
	}
	return n, nil
}

func understood(kind string) bool {
	return slices.Contains([]string{"app_mention", "message", "app_home_opened", "agent_session_stopped",
		"assistant_thread_started", "tokens_revoked", "app_uninstalled"}, kind)
}

func (s *Slack) noticed(e event) (*notice, error) {
	switch e.Type {
	case "app_mention", "message":
		return s.noticedMessage(e)
	case "agent_session_stopped":
		if e.User == "" || e.Channel == "" {
			return nil, errors.New("a stop by nobody, or nowhere")
		}
		return &notice{user: e.User, in: bot.Inbound{At: timeOf(e.EventTS), Where: s.place(e.Channel, e.ThreadTS), Act: bot.Stopped{}}}, nil
	case "app_home_opened":
		if e.User == "" || e.Tab != "" && e.Tab != "home" {
			return nil, nil //nolint:nilnil // a look at the messages is no visit
		}
		return &notice{user: e.User, alone: e.Channel == "", in: bot.Inbound{At: timeOf(e.EventTS), Where: s.place(e.Channel, ""), Act: bot.Visited{}}}, nil
	case "assistant_thread_started":
		a := e.Assistant
		if a.Channel == "" || a.Thread == "" {
			return nil, errors.New("an assistant's thread that is nowhere")
		}
		return &notice{prompts: s.place(a.Channel, a.Thread)}, nil
	}
	return &notice{gone: true}, nil
}

// noticedMessage reads what was said, in whichever event it comes.
func (s *Slack) noticedMessage(e event) (*notice, error) {
	if e.Channel == "" {
		return nil, errors.New("a message in no channel")
	}
	if e.Subtype == "message_changed" {
		return s.noticedEdit(e), nil
	}
	if timeOf(e.TS).IsZero() {
		return nil, errors.New("a message without a timestamp")
	}
	n := &notice{channel: e.Channel, ts: e.TS}
	if !spoken(e.Subtype) || s.mine(e.message) {
		return n, nil
	}
	if e.User == "" && e.BotID == "" {
		return nil, errors.New("a message by nobody")
	}
	mentioned := e.Type == "app_mention" || s.mentions(e.Text)
	direct := s.direct(e)
	if !mentioned && !direct && e.ThreadTS == "" && e.ChannelType != "mpim" || !s.listensTo(e.message) {
		return n, nil
	}
	s.fill(n, e.Channel, e.message)
	n.in.Act = bot.Said{To: mentioned || direct, Direct: direct, Files: s.attachments(e.message)}
	return n, nil
}

// fill is who said it where.
func (s *Slack) fill(n *notice, channel string, m message) {
	root := m.ThreadTS
	if root == "" {
		root = m.TS
	}
	n.user, n.bot, n.name, n.raw = m.User, m.BotID, m.Username, m.Text
	n.in.At, n.in.Where, n.in.Message = timeOf(m.TS), s.place(channel, root), s.place(channel, m.TS)
	n.in.Keys = append(n.in.Keys, n.in.Message.String())
}

// noticedEdit reads a person's edit. An edit that first names the bot speaks to
// it as a new message does; any other counts only as a correction, where a run
// lives in the thread. Slack also calls it a change when it unfolds a link.
func (s *Slack) noticedEdit(e event) *notice {
	m, before := e.Changed, e.Previous
	if m.Edited.TS == "" || m.Text == before.Text || timeOf(m.TS).IsZero() || m.User == "" ||
		!spoken(m.Subtype) || s.mine(m) || !s.listensTo(m) {
		return nil
	}
	n := &notice{}
	s.fill(n, e.Channel, m)
	named := s.mentions(m.Text) && !s.mentions(before.Text)
	if named && !s.direct(e) {
		n.in.Act = bot.Said{To: true, Files: s.attachments(m)}
		return n
	}
	n.edit = true
	n.in.Keys = []string{n.in.Message.String() + ":edit:" + m.Edited.TS}
	n.in.At = timeOf(m.Edited.TS)
	if n.in.At.IsZero() {
		n.in.At = timeOf(e.EventTS)
	}
	n.in.Act = bot.Said{}
	return n
}

// spoken reports whether a subtype is something that was said.
func spoken(subtype string) bool {
	switch subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
		return true
	}
	return false
}

// mine reports whether the bot said it itself.
func (s *Slack) mine(m message) bool {
	return m.User != "" && m.User == s.botUser || m.BotID != "" && m.BotID == s.botID
}

// listensTo reports whether the author may speak to the bot at all: a person,
// or a bot that is allowed by name.
func (s *Slack) listensTo(m message) bool {
	if m.BotID == "" && m.Subtype != "bot_message" {
		return true
	}
	return m.BotID != "" && (slices.Contains(s.cfg.AllowBots, principal(m.BotID)) || slices.Contains(s.cfg.AllowBots, m.BotID))
}

// direct reports whether it was said to the bot alone. A mention's event has no
// type of channel; the letter says it too.
func (s *Slack) direct(e event) bool {
	return e.ChannelType == "im" || e.ChannelType == "" && alone(e.Channel)
}

// alone reports whether a channel is a direct conversation with one person.
func alone(channel string) bool { return strings.HasPrefix(channel, "D") }

func (s *Slack) attachments(m message) []agent.Attachment {
	var list []agent.Attachment
	by := m.User
	if by == "" {
		by = m.BotID
	}
	for _, f := range m.Files {
		if f.ID == "" || f.Mode == "tombstone" || f.Mode == "hidden_by_limit" {
			continue
		}
		a := agent.Attachment{ID: f.ID, Name: f.Name, Size: int64(min(max(f.Size, 0), 1<<50)), URL: f.Download, By: principal(by)}
		if a.URL == "" {
			a.URL = f.URL
		}
		if a.Name == "" {
			a.Name = f.Title
		}
		list = append(list, a)
	}
	return list
}
