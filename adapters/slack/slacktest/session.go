package slacktest

// This file keeps agent sessions: one a thread, with a status, a title and, while
// it is processing, a Stop button; and the older assistant's threads, with a
// status and prompts. It also keeps what people have open beside the
// conversation with the agent.
// (docs.slack.dev/ai/agent-sessions, reference/events/app_context_changed)

import (
	"encoding/json"
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

// sessions are what the app told of its threads, and what people have open
// beside them.
type sessions struct {
	list     []*Session
	statuses []Status
	threads  []*Thread
	viewing  map[string][]obj // by person, the newest first
}

// of is the session of a thread, nil where nothing was said of it.
func (s *sessions) of(channel, thread string) *Session {
	for _, one := range s.list {
		if one.Channel == channel && one.ThreadTS == thread {
			return one
		}
	}
	return nil
}

// shown is the status that a thread shows now, empty for none.
func (s *sessions) shown(channel, thread string) string {
	for _, st := range slices.Backward(s.statuses) {
		if st.Channel == channel && st.ThreadTS == thread {
			return st.Status
		}
	}
	return ""
}

// thread is what the app told a thread, from now on if it told nothing yet.
func (s *sessions) thread(channel, thread string) *Thread {
	for _, t := range s.threads {
		if t.Channel == channel && t.ThreadTS == thread {
			return t
		}
	}
	t := &Thread{Channel: channel, ThreadTS: thread}
	s.threads = append(s.threads, t)
	return t
}

// open notes what a person has opened.
func (s *sessions) open(user string, what obj) {
	if s.viewing == nil {
		s.viewing = map[string][]obj{}
	}
	s.viewing[user] = append([]obj{what}, s.viewing[user]...)
}

// context is what a person has open, as events carry it.
func (s *sessions) context(user string) obj {
	if len(s.viewing[user]) == 0 {
		return obj{}
	}
	return obj{"entities": s.viewing[user]}
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
	one := s.sessions.of(channel, thread)
	if one == nil {
		one = &Session{Channel: channel, ThreadTS: thread, Title: title}
		s.sessions.list = append(s.sessions.list, one)
	}
	one.Status = status
	st := Status{Channel: channel, ThreadTS: thread}
	if status == "processing" {
		st.Status = status
	}
	_, st.At = s.ts()
	s.sessions.statuses = append(s.sessions.statuses, st)
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
	one := s.sessions.of(channel, thread)
	if one == nil {
		return nil, no("not_authorized")
	}
	one.Title = title
	s.Change()
	return obj{"title": title}, nil
}

func assistantThread(s *workspace, c *call) (channel, thread string, err error) {
	ch, err := s.readable(c.str("channel_id"))
	if err != nil {
		return "", "", err
	}
	thread, err = s.root(ch.ID, c.str("thread_ts"))
	if err != nil || thread == "" {
		return "", "", no("thread_not_found")
	}
	return ch.ID, thread, nil
}

func assistantStatus(s *workspace, c *call) (obj, error) {
	channel, thread, err := assistantThread(s, c)
	if err != nil {
		return nil, err
	}
	st := Status{Channel: channel, ThreadTS: thread, Status: c.str("status")}
	_, st.At = s.ts()
	s.sessions.statuses = append(s.sessions.statuses, st)
	s.Change()
	return obj{}, nil
}

// assistantPrompts sets the prompts of an older assistant's thread, or without
// one those of the direct conversation with an agent.
func assistantPrompts(s *workspace, c *call) (obj, error) {
	t, err := assistantOf(s, c)
	if err != nil {
		return nil, err
	}
	prompts := list(obj{"p": decode(c.json("prompts"))}, "p")
	if len(prompts) == 0 || len(prompts) > 4 {
		return nil, no("invalid_arguments")
	}
	t.Prompts = c.json("prompts")
	s.Change()
	return obj{}, nil
}

// decode is JSON as Go has it; nil when it is none.
func decode(raw json.RawMessage) any {
	var v any
	_ = json.Unmarshal(raw, &v) // nil then
	return v
}

func assistantOf(s *workspace, c *call) (*Thread, error) {
	channel, thread, err := c.str("channel_id"), "", error(nil)
	if c.str("thread_ts") != "" {
		channel, thread, err = assistantThread(s, c)
	} else if ch := s.channel(channel); ch == nil || ch.IM == "" {
		err = no("channel_not_found")
	}
	if err != nil {
		return nil, err
	}
	return s.sessions.thread(channel, thread), nil
}

// Session is the agent session of a thread; none: it has no status.
func (s Screen) Session(channel, thread string) Session {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if one := s.sessions.of(channel, thread); one != nil {
		return *one
	}
	return Session{}
}

// Sessions are all agent sessions, the oldest first.
func (s Screen) Sessions() []Session {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	list := make([]Session, len(s.sessions.list))
	for i, one := range s.sessions.list {
		list[i] = *one
	}
	return list
}
