package slacktest

import (
	"encoding/json"
	"net/http"
	"time"
)

const hookUses = 5

// trigger is a trigger_id: it opens one view within three seconds.
type trigger struct {
	user  string
	until time.Time
	used  bool
}

// hook is a response_url: five uses within half an hour.
type hook struct {
	user, channel, thread, ts string
	until                     time.Time
	uses                      int
}

// newTrigger is a trigger_id for what a person just did; the lock is held.
func (s *Server) newTrigger(user string) string {
	id := s.id("trigger.")
	s.triggers[id] = &trigger{user: user, until: time.Now().Add(s.cfg.TriggerLife)}
	return id
}

// pull uses a trigger_id up and says whose it was.
func (s *Server) pull(id string) (string, error) {
	t := s.triggers[id]
	switch {
	case t == nil:
		return "", no("invalid_trigger_id")
	case t.used:
		return "", no("exchanged_trigger_id")
	case time.Now().After(t.until):
		return "", no("expired_trigger_id")
	}
	t.used = true
	return t.user, nil
}

// newHook is a response_url; the lock is held.
func (s *Server) newHook(user, channel, thread, ts string) string {
	id := s.id("H")
	s.hooks[id] = &hook{user: user, channel: channel, thread: thread, ts: ts, until: time.Now().Add(s.cfg.HookLife)}
	return s.base + "/hooks/" + id
}

func (s *Server) serveHook(w http.ResponseWriter, r *http.Request) {
	c, err := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	c.args["hook"] = r.PathValue("id")
	s.serve(w, "response_url", method{open: true, fn: (*Server).useHook}, c, err)
}

func (s *Server) useHook(c *call) (obj, error) {
	h := s.hooks[c.str("hook")]
	switch {
	case h == nil:
		return nil, &slackError{code: "no_hook", status: http.StatusNotFound}
	case time.Now().After(h.until):
		return nil, &slackError{code: "expired_url", status: http.StatusNotFound}
	case h.uses >= hookUses:
		return nil, &slackError{code: "used_url", status: http.StatusNotFound}
	}
	h.uses++
	return obj{}, s.respond(h, c)
}

// respond is what a response_url, or the answer to a slash command, does: it
// replaces or deletes the message that was clicked, or posts a new one for the
// person or for everybody.
func (s *Server) respond(h *hook, c *call) error {
	m := s.message(h.channel, h.ts)
	switch {
	case c.flag("delete_original"):
		if m != nil {
			s.remove(m)
		}
		s.dropEphemeral(h.ts)
		return nil
	case c.flag("replace_original") && (m != nil || s.isEphemeral(h.ts)):
		return s.replace(h, m, c)
	}
	what, err := s.content(c)
	if err != nil {
		return err
	}
	if what.empty() {
		return no("no_text")
	}
	thread := c.str("thread_ts")
	def(&thread, h.thread)
	if c.str("response_type") != "in_channel" {
		s.whisper(Ephemeral{Channel: h.channel, ThreadTS: thread, User: h.user, Text: what.text, Blocks: what.blocks, Hook: true})
		return nil
	}
	said := &message{Message: Message{
		Channel: h.channel, ThreadTS: thread, User: BotUser, BotID: Bot, Text: what.text, Blocks: what.blocks,
		Attachments: what.attachments, Metadata: what.metadata.orNil(),
	}}
	s.post(said)
	s.tell(said)
	return nil
}

func (s *Server) replace(h *hook, m *message, c *call) error {
	what, err := s.content(c)
	if err != nil {
		return err
	}
	if m == nil {
		for i := range s.ephemeral {
			if s.ephemeral[i].TS == h.ts {
				s.ephemeral[i].Text, s.ephemeral[i].Blocks = what.text, what.blocks
			}
		}
		s.change()
		return nil
	}
	if m.BotID != Bot {
		return no("cant_update_message")
	}
	before := s.messageJSON(m, true)
	s.rewrite(m, BotUser, what.text, what.blocks)
	s.tellChanged(m, before)
	return nil
}

func (s *Server) isEphemeral(ts string) bool {
	for _, e := range s.ephemeral {
		if e.TS == ts {
			return true
		}
	}
	return false
}

func (s *Server) dropEphemeral(ts string) {
	for i := range s.ephemeral {
		if s.ephemeral[i].TS == ts {
			s.ephemeral[i].Gone = true
		}
	}
	s.change()
}

// callOf is a call with the fields of a JSON object, as an acknowledgement carries it.
func callOf(payload json.RawMessage) *call {
	c := &call{args: map[string]string{}}
	if c.readJSON(payload) != nil {
		return &call{args: map[string]string{}}
	}
	return c
}
