package discordtest

// This file keeps gateway sessions across connections: it identifies clients,
// checks their intents, and replays missed events when one resumes.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Intents of the gateway.
const (
	IntentGuilds          = 1 << 0
	IntentMembers         = 1 << 1 // privileged
	IntentPresences       = 1 << 8 // privileged
	IntentMessages        = 1 << 9
	IntentReactions       = 1 << 10
	IntentDirectMessages  = 1 << 12
	IntentDirectReactions = 1 << 13
	IntentContent         = 1 << 15 // privileged

	privileged = IntentMembers | IntentPresences | IntentContent
	allIntents = 1<<26 - 1
)

const maxReplay = 1000 // events that a session remembers

// session is a client's state, which outlives its connections.
type session struct {
	id      string
	intents int
	seq     int
	past    []past
	link    *link
	lost    time.Time
}

type past struct {
	seq   int
	frame []byte
}

// heard answers a frame of the client; the lock is held.
func (s *sockets) heard(l *link, op int, data json.RawMessage) {
	switch op {
	case opHeartbeat:
		s.beats++
		s.Change()
		if l.beat != nil {
			l.beat.Reset(2*s.cfg.Heartbeat + time.Second)
		}
		if !s.zombie {
			l.op(opAck, nil)
		}
	case opIdentify:
		s.identify(l, data)
	case opResume:
		s.resume(l, data)
	case opPresence, opVoice, opMembers:
		if l.session == nil {
			l.goodbye(closeNotYet, "Not authenticated.")
		} else if op == opMembers {
			s.chunk(l, data)
		}
	default:
		l.goodbye(closeOpcode, "Unknown opcode.")
	}
}

func (s *sockets) identify(l *link, data json.RawMessage) {
	var d struct {
		Token   string `json:"token"`
		Intents *int   `json:"intents"`
	}
	refuse := l.goodbye
	switch {
	case json.Unmarshal(data, &d) != nil:
		refuse(closeDecode, "Error while decoding payload.")
		return
	case l.session != nil:
		refuse(closeAlready, "Already authenticated.")
		return
	case s.revoked || bare(d.Token) != s.Token:
		refuse(closeAuth, "Authentication failed.")
		return
	case d.Intents == nil || *d.Intents < 0 || *d.Intents > allIntents:
		refuse(closeIntents, "Invalid intent(s).")
		return
	case *d.Intents&privileged&^s.cfg.Privileged != 0:
		refuse(closeDenied, "Disallowed intent(s).")
		return
	}
	se := &session{id: "session" + s.id(), intents: *d.Intents, link: l}
	l.session = se
	s.sessions = append(s.sessions, se)
	guilds := []obj{}
	for _, g := range s.guilds {
		if g.botIn {
			guilds = append(guilds, obj{"id": g.ID, "unavailable": true})
		}
	}
	me, _ := me(s.world, nil) // never an error
	se.give("READY", obj{
		"v": 9, "user": me, "guilds": guilds, "session_id": se.id, "resume_gateway_url": socketURL(s.world), "private_channels": []obj{},
		"session_type": "normal", "application": obj{"id": App, "flags": 0}, "shard": []int{0, 1},
	})
	if se.intents&IntentGuilds != 0 {
		for _, g := range s.guilds {
			if g.botIn {
				se.give("GUILD_CREATE", s.guildFull(g))
			}
		}
	}
	s.Change()
}

func bare(token string) string {
	if len(token) > 4 && token[:4] == "Bot " {
		return token[4:]
	}
	return token
}

func (s *sockets) resume(l *link, data json.RawMessage) {
	var d struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int    `json:"seq"`
	}
	if json.Unmarshal(data, &d) != nil {
		l.goodbye(closeDecode, "Error while decoding payload.")
		return
	}
	if s.revoked || bare(d.Token) != s.Token {
		l.goodbye(closeAuth, "Authentication failed.")
		return
	}
	at := slices.IndexFunc(s.sessions, func(se *session) bool { return se.id == d.Session })
	if at < 0 || s.sessions[at].link == nil && time.Since(s.sessions[at].lost) > s.cfg.ResumeLife {
		l.op(opInvalid, false)
		return
	}
	se := s.sessions[at]
	if d.Seq > se.seq {
		l.goodbye(closeSeq, "Invalid seq.")
		return
	}
	if len(se.past) > 0 && d.Seq < se.past[0].seq-1 {
		l.op(opInvalid, false)
		return
	}
	if se.link != nil {
		se.link.session = nil
		se.link.Cut()
	}
	se.link, l.session = l, se
	for _, p := range se.past {
		if p.seq > d.Seq {
			l.write(p.frame)
		}
	}
	se.give("RESUMED", obj{"_trace": []string{"discordtest"}})
	s.Change()
}

// forget makes a session one that cannot be resumed; the lock is held.
func (s *sockets) forget(se *session) {
	s.sessions = slices.DeleteFunc(s.sessions, func(o *session) bool { return o == se })
}

// give sends an event to one session, now or when it resumes.
func (se *session) give(kind string, data any) []byte {
	se.seq++
	f := platformtest.Encode(obj{"op": opDispatch, "d": data, "s": se.seq, "t": kind})
	if kind != "RESUMED" {
		se.past = append(se.past, past{se.seq, f})
		if len(se.past) > maxReplay {
			se.past = slices.Clone(se.past[len(se.past)-maxReplay:])
		}
	}
	if se.link != nil {
		se.link.write(f)
	}
	return f
}

// chunk answers a request for members.
func (s *sockets) chunk(l *link, data json.RawMessage) {
	var d struct {
		Guild json.RawMessage `json:"guild_id"` // a string, or a list of one
		Users []string        `json:"user_ids"`
		Nonce string          `json:"nonce"`
	}
	_ = json.Unmarshal(data, &d) // what is not there is empty
	for _, g := range s.guilds {
		if !g.botIn || !slices.Contains(quoted(d.Guild), g.ID) {
			continue
		}
		members := []obj{}
		for i := range g.Members {
			if slices.Contains(d.Users, g.Members[i].User) || len(d.Users) == 0 && l.session.intents&IntentMembers != 0 {
				members = append(members, s.memberJSON(g, &g.Members[i], true))
			}
		}
		l.session.give("GUILD_MEMBERS_CHUNK", obj{"guild_id": g.ID, "members": members, "chunk_index": 0, "chunk_count": 1, "not_found": []string{}, "nonce": d.Nonce})
	}
}

func quoted(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	one, err := strconv.Unquote(string(raw))
	if err != nil {
		return nil
	}
	return []string{one}
}

// Heartbeats is how many heartbeats came, over all sockets.
func (s *sockets) Heartbeats() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.beats
}

// Sessions are the ids of all sessions that are alive or may be resumed.
func (s *sockets) Sessions() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	out := make([]string, 0, len(s.sessions))
	for _, se := range s.sessions {
		out = append(out, fmt.Sprintf("%s seq %d", se.id, se.seq))
	}
	return out
}
