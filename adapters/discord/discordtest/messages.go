package discordtest

// This file serves the routes that post, edit, delete and read messages and
// set reactions, with the permissions and the nonce check that Discord
// applies.

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

func postMessage(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	if err := mayPost(s, ch); err != nil {
		return nil, err
	}
	what, err := readContent(s, c, c.body, nil)
	if err != nil {
		return nil, err
	}
	if len(what.files) > 0 && !s.may(BotUser, ch, AttachFiles) {
		return nil, missingPerms()
	}
	if m := twin(s, ch, what); m != nil {
		out := s.messageJSON(m, true)
		out["nonce"] = m.Nonce
		return out, nil
	}
	if what.empty() {
		return nil, emptyMessage()
	}
	m := fill(s, ch.ID, what)
	if err := answers(s, m, what); err != nil {
		return nil, err
	}
	m.Nonce = what.nonce()
	if what.Enforce && m.Nonce != "" {
		m.nonceUntil = time.Now().Add(s.cfg.NonceLife)
	}
	m.Pings = s.pings(m, what.Allowed)
	s.post(m)
	out := s.messageJSON(m, true)
	platformtest.Put(out, "nonce", m.Nonce)
	return out, nil
}

// mayPost says whether the bot may write.
func mayPost(s *world, ch *Channel) error {
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
func twin(s *world, ch *Channel, what *content) *message {
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
func fill(s *world, channel string, what *content) *message {
	return &message{Message: Message{
		Channel: channel, Author: BotUser, Content: what.text(), Embeds: what.embeds(), Components: what.Components,
		Flags: what.flags() & (FlagComponents | 1<<2 | 1<<12), Files: what.files,
	}}
}

// answers notes what a message replies to.
func answers(s *world, m *message, what *content) error {
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
func (s *world) post(m *message) {
	m.ID = s.id()
	m.Posted = time.Now()
	s.messages = append(s.messages, m)
	if ch := s.channel(m.Channel); ch != nil && ch.Thread() && !m.system() {
		join(s, ch, m.Author)
		if ch.Archived {
			archive(s, ch, false, ch.Locked)
		}
	}
	resolve(s, m)
	if m.For == "" {
		s.events.tellMessage("MESSAGE_CREATE", m)
	}
	s.Change()
}

// resolve turns attachment://name into addresses.
func resolve(s *world, m *message) {
	if len(m.Files) == 0 || !strings.Contains(string(m.Components)+string(m.Embeds), "attachment://") {
		return
	}
	replace := func(raw []byte) []byte {
		for _, f := range m.Files {
			raw = []byte(strings.ReplaceAll(string(raw), string(platformtest.Encode("attachment://"+f.Name)), string(platformtest.Encode(s.fileURL(m.Channel, f)))))
		}
		return raw
	}
	m.Components, m.Embeds = replace(m.Components), replace(m.Embeds)
}

func patchMessage(s *world, c *call) (any, error) {
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
	what, err := readContent(s, c, c.body, m)
	if err != nil {
		return nil, err
	}
	if err := s.rewrite(m, what); err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

// rewrite replaces what was sent and leaves the rest; the lock is held.
func (s *world) rewrite(m *message, what *content) error {
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
	resolve(s, m)
	if m.For == "" {
		s.events.tellMessage("MESSAGE_UPDATE", m)
	}
	s.Change()
	return nil
}

// still is what an edit may mention: where it does not say, everybody, and whom
// the message answers if it named them before.
func (s *world) still(m *message, a *allowed) *allowed {
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

func dropMessage(s *world, c *call) (any, error) {
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
func (s *world) remove(m *message) {
	m.Deleted = true
	if m.For == "" {
		s.events.tell(&event{kind: "MESSAGE_DELETE", intent: s.messageIntent(m), echo: m.Author == BotUser, data: s.inGuild(m.Channel, obj{"id": m.ID, "channel_id": m.Channel})})
	}
	s.Change()
}

func getMessage(s *world, c *call) (any, error) {
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
func listMessages(s *world, c *call) (any, error) {
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

func reacted(s *world, c *call, bits int64) (*message, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.path("message"))
	switch {
	case m == nil || m.For != "":
		return nil, unknownMessage()
	case ch.Archived:
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	case !s.may(BotUser, ch, bits):
		return nil, missingPerms()
	}
	for _, r := range c.path("emoji") {
		if r > 0x7f { // not one of the words that other platforms use
			return m, nil
		}
	}
	return nil, no(http.StatusBadRequest, 10014, "Unknown Emoji")
}

func putReaction(s *world, c *call) (any, error) {
	m, err := reacted(s, c, AddReactions|ReadHistory)
	if err != nil {
		return nil, err
	}
	s.react(m, BotUser, c.path("emoji"))
	return nothing{}, nil
}

// react sets a reaction once; the lock is held.
func (s *world) react(m *message, user, emoji string) bool {
	at := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == emoji })
	if at < 0 {
		m.Reactions = append(slices.Clone(m.Reactions), Reaction{Name: emoji})
		at = len(m.Reactions) - 1
	}
	if slices.Contains(m.Reactions[at].Users, user) {
		return false
	}
	m.Reactions = slices.Clone(m.Reactions)
	m.Reactions[at].Users = append(slices.Clone(m.Reactions[at].Users), user)
	s.events.tellReaction("MESSAGE_REACTION_ADD", m, user, emoji)
	return true
}

func dropReaction(s *world, c *call) (any, error) {
	m, err := reacted(s, c, ReadHistory)
	if err != nil {
		return nil, err
	}
	user := c.path("user")
	if user == "@me" {
		user = BotUser
	}
	if user != BotUser && !s.may(BotUser, s.channel(m.Channel), ManageMessages) {
		return nil, missingPerms()
	}
	at := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == c.path("emoji") && slices.Contains(r.Users, user) })
	if at < 0 {
		return nothing{}, nil
	}
	m.Reactions = slices.Clone(m.Reactions)
	m.Reactions[at].Users = slices.DeleteFunc(slices.Clone(m.Reactions[at].Users), func(u string) bool { return u == user })
	if len(m.Reactions[at].Users) == 0 {
		m.Reactions = slices.Delete(m.Reactions, at, at+1)
	}
	s.events.tellReaction("MESSAGE_REACTION_REMOVE", m, user, c.path("emoji"))
	return nothing{}, nil
}

func (s *outbox) tellReaction(kind string, m *message, user, emoji string) {
	intent := IntentReactions
	data := s.inGuild(m.Channel, obj{"user_id": user, "channel_id": m.Channel, "message_id": m.ID, "message_author_id": m.Author, "emoji": obj{"id": nil, "name": emoji}, "type": 0, "burst": false})
	ch := s.channel(m.Channel)
	if ch != nil && ch.Guild == "" {
		intent = IntentDirectReactions
	}
	if ch != nil && kind == "MESSAGE_REACTION_ADD" {
		if g := s.guild(ch.Guild); g != nil && g.member(user) != nil {
			data["member"] = s.memberJSON(g, g.member(user), true)
		}
	}
	s.tell(&event{kind: kind, intent: intent, echo: user == BotUser, data: data})
	s.Change()
}
