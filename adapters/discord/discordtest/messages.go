package discordtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) postMessage(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	if err := s.mayPost(ch); err != nil {
		return nil, err
	}
	what, err := s.readContent(c, c.body, nil)
	if err != nil {
		return nil, err
	}
	if len(what.files) > 0 && !s.may(BotUser, ch, AttachFiles) {
		return nil, missingPerms()
	}
	if m := s.twin(ch, what); m != nil {
		out := s.messageJSON(m, true)
		out["nonce"] = m.Nonce
		return out, nil
	}
	if what.empty() {
		return nil, emptyMessage()
	}
	m := s.fill(ch.ID, what)
	if err := s.answers(m, what); err != nil {
		return nil, err
	}
	m.Nonce = what.nonce()
	if what.Enforce && m.Nonce != "" {
		m.nonceUntil = time.Now().Add(s.cfg.NonceLife)
	}
	m.Pings = s.pings(m, what.Allowed)
	s.post(m)
	out := s.messageJSON(m, true)
	put(out, "nonce", m.Nonce)
	return out, nil
}

// mayPost says whether the bot may write.
func (s *Server) mayPost(ch *Channel) error {
	bit := int64(SendMessages)
	if ch.Thread() {
		bit = SendInThreads
	}
	switch {
	case ch.Type == ForumChannel:
		return no(http.StatusBadRequest, 50008, "Cannot send messages in a non-text channel")
	case ch.Type == DMChannel && s.user(ch.Recipient) != nil && s.user(ch.Recipient).NoDM:
		return no(http.StatusForbidden, 50007, "Cannot send messages to this user")
	case !s.may(BotUser, ch, bit):
		return missingPerms()
	case ch.Archived && ch.Locked && !s.may(BotUser, ch, ManageThreads):
		return no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	return nil
}

// twin is an earlier message of the bot with the same nonce.
func (s *Server) twin(ch *Channel, what *content) *message {
	if !what.Enforce || what.nonce() == "" {
		return nil
	}
	for _, m := range slices.Backward(s.messages) {
		if m.Channel == ch.ID && m.Author == BotUser && m.Nonce == what.nonce() && !m.Deleted && time.Now().Before(m.nonceUntil) {
			return m
		}
	}
	return nil
}

// fill makes a message of the bot, which is not posted yet.
func (s *Server) fill(channel string, what *content) *message {
	return &message{Message: Message{
		Channel: channel, Author: BotUser, Content: what.text(), Embeds: what.embeds(), Components: what.Components,
		Flags: what.flags() & (FlagComponents | 1<<2 | 1<<12), Files: what.files,
	}}
}

// answers notes what a message replies to.
func (s *Server) answers(m *message, what *content) error {
	if what.Reference == nil || what.Reference.MessageID == "" {
		return nil
	}
	if s.message(m.Channel, what.Reference.MessageID) == nil {
		if what.Reference.FailIfNot != nil && !*what.Reference.FailIfNot {
			return nil
		}
		return invalid("REPLIES_UNKNOWN_MESSAGE", "Unknown message", "message_reference")
	}
	m.Type, m.ReplyTo = ReplyMessage, what.Reference.MessageID
	return nil
}

// post gives a message its id and tells the sessions; the lock is held.
func (s *Server) post(m *message) {
	m.ID = s.id()
	m.Posted = time.Now()
	s.messages = append(s.messages, m)
	if ch := s.channel(m.Channel); ch != nil && ch.Thread() && !m.system() {
		s.join(ch, m.Author)
		if ch.Archived {
			s.archive(ch, false, ch.Locked)
		}
	}
	s.resolve(m)
	if m.For == "" {
		s.tellMessage("MESSAGE_CREATE", m)
	}
	s.change()
}

// resolve turns attachment://name into addresses.
func (s *Server) resolve(m *message) {
	if len(m.Files) == 0 || !strings.Contains(string(m.Components)+string(m.Embeds), "attachment://") {
		return
	}
	replace := func(raw []byte) []byte {
		for _, f := range m.Files {
			raw = []byte(strings.ReplaceAll(string(raw), string(encode("attachment://"+f.Name)), string(encode(s.fileURL(m.Channel, f)))))
		}
		return raw
	}
	m.Components, m.Embeds = replace(m.Components), replace(m.Embeds)
}

func (s *Server) patchMessage(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.path("message"))
	switch {
	case m == nil || m.For != "":
		return nil, unknownMessage()
	case m.system():
		return nil, no(http.StatusForbidden, 50021, "Cannot execute action on a system message")
	case m.Author != BotUser:
		return nil, no(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	case ch.Archived:
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	what, err := s.readContent(c, c.body, m)
	if err != nil {
		return nil, err
	}
	if err := s.rewrite(m, what); err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

// rewrite replaces what was sent and leaves the rest; the lock is held.
func (s *Server) rewrite(m *message, what *content) error {
	next := *m
	if what.Content != nil {
		next.Content = *what.Content
	}
	if what.Embeds != nil {
		next.Embeds = what.embeds()
	}
	if what.hasComponents() {
		next.Components = what.Components
	}
	if what.Flags != nil {
		next.Flags = m.Flags&^(FlagComponents|1<<2) | what.flags()&(FlagComponents|1<<2) | m.Flags&FlagComponents
	}
	if next.Flags&FlagComponents != 0 {
		next.Content, next.Embeds = "", nil
	}
	if what.Attached != nil {
		next.Files = kept(m.Files, *what.Attached)
	}
	next.Files = slices.Concat(next.Files, what.files)
	empty := strings.TrimSpace(next.Content) == "" && len(next.Embeds) == 0 && len(next.Files) == 0
	if empty && (len(next.Components) == 0 || string(next.Components) == "[]") {
		return emptyMessage()
	}
	now := time.Now()
	if m.Flags&FlagLoading == 0 {
		next.Edits = append(slices.Clone(m.Edits), Edit{At: now, Content: m.Content, Embeds: m.Embeds, Components: m.Components})
		next.Edited = now
		next.named = append([]string{}, s.pings(&next, s.still(m, what.Allowed)).Users...)
	} else {
		next.Flags &^= FlagLoading
		next.Pings = s.pings(&next, what.Allowed)
	}
	*m = next
	s.resolve(m)
	if m.For == "" {
		s.tellMessage("MESSAGE_UPDATE", m)
	}
	s.change()
	return nil
}

// still is what an edit may mention: where it does not say, everybody, and whom
// the message answers if it named them before.
func (s *Server) still(m *message, a *allowed) *allowed {
	if a != nil {
		return a
	}
	to := s.message(m.Channel, m.ReplyTo)
	return &allowed{Parse: defaultParse, Replied: to != nil && slices.Contains(m.mentioned(), to.Author)}
}

// kept are the files that an edit names.
func kept(files []File, named []attached) []File {
	var out []File
	for _, f := range files {
		for _, a := range named {
			if strings.Trim(string(a.ID), `"`) == f.ID {
				out = append(out, f)
			}
		}
	}
	return out
}

func (s *Server) dropMessage(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.path("message"))
	switch {
	case m == nil || m.For != "":
		return nil, unknownMessage()
	case m.Author != BotUser && !s.may(BotUser, ch, ManageMessages):
		return nil, missingPerms()
	case ch.Archived:
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	s.remove(m)
	return nothing{}, nil
}

// remove deletes a message and tells the sessions; the lock is held.
func (s *Server) remove(m *message) {
	m.Deleted = true
	if m.For == "" {
		s.tell(&event{kind: "MESSAGE_DELETE", intent: s.messageIntent(m), echo: m.Author == BotUser, data: s.inGuild(m.Channel, obj{"id": m.ID, "channel_id": m.Channel})})
	}
	s.change()
}
