package wire

// This file turns Slack's events (messages, edits, stops, visits) into
// updates and decides which messages are meant for the bot. Messages read
// back later go the same way.

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

func (r *Reader) event(payload []byte) (*Update, error) {
	var kind kinds
	if err := json.Unmarshal(payload, &kind); err != nil {
		return nil, err
	}
	if kind.Type != "event_callback" || !Understands(kind.Event.Type) {
		return nil, nil //nolint:nilnil // a type that nobody asked for is no error
	}
	var c callback
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, err
	}
	if c.Event.Type == "app_context_changed" && c.Event.User == "" && len(c.Authorizations) > 0 && !c.Authorizations[0].Bot {
		c.Event.User = c.Authorizations[0].User
	}
	u, err := r.update(c.Event)
	if u == nil || err != nil {
		return nil, err
	}
	if c.EventID != "" {
		u.In.Keys = append([]string{Platform + ":" + c.EventID}, u.In.Keys...)
	}
	return u, nil
}

// Understands reports whether an event of the type means something here.
func Understands(kind string) bool {
	return slices.Contains([]string{"app_mention", "message", "app_home_opened", "agent_session_stopped", "agent_session_title_changed",
		"app_context_changed", "assistant_thread_started", "assistant_thread_context_changed", "tokens_revoked", "app_uninstalled",
		"member_joined_channel", "channel_unarchive", "group_unarchive", "channel_deleted", "group_deleted"}, kind)
}

func (r *Reader) update(e event) (*Update, error) {
	switch e.Type {
	case "app_mention", "message":
		return r.message(e)
	case "agent_session_stopped":
		if e.User == "" || e.Channel == "" {
			return nil, errors.New("a stop by nobody, or nowhere")
		}
		return &Update{User: e.User, In: bot.Inbound{At: TimeOf(e.EventTS), Where: r.Address(e.Channel, e.ThreadTS), Act: bot.Stopped{}}}, nil
	case "member_joined_channel", "channel_unarchive", "group_unarchive":
		if e.Type == "member_joined_channel" && e.User != r.BotUser {
			return nil, nil //nolint:nilnil // somebody else came
		}
		return r.place(e.Channel, bot.PlaceBack{})
	case "channel_deleted", "group_deleted":
		return r.place(e.Channel, bot.PlaceGone{})
	case "agent_session_title_changed":
		return &Update{Titled: r.Address(e.Channel, e.ThreadTS)}, nil
	case "app_home_opened":
		return r.home(e), nil
	case "app_context_changed":
		return r.opened(e.User, e.Channel, "", e.Context, false), nil
	case "assistant_thread_started", "assistant_thread_context_changed":
		a := e.Assistant
		if a.Channel == "" || a.Thread == "" {
			return nil, errors.New("an assistant's thread that is nowhere")
		}
		return r.opened(a.User, a.Channel, a.Thread, a.Context, e.Type == "assistant_thread_started"), nil
	}
	return &Update{Gone: true}, nil
}

// home is a look at the app's own pages, nil where it is of no concern.
func (r *Reader) home(e event) *Update {
	switch {
	case e.User == "":
		return nil // nobody looks
	case e.Tab == "messages":
		return r.opened(e.User, e.Channel, "", e.Context, true)
	case e.Tab != "" && e.Tab != "home":
		return nil
	}
	return &Update{User: e.User, Alone: e.Channel == "", In: bot.Inbound{At: TimeOf(e.EventTS), Where: r.Address(e.Channel, ""), Act: bot.Visited{}}}
}

// place is what became of a channel.
func (r *Reader) place(channel string, act bot.Act) (*Update, error) {
	if channel == "" {
		return nil, errors.New("what became of no channel")
	}
	return &Update{In: bot.Inbound{Where: r.Address(channel, ""), Act: act}}, nil
}

// deleted is a message of the bot's own that is gone. Where replies hang on it,
// Slack leaves a tombstone.
func (r *Reader) deleted(e event) *Update {
	m := e.Previous
	if !r.mine(m) || TimeOf(m.TS).IsZero() {
		return nil
	}
	root := m.ThreadTS
	if root == "" {
		root = m.TS
	}
	return &Update{In: bot.Inbound{Where: r.Address(e.Channel, root), Message: r.Address(e.Channel, m.TS), Act: bot.PlaceGone{}}}
}

// Said reads a message that was read back from a channel. Kind is that of the
// channel, as events name it: channel, im, mpim.
func (r *Reader) Said(channel, kind string, m Message) (*Update, error) {
	return r.message(event{Message: m, Type: "message", Channel: channel, ChannelType: kind})
}

