package discordtest

import (
	"net/http"
	"slices"
)

func (s *Server) reacted(c *call, bits int64) (*message, error) {
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

func (s *Server) putReaction(c *call) (any, error) {
	m, err := s.reacted(c, AddReactions|ReadHistory)
	if err != nil {
		return nil, err
	}
	s.react(m, BotUser, c.path("emoji"))
	return nothing{}, nil
}

// react sets a reaction once; the lock is held.
func (s *Server) react(m *message, user, emoji string) bool {
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
	s.tellReaction("MESSAGE_REACTION_ADD", m, user, emoji)
	return true
}

func (s *Server) dropReaction(c *call) (any, error) {
	m, err := s.reacted(c, ReadHistory)
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
	s.tellReaction("MESSAGE_REACTION_REMOVE", m, user, c.path("emoji"))
	return nothing{}, nil
}

func (s *Server) tellReaction(kind string, m *message, user, emoji string) {
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
	s.change()
}
