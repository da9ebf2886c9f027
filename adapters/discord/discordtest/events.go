package discordtest

import (
	"slices"
	"time"
)

// event is something that the sessions are told.
type event struct {
	kind   string
	intent int // 0: everybody is told
	echo   bool
	data   obj                    // of everybody
	each   func(intents int) obj  // instead of data
	wanted func(intents int) bool // instead of intent
	fault  EventFault
}

// tell tells all sessions, unless a fault says otherwise; the lock is held.
func (s *Server) tell(e *event) {
	if s.holding && e.kind != "INTERACTION_CREATE" {
		s.held = append(s.held, e)
		return
	}
	s.dispatch(e)
}

// dispatch sends an event; what the bot itself caused meets no fault.
func (s *Server) dispatch(e *event) {
	if !e.echo {
		e.fault = s.eventFault()
	}
	f := e.fault
	if f.Twice {
		s.later(f.After+time.Millisecond, func() { s.send(e) })
	}
	if f.After > 0 {
		s.later(f.After, func() { s.send(e) })
	} else {
		s.send(e)
	}
	if f.DropSocket {
		s.later(f.After+2*time.Millisecond, s.dropAll)
	}
}

func (s *Server) send(e *event) {
	s.sessions = slices.DeleteFunc(s.sessions, func(se *session) bool { return se.link == nil && time.Since(se.lost) > s.cfg.ResumeLife })
	for _, se := range s.sessions {
		if e.wanted != nil && !e.wanted(se.intents) || e.intent != 0 && se.intents&e.intent == 0 {
			continue
		}
		data := e.data
		if e.each != nil {
			data = e.each(se.intents)
		}
		se.give(e.kind, data)
	}
}

func (s *Server) messageIntent(m *message) int {
	if c := s.channel(m.Channel); c != nil && c.Type == DMChannel {
		return IntentDirectMessages
	}
	return IntentMessages
}

// inGuild adds the guild of a channel.
func (s *Server) inGuild(channel string, data obj) obj {
	for _, c := range s.channels {
		if c.ID == channel {
			put(data, "guild_id", c.Guild)
		}
	}
	return data
}

// tellMessage tells of a message as it is now, to each session what it may read.
func (s *Server) tellMessage(kind string, m *message) {
	c := s.channel(m.Channel)
	if c == nil || !s.sees(BotUser, c) {
		return
	}
	now := *m
	bare, full := s.eventMessage(kind, &now, false), s.eventMessage(kind, &now, true)
	free := s.forBot(&now)
	s.tell(&event{
		kind: kind, intent: s.messageIntent(m), echo: m.Author == BotUser,
		each: func(intents int) obj {
			if free || intents&IntentContent != 0 {
				return full
			}
			return bare
		},
	})
}

func (s *Server) eventMessage(kind string, m *message, content bool) obj {
	out := s.inGuild(m.Channel, s.messageJSON(m, content))
	if kind == "MESSAGE_CREATE" {
		put(out, "nonce", m.Nonce)
	}
	if c := s.channel(m.Channel); c != nil {
		out["channel_type"] = c.Type
		if g := s.guild(c.Guild); g != nil && g.member(m.Author) != nil {
			out["member"] = s.memberJSON(g, g.member(m.Author), false)
		}
	}
	return out
}