// message reads what was said, in whichever event it comes.
func (r *Reader) message(e event) (*Update, error) {
	if e.Channel == "" {
		return nil, errors.New("a message in no channel")
	}
	if e.Subtype == "message_changed" || e.Subtype == "message_deleted" {
		return r.changed(e), nil
	}
	if TimeOf(e.TS).IsZero() {
		return nil, errors.New("a message without a timestamp")
	}
	u := &Update{Channel: e.Channel, TS: e.TS}
	if !spoken(e.Subtype) || r.mine(e.Message) {
		return u, nil
	}
	if e.User == "" && e.BotID == "" {
		return nil, errors.New("a message by nobody")
	}
	said := bot.Said{To: r.addressed(e), Direct: r.direct(e)}
	if !said.To && e.ThreadTS == "" && e.ChannelType != "mpim" || !r.listensTo(e.Message) {
		return u, nil
	}
	r.fill(u, e.Channel, e.Message)
	if said.Files = r.attachments(e.Message); said.Direct {
		said.Viewing = r.viewing(e.Channel, e.AppContext)
	}
	u.In.Act = said
	return u, nil
}

// addressed reports whether a message speaks to the bot.
func (r *Reader) addressed(e event) bool {
	return e.Type == "app_mention" || r.mentions(e.Text) || r.direct(e)
}

// changed reads what became of a message: the bot's own is gone, or a person's was
// edited or deleted.
func (r *Reader) changed(e event) *Update {
	deleted := e.Subtype == "message_deleted"
	if u := r.deleted(e); u != nil && (deleted || e.Changed.Subtype == "tombstone") {
		return u
	}
	if deleted {
		return r.deletion(e)
	}
	return r.edit(e)
}

// fill is who said it where.
func (r *Reader) fill(u *Update, channel string, m Message) {
	root := m.ThreadTS
	if root == "" {
		root = m.TS
	}
	u.User, u.Bot, u.Name, u.Raw = m.User, m.BotID, m.Username, m.Text
	u.In.At, u.In.Where, u.In.Message = TimeOf(m.TS), r.Address(channel, root), r.Address(channel, m.TS)
	u.In.Keys = append(u.In.Keys, u.In.Message.String())
}

// edit reads a person's edit. An edit that first names the bot speaks to
// it as a new message does; any other counts only as a correction, where a run
// lives in the thread. Slack also calls it a change when it unfolds a link.
func (r *Reader) edit(e event) *Update {
	m, before := e.Changed, e.Previous
	if m.Edited.TS == "" || m.Text == before.Text || TimeOf(m.TS).IsZero() || m.User == "" ||
		!spoken(m.Subtype) || r.mine(m) || !r.listensTo(m) {
		return nil
	}
	u := &Update{}
	r.fill(u, e.Channel, m)
	u.In.Edited = true
	named := r.mentions(m.Text) && !r.mentions(before.Text)
	if named && !r.direct(e) {
		u.In.Act = bot.Said{To: true, Files: r.attachments(m)}
		return u
	}
	u.Edit = true
	u.In.Keys = []string{u.In.Message.String() + ":edit:" + m.Edited.TS}
	u.In.At = TimeOf(m.Edited.TS)
	if u.In.At.IsZero() {
		u.In.At = TimeOf(e.EventTS)
	}
	u.In.Act = bot.Said{}
	return u
}

// deletion reads that somebody's reply in a thread was deleted. It counts where a
// run lives in the thread.
func (r *Reader) deletion(e event) *Update {
	m := e.Previous
	if e.Deleted == "" || m.ThreadTS == "" || m.ThreadTS == e.Deleted || m.User == "" || r.mine(m) || !spoken(m.Subtype) {
		return nil
	}
	m.TS = e.Deleted
	u := &Update{Edit: true}
	r.fill(u, e.Channel, m)
	u.In.Keys = []string{u.In.Message.String() + ":deleted"}
	u.In.At, u.In.Act = TimeOf(e.EventTS), bot.Unsaid{}
	return u
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
func (r *Reader) mine(m Message) bool {
	return m.User != "" && m.User == r.BotUser || m.BotID != "" && m.BotID == r.BotID
}

// listensTo reports whether the author may speak to the bot at all: a person,
// or a bot that is allowed by name.
func (r *Reader) listensTo(m Message) bool {
	if m.BotID == "" && m.Subtype != "bot_message" {
		return true
	}
	return m.BotID != "" && (slices.Contains(r.AllowBots, Principal(m.BotID)) || slices.Contains(r.AllowBots, m.BotID))
}

// direct reports whether it was said to the bot alone. A mention's event has no
// type of channel; the letter says it too.
func (r *Reader) direct(e event) bool {
	return e.ChannelType == "im" || e.ChannelType == "" && alone(e.Channel)
}

// alone reports whether a channel is a direct conversation with one person.
func alone(channel string) bool { return strings.HasPrefix(channel, "D") }

func (r *Reader) attachments(m Message) []agent.Attachment {
	var list []agent.Attachment
	by := m.User
	if by == "" {
		by = m.BotID
	}
	for _, f := range m.Files {
		if f.ID == "" || f.Mode == "tombstone" || f.Mode == "hidden_by_limit" {
			continue
		}
		a := agent.Attachment{ID: f.ID, Name: f.Name, Size: int64(min(max(f.Size, 0), 1<<50)), URL: f.Download, By: Principal(by)}
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
