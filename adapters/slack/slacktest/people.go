package slacktest

import (
	"fmt"
	"slices"
	"strings"
)

// Mention writes "@bot text" in a channel, or in a thread when thread is a
// timestamp, and returns the message's own. The bot hears an app_mention and a
// message with different event ids.
func (s *Server) Mention(user, channel, thread, text string, files ...Upload) string {
	if !strings.Contains(text, "<@"+BotUser+">") {
		text = "<@" + BotUser + "> " + text
	}
	return s.Say(user, channel, thread, text, files...)
}

// Say writes text, as it goes over the wire (<@U2>, &amp;), in a channel or thread.
func (s *Server) Say(user, channel, thread, text string, files ...Upload) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &message{Message: Message{Channel: channel, ThreadTS: thread, User: user, Text: text, Blocks: richText(text)}}
	if u := s.user(user); u != nil && u.Bot {
		m.BotID = u.BotID
	}
	for _, f := range files {
		m.Files = append(m.Files, s.keep(user, channel, f).File)
	}
	if len(files) > 0 {
		m.Subtype = "file_share"
	}
	s.post(m)
	s.tell(m)
	return m.TS
}

// DM writes text to the bot in a direct message.
func (s *Server) DM(user, text string, files ...Upload) string {
	return s.Say(user, s.IM(user), "", text, files...)
}

// IM is the id of the direct message between a person and the bot.
func (s *Server) IM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.im(user).ID
}

func (s *Server) im(user string) *Channel {
	for _, c := range s.channels {
		if c.IM == user {
			return c
		}
	}
	c := &Channel{ID: "D" + user, IM: user, Members: []string{user, BotUser}}
	s.channels = append(s.channels, c)
	return c
}

// EditMessage is a person's edit of a message.
func (s *Server) EditMessage(user, channel, ts, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to edit", ts, channel)
	}
	before := s.messageJSON(m, false)
	s.rewrite(m, user, text, richText(text))
	s.tellChanged(m, before)
	return nil
}

// DeleteMessage is a person's deletion of a message.
func (s *Server) DeleteMessage(channel, ts string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to delete", ts, channel)
	}
	s.remove(m)
	return nil
}

// React sets a person's reaction.
func (s *Server) React(user, channel, ts, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to react to", ts, channel)
	}
	if !m.react(user, name) {
		return fmt.Errorf("slacktest: %s has reacted with %s already", user, name)
	}
	s.tellReaction("reaction_added", user, name, m)
	s.change()
	return nil
}

// OpenHome opens the app's Home.
func (s *Server) OpenHome(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ev := obj{"type": "app_home_opened", "user": user, "channel": s.im(user).ID, "tab": "home"}
	for _, v := range s.views {
		if v.Type == "home" && v.User == user {
			ev["view"] = s.viewJSON(v)
		}
	}
	s.emit(ev, user)
}

// Stop presses the native Stop button, which a thread has while its status is
// set.
func (s *Server) Stop(user, channel, thread string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status(channel, thread) == "" {
		return fmt.Errorf("slacktest: thread %s in %s has no status, so no Stop button", thread, channel)
	}
	s.emit(obj{"type": "agent_session_stopped", "user": user, "channel": channel, "thread_ts": thread, "streaming_message_ts": []string{}}, user)
	return nil
}

// AssistantThread opens the app's assistant beside #general and returns the
// channel and the thread.
func (s *Server) AssistantThread(user string) (channel, thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	im := s.im(user)
	m := &message{Message: Message{Channel: im.ID, User: BotUser, BotID: Bot, Subtype: "assistant_app_thread", Text: "New Assistant Thread"}}
	s.post(m)
	s.threads = append(s.threads, &Thread{Channel: im.ID, ThreadTS: m.TS})
	s.emit(obj{"type": "assistant_thread_started", "assistant_thread": obj{
		"user_id": user, "channel_id": im.ID, "thread_ts": m.TS,
		"context": obj{"channel_id": General, "team_id": Team, "enterprise_id": nil},
	}}, user)
	return im.ID, m.TS
}

// AddUser adds a person or a bot, or changes one with the same id.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.complete()
	s.users = slices.DeleteFunc(s.users, func(o *User) bool { return o.ID == u.ID })
	s.users = append(s.users, &u)
	s.change()
}

// AddChannel adds a conversation, or changes the one with the same id.
func (s *Server) AddChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels = slices.DeleteFunc(s.channels, func(o *Channel) bool { return o.ID == c.ID })
	s.channels = append(s.channels, &c)
	s.change()
}

// AddGroup adds a user group, or changes the one with the same id.
func (s *Server) AddGroup(g UserGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = slices.DeleteFunc(s.groups, func(o *UserGroup) bool { return o.ID == g.ID })
	s.groups = append(s.groups, &g)
	s.change()
}

func (u *User) complete() {
	def(&u.TeamID, Team)
	def(&u.TZ, "Europe/Berlin")
	def(&u.Name, strings.ToLower(u.ID))
	def(&u.RealName, u.Name)
	if u.Bot {
		def(&u.BotID, "B"+u.ID)
	}
}
