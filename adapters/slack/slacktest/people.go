package slacktest

import (
	"fmt"
	"slices"
	"strings"
)

// People is what people do in a workspace. Where somebody waits for the app, the
// call returns when it was acknowledged.
type People struct{ *workspace }

// Mention writes "@bot text" in a channel, or in a thread when thread is a
// timestamp, and returns the message's own. The bot hears an app_mention and a
// message with different event ids.
func (s People) Mention(user, channel, thread, text string, files ...Upload) string {
	if !strings.Contains(text, "<@"+BotUser+">") {
		text = "<@" + BotUser + "> " + text
	}
	return s.Say(user, channel, thread, text, files...)
}

// Say writes text, as it goes over the wire (<@U2>, &amp;), in a channel or thread.
func (s People) Say(user, channel, thread, text string, files ...Upload) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
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
	s.events.tell(m)
	return m.TS
}

// DM writes text to the bot in a direct message.
func (s People) DM(user, text string, files ...Upload) string {
	return s.Say(user, s.IM(user), "", text, files...)
}

// IM is the id of the direct message between a person and the bot.
func (s People) IM(user string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.im(user).ID
}

// EditMessage is a person's edit of a message.
func (s People) EditMessage(user, channel, ts, text string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to edit", ts, channel)
	}
	before := s.messageJSON(m, false)
	s.rewrite(m, user, text, richText(text))
	s.events.tellChanged(m, before)
	return nil
}

// DeleteMessage is a person's deletion of a message.
func (s People) DeleteMessage(channel, ts string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to delete", ts, channel)
	}
	s.events.remove(m)
	return nil
}

// React sets a person's reaction.
func (s People) React(user, channel, ts, name string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	m := s.message(channel, ts)
	if m == nil {
		return fmt.Errorf("slacktest: no message %s in %s to react to", ts, channel)
	}
	if !m.react(user, name) {
		return fmt.Errorf("slacktest: %s has reacted with %s already", user, name)
	}
	s.events.tellReaction("reaction_added", user, name, m)
	s.Change()
	return nil
}

// OpenHome opens the app's Home.
func (s People) OpenHome(user string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	ev := obj{"type": "app_home_opened", "user": user, "channel": s.im(user).ID, "tab": "home"}
	for _, v := range s.views {
		if v.Type == "home" && v.User == user {
			ev["view"] = s.viewJSON(v)
		}
	}
	s.events.emit(ev, user)
}

// Stop presses the native Stop button, which a thread has while its status is
// set.
func (s People) Stop(user, channel, thread string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.sessions.shown(channel, thread) == "" {
		return fmt.Errorf("slacktest: thread %s in %s has no status, so no Stop button", thread, channel)
	}
	s.events.emit(obj{"type": "agent_session_stopped", "user": user, "channel": channel, "thread_ts": thread, "streaming_message_ts": []string{}}, user)
	return nil
}

// AssistantThread opens the app's assistant beside #general and returns the
// channel and the thread.
func (s People) AssistantThread(user string) (channel, thread string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	im := s.im(user)
	m := &message{Message: Message{Channel: im.ID, User: BotUser, BotID: Bot, Subtype: "assistant_app_thread", Text: "New Assistant Thread"}}
	s.post(m)
	s.sessions.threads = append(s.sessions.threads, &Thread{Channel: im.ID, ThreadTS: m.TS})
	s.events.emit(obj{"type": "assistant_thread_started", "assistant_thread": obj{
		"user_id": user, "channel_id": im.ID, "thread_ts": m.TS,
		"context": obj{"channel_id": General, "team_id": Team, "enterprise_id": nil},
	}}, user)
	return im.ID, m.TS
}

// NameSession is somebody giving a session a title of their own.
func (s People) NameSession(user, channel, thread, title string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	one := s.sessions.of(channel, thread)
	if one == nil {
		return fmt.Errorf("slacktest: thread %s in %s has no session", thread, channel)
	}
	ev := obj{"type": "agent_session_title_changed", "user": user, "team_id": Team, "channel": channel, "thread_ts": thread, "title": title}
	if one.Title != "" {
		ev["previous_title"] = one.Title
	}
	one.Title = title
	s.Change()
	s.events.emit(ev, user)
	return nil
}

// View opens a channel, or with ts a message in it, beside the conversation with
// the bot. It comes before what the person has opened so far.
func (s People) View(user, channel, ts string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	open := obj{"type": "slack#/types/channel_id", "value": channel, "team_id": Team}
	if ts != "" {
		open = obj{"type": "slack#/types/message_context", "value": obj{"channel_id": channel, "message_ts": ts}, "team_id": Team}
	}
	s.sessions.open(user, open)
	s.events.emit(obj{"type": "app_context_changed", "user": user, "context": s.sessions.context(user)}, user)
}

// OpenMessages opens the conversation with the bot.
func (s People) OpenMessages(user string) (channel string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	im := s.im(user)
	s.events.emit(obj{"type": "app_home_opened", "user": user, "channel": im.ID, "tab": "messages", "context": s.sessions.context(user)}, user)
	return im.ID
}

// AddUser adds a person or a bot, or changes one with the same id.
func (s People) AddUser(u User) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	u.complete()
	s.users = slices.DeleteFunc(s.users, func(o *User) bool { return o.ID == u.ID })
	s.users = append(s.users, &u)
	s.Change()
}

// AddChannel adds a conversation, or changes the one with the same id.
func (s People) AddChannel(c Channel) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.channels = slices.DeleteFunc(s.channels, func(o *Channel) bool { return o.ID == c.ID })
	s.channels = append(s.channels, &c)
	s.Change()
}

// AddGroup adds a user group, or changes the one with the same id.
func (s People) AddGroup(g UserGroup) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.groups = slices.DeleteFunc(s.groups, func(o *UserGroup) bool { return o.ID == g.ID })
	s.groups = append(s.groups, &g)
	s.Change()
}
