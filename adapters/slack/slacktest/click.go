package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Click presses a button (by its action_id, its text with or without an emoji
// before it, or "positive" and "negative" for feedback) of a message that the
// person can see. It returns when the app has acknowledged; otherwise the
// person sees a warning sign and Click returns ErrNotAnswered.
func (s People) Click(user, channel, ts, button string) error {
	return s.Choose(user, channel, ts, button)
}

// Choose is Click for menus: it picks options by value or text, users and
// channels by id, dates as they are written.
func (s People) Choose(user, channel, ts, action string, picks ...string) error {
	s.Mu.Lock()
	payload, err := s.clicked(user, channel, ts, action, picks)
	s.Mu.Unlock()
	if err != nil {
		return err
	}
	_, err = s.events.ask(&delivery{kind: kindInteractive, typ: "block_actions", payload: platformtest.Encode(payload)})
	return err
}

// ClickView presses a button in a modal or a Home.
func (s People) ClickView(user, viewID, button string, picks ...string) error {
	s.Mu.Lock()
	v := s.view(viewID, "")
	if v == nil || v.User != user {
		s.Mu.Unlock()
		return fmt.Errorf("slacktest: %s sees no view %s", user, viewID)
	}
	action, err := press(v.Blocks, button, picks)
	if err != nil {
		s.Mu.Unlock()
		return fmt.Errorf("slacktest: in view %s: %w", viewID, err)
	}
	payload := s.interaction("block_actions", user)
	payload["container"] = obj{"type": "view", "view_id": v.ID}
	payload["view"] = s.viewJSON(v)
	payload["actions"] = []obj{action}
	payload["trigger_id"] = s.newTrigger(user)
	s.Mu.Unlock()
	_, err = s.events.ask(&delivery{kind: kindInteractive, typ: "block_actions", payload: platformtest.Encode(payload)})
	return err
}

func (s People) clicked(user, channel, ts, action string, picks []string) (obj, error) {
	c := s.channel(channel)
	if c == nil || !c.has(user) {
		return nil, fmt.Errorf("slacktest: %s is not in %s and sees no button there", user, channel)
	}
	payload := s.interaction("block_actions", user)
	payload["channel"] = channelRef(c)
	container := obj{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": false}
	var blocks json.RawMessage
	thread := ""
	if m := s.message(channel, ts); m != nil {
		blocks, thread = m.Blocks, m.ThreadTS
		payload["message"] = s.messageJSON(m, true)
	}
	for _, e := range s.ephemeral {
		if e.TS == ts && e.Channel == channel && e.User == user && !e.Gone {
			blocks, thread = e.Blocks, e.ThreadTS
			container["is_ephemeral"] = true
		}
	}
	a, err := press(blocks, action, picks)
	if err != nil {
		return nil, fmt.Errorf("slacktest: message %s in %s: %w", ts, channel, err)
	}
	tsNow, _ := s.ts()
	a["action_ts"] = tsNow
	platformtest.Put(container, "thread_ts", thread)
	payload["container"] = container
	payload["state"] = obj{"values": obj{}}
	payload["actions"] = []obj{a}
	payload["trigger_id"] = s.newTrigger(user)
	payload["response_url"] = s.newHook(user, channel, thread, ts)
	return payload, nil
}

// Shortcut uses a global shortcut of the app.
func (s People) Shortcut(user, callback string) error {
	s.Mu.Lock()
	payload := s.interaction("shortcut", user)
	payload["callback_id"], payload["trigger_id"] = callback, s.newTrigger(user)
	payload["action_ts"], _ = s.ts()
	s.Mu.Unlock()
	_, err := s.events.ask(&delivery{kind: kindInteractive, typ: "shortcut", payload: platformtest.Encode(payload)})
	return err
}

// MessageShortcut uses a shortcut of the app on a message.
func (s People) MessageShortcut(user, channel, ts, callback string) error {
	s.Mu.Lock()
	m, c := s.message(channel, ts), s.channel(channel)
	if m == nil || c == nil {
		s.Mu.Unlock()
		return fmt.Errorf("slacktest: no message %s in %s", ts, channel)
	}
	payload := s.interaction("message_action", user)
	payload["callback_id"], payload["trigger_id"] = callback, s.newTrigger(user)
	payload["action_ts"], _ = s.ts()
	payload["message_ts"], payload["message"], payload["channel"] = ts, s.messageJSON(m, false), channelRef(c)
	payload["response_url"] = s.newHook(user, channel, m.ThreadTS, ts)
	s.Mu.Unlock()
	_, err := s.events.ask(&delivery{kind: kindInteractive, typ: "message_action", payload: platformtest.Encode(payload)})
	return err
}

// Command is the slash command of the app.
const Command = "/deckhand"

// Slash types "/deckhand text". What the app answers with its acknowledgement
// is shown as Slack shows it. There is no thread: slash commands do not work there.
func (s People) Slash(user, channel, text string) error {
	s.Mu.Lock()
	c, u := s.channel(channel), s.user(user)
	if c == nil || u == nil {
		s.Mu.Unlock()
		return fmt.Errorf("slacktest: no channel %s or user %s", channel, user)
	}
	h := &hook{user: user, channel: channel}
	payload := obj{
		"token": "verification", "team_id": Team, "team_domain": "slacktest", "api_app_id": App,
		"channel_id": channel, "channel_name": channelRef(c)["name"], "user_id": user, "user_name": u.Name,
		"command": Command, "text": text, "is_enterprise_install": "false",
		"trigger_id": s.newTrigger(user), "response_url": s.newHook(user, channel, "", ""),
	}
	s.Mu.Unlock()
	got, err := s.events.ask(&delivery{kind: kindSlash, typ: Command, payload: platformtest.Encode(payload)})
	if err != nil || len(got) == 0 {
		return err
	}
	said := callOf(got)
	if got[0] != '{' {
		said.args["text"] = string(got)
	}
	if said.str("text") == "" && said.str("blocks") == "" {
		return nil
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return respond(s.workspace, h, said)
}

func channelRef(c *Channel) obj {
	name := c.Name
	switch {
	case c.IM != "":
		name = "directmessage"
	case c.Private:
		name = "privategroup"
	}
	return obj{"id": c.ID, "name": name}
}

// press finds an element among blocks and is what using it sends.
func press(blocks json.RawMessage, want string, picks []string) (obj, error) {
	var words []string
	for _, e := range elements(blocks) {
		if e.Type == "feedback_buttons" {
			words = append(words, e.Positive.Text.Text, e.Negative.Text.Text)
			for _, b := range []*labelled{e.Positive, e.Negative} {
				if b.Value == want || platformtest.Named(b.Text.Text, want) {
					return obj{"type": e.Type, "action_id": e.ActionID, "block_id": e.block, "text": b.Text, "value": b.Value}, nil
				}
			}
			continue
		}
		words = append(words, e.label())
		if e.ActionID != want && !platformtest.Named(e.label(), want) {
			continue
		}
		out := obj{"type": e.Type, "action_id": e.ActionID, "block_id": e.block}
		if e.Type == "button" {
			out["text"] = e.Text
			platformtest.Put(out, "value", e.Value)
			return out, nil
		}
		state, err := e.pick(picks)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, state)
		return out, nil
	}
	return nil, fmt.Errorf("there is no %q to press, only %q", want, slices.Compact(words))
}

const hookUses = 5

// hook is a response_url: five uses within half an hour.
type hook struct {
	user, channel, thread, ts string
	until                     time.Time
	uses                      int
}

// newHook is a response_url; the lock is held.
func (s *workspace) newHook(user, channel, thread, ts string) string {
	id := s.id("H")
	s.hooks[id] = &hook{user: user, channel: channel, thread: thread, ts: ts, until: time.Now().Add(s.cfg.HookLife)}
	return s.URL() + "/hooks/" + id
}

func (s *web) serveHook(w http.ResponseWriter, r *http.Request) {
	c, err := parse(r)
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	c.args["hook"] = r.PathValue("id")
	s.serve(w, "response_url", method{open: true, fn: useHook}, c, err)
}

func useHook(s *workspace, c *call) (obj, error) {
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
	return obj{}, respond(s, h, c)
}

// respond is what a response_url, or the answer to a slash command, does: it
// replaces or deletes the message that was clicked, or posts a new one for the
// person or for everybody.
func respond(s *workspace, h *hook, c *call) error {
	m := s.message(h.channel, h.ts)
	switch {
	case c.flag("delete_original"):
		if m != nil {
			s.events.remove(m)
		}
		s.dropEphemeral(h.ts)
		return nil
	case c.flag("replace_original") && (m != nil || s.isEphemeral(h.ts)):
		return replace(s, h, m, c)
	}
	what, err := s.content(c)
	if err != nil {
		return err
	}
	if what.empty() {
		return no("no_text")
	}
	thread := c.str("thread_ts")
	platformtest.Default(&thread, h.thread)
	if c.str("response_type") != "in_channel" {
		s.whisper(Ephemeral{Channel: h.channel, ThreadTS: thread, User: h.user, Text: what.text, Blocks: what.blocks, Hook: true})
		return nil
	}
	said := &message{Message: Message{
		Channel: h.channel, ThreadTS: thread, User: BotUser, BotID: Bot, Text: what.text, Blocks: what.blocks,
		Attachments: what.attachments, Metadata: what.metadata.orNil(),
	}}
	s.post(said)
	s.events.tell(said)
	return nil
}

func replace(s *workspace, h *hook, m *message, c *call) error {
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
		s.Change()
		return nil
	}
	if m.BotID != Bot {
		return no("cant_update_message")
	}
	before := s.messageJSON(m, true)
	s.rewrite(m, BotUser, what.text, what.blocks)
	s.events.tellChanged(m, before)
	return nil
}

func (s *workspace) isEphemeral(ts string) bool {
	for _, e := range s.ephemeral {
		if e.TS == ts {
			return true
		}
	}
	return false
}

func (s *workspace) dropEphemeral(ts string) {
	for i := range s.ephemeral {
		if s.ephemeral[i].TS == ts {
			s.ephemeral[i].Gone = true
		}
	}
	s.Change()
}
