package slacktest

import (
	"fmt"
	"strings"
	"time"
)

// stamp is a time as Slack writes it.
func stamp(t time.Time) string {
	us := t.UnixMicro()
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

// tell says that a message was posted; the lock is held.
func (s *Server) tell(m *message) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) {
		return
	}
	if m.BotID == Bot && s.cfg.NoEcho {
		return
	}
	plain := s.messageJSON(m, true)
	plain["channel"], plain["channel_type"], plain["event_ts"] = c.ID, c.kind(), m.TS
	mention := s.mentionJSON(m)
	both := c.IM == "" && m.BotID != Bot && strings.Contains(m.Text, "<@"+BotUser+">")
	switch {
	case !both:
		s.emit(plain, m.User)
	case s.cfg.Mentions == OnlyAppMention:
		s.emit(mention, m.User)
	case s.cfg.Mentions == OnlyMessage:
		s.emit(plain, m.User)
	case s.cfg.Mentions == MessageFirst:
		s.emit(plain, m.User)
		s.emit(mention, m.User)
	default:
		s.emit(mention, m.User)
		s.emit(plain, m.User)
	}
}

// mentionJSON is the app_mention of a message: it has no channel_type and no subtype.
func (s *Server) mentionJSON(m *message) obj {
	out := s.messageJSON(m, false)
	out["type"], out["channel"], out["event_ts"] = "app_mention", m.Channel, m.TS
	delete(out, "subtype")
	return out
}

func (s *Server) tellChanged(m *message, before obj) {
	after := s.messageJSON(m, true)
	s.tellHidden(m, "message_changed", obj{"message": after, "previous_message": before})
}

func (s *Server) tellDeleted(m *message, before obj) {
	s.tellHidden(m, "message_deleted", obj{"deleted_ts": m.TS, "previous_message": before})
}

func (s *Server) tellHidden(m *message, subtype string, ev obj) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) || m.BotID == Bot && s.cfg.NoEcho {
		return
	}
	ts, _ := s.ts()
	ev["type"], ev["subtype"], ev["hidden"] = "message", subtype, true
	ev["channel"], ev["channel_type"], ev["ts"], ev["event_ts"] = c.ID, c.kind(), ts, ts
	s.emit(ev, m.User)
}

func (s *Server) tellReaction(kind, user, name string, m *message) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) || user == BotUser && s.cfg.NoEcho {
		return
	}
	s.emit(obj{"type": kind, "user": user, "reaction": name, "item_user": m.User, "item": obj{"type": "message", "channel": m.Channel, "ts": m.TS}}, user)
}

// emit wraps an event and sends it off; the lock is held.
func (s *Server) emit(ev obj, by string) {
	ts, at := s.ts()
	if ev["event_ts"] == nil {
		ev["event_ts"] = ts
	}
	id := s.id("Ev")
	kind, _ := ev["type"].(string)
	channel, _ := ev["channel"].(string)
	shared := false
	if c := s.channel(channel); c != nil {
		shared = c.Shared
	}
	body := obj{
		"token": "verification", "team_id": Team, "api_app_id": App, "event": ev, "type": "event_callback",
		"event_id": id, "event_time": at.Unix(), "is_ext_shared_channel": shared,
		"authorizations": []obj{{"enterprise_id": nil, "team_id": Team, "user_id": BotUser, "is_bot": true, "is_enterprise_install": false}},
		"event_context":  "4-" + id,
	}
	if u := s.user(by); u != nil {
		body["context_team_id"] = Team
	}
	s.send(&delivery{kind: kindEvents, typ: kind, event: id, payload: encode(body)})
}

// Raw delivers an event of any type, known to anybody or not, as the app's
// events are delivered. The event is JSON without its envelope.
func (s *Server) Raw(event map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit(obj(event), "")
}

// RawEnvelope delivers a payload as it is, in an envelope of the given type.
func (s *Server) RawEnvelope(kind string, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(&delivery{kind: kind, typ: "raw", payload: payload})
}
