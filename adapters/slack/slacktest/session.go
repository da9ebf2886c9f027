package slacktest

// This file keeps agent sessions: one a thread, with a status, a title and, while
// it is processing, a Stop button. People may give it a title of their own. It
// also keeps what people have open beside the conversation with the agent.
// (docs.slack.dev/ai/agent-sessions, reference/events/app_context_changed)

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSessionTitle is how many characters a session's title has at most.
const maxSessionTitle = 200

// Session is an agent session as it stands.
type Session struct {
	Channel, ThreadTS string
	Status            string // active, processing, suspended, closed
	Title             string
}

// session is the thread's, nil where nothing was said of it.
func (s *workspace) session(channel, thread string) *Session {
	for _, one := range s.sessions {
		if one.Channel == channel && one.ThreadTS == thread {
			return one
		}
	}
	return nil
}

// agentStatus sets the status of an agent session, and begins it with the title
// where there is none. Without a word about stops the app is warned.
func agentStatus(s *workspace, c *call) (obj, error) {
	status, title := c.str("status"), strings.ReplaceAll(c.str("title"), ":", "_")
	if !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status) || utf8.RuneCountInString(title) > maxSessionTitle {
		return nil, no("invalid_arguments")
	}
	channel, thread, err := assistantThread(s, c)
	if err != nil {
		return nil, err
	}
	one := s.session(channel, thread)
	if one == nil {
		one = &Session{Channel: channel, ThreadTS: thread, Title: title}
		s.sessions = append(s.sessions, one)
	}
	one.Status = status
	st := Status{Channel: channel, ThreadTS: thread}
	if status == "processing" {
		st.Status = status
	}
	_, st.At = s.ts()
	s.statuses = append(s.statuses, st)
	s.Change()
	out := obj{"status": status, "agent_status": status}
	if one.Title != "" {
		out["title"] = one.Title
	}
	return out, nil
}

// agentRename gives a session a title.
func agentRename(s *workspace, c *call) (obj, error) {
	title := strings.TrimSpace(c.str("title"))
	if n := utf8.RuneCountInString(title); n == 0 || n > maxSessionTitle {
		return nil, no("invalid_arguments")
	}
	channel, thread, err := assistantThread(s, c)
	if err != nil {
		return nil, err
	}
	one := s.session(channel, thread)
	if one == nil {
		return nil, no("not_authorized")
	}
	one.Title = title
	s.Change()
	return obj{"title": title}, nil
}

// Session is the agent session of a thread; none: it has no status.
func (s Screen) Session(channel, thread string) Session {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if one := s.session(channel, thread); one != nil {
		return *one
	}
	return Session{}
}

// Sessions are all agent sessions, the oldest first.
func (s Screen) Sessions() []Session {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	list := make([]Session, len(s.sessions))
	for i, one := range s.sessions {
		list[i] = *one
	}
	return list
}

// NameSession is somebody giving a session a title of their own.
func (s People) NameSession(user, channel, thread, title string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	one := s.session(channel, thread)
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

// context is what a person has open, as events carry it.
func (s *workspace) context(user string) obj {
	if len(s.viewing[user]) == 0 {
		return obj{}
	}
	return obj{"entities": s.viewing[user]}
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
	if s.viewing == nil {
		s.viewing = map[string][]obj{}
	}
	s.viewing[user] = append([]obj{open}, s.viewing[user]...)
	s.events.emit(obj{"type": "app_context_changed", "user": user, "context": s.context(user)}, user)
}

// OpenMessages opens the conversation with the bot.
func (s People) OpenMessages(user string) (channel string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	im := s.im(user)
	s.events.emit(obj{"type": "app_home_opened", "user": user, "channel": im.ID, "tab": "messages", "context": s.context(user)}, user)
	return im.ID
}
