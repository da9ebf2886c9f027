package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Click presses a button (by its action_id, its text with or without an emoji
// before it, or "positive" and "negative" for feedback) of a message that the
// person can see. It returns when the app has acknowledged; otherwise the
// person sees a warning sign and Click returns ErrNotAnswered.
func (s *Server) Click(user, channel, ts, button string) error {
	return s.Choose(user, channel, ts, button)
}

// Choose is Click for menus: it picks options by value or text, users and
// channels by id, dates as they are written.
func (s *Server) Choose(user, channel, ts, action string, picks ...string) error {
	s.mu.Lock()
	payload, err := s.clicked(user, channel, ts, action, picks)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = s.ask(&delivery{kind: kindInteractive, typ: "block_actions", payload: encode(payload)})
	return err
}

// ClickView presses a button in a modal or a Home.
func (s *Server) ClickView(user, viewID, button string, picks ...string) error {
	s.mu.Lock()
	v := s.view(viewID, "")
	if v == nil || v.User != user {
		s.mu.Unlock()
		return fmt.Errorf("slacktest: %s sees no view %s", user, viewID)
	}
	action, err := press(v.Blocks, button, picks)
	if err != nil {
		s.mu.Unlock()
		return fmt.Errorf("slacktest: in view %s: %w", viewID, err)
	}
	payload := s.interaction("block_actions", user)
	payload["container"] = obj{"type": "view", "view_id": v.ID}
	payload["view"] = s.viewJSON(v)
	payload["actions"] = []obj{action}
	payload["trigger_id"] = s.newTrigger(user)
	s.mu.Unlock()
	_, err = s.ask(&delivery{kind: kindInteractive, typ: "block_actions", payload: encode(payload)})
	return err
}

func (s *Server) clicked(user, channel, ts, action string, picks []string) (obj, error) {
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
	put(container, "thread_ts", thread)
	payload["container"] = container
	payload["state"] = obj{"values": obj{}}
	payload["actions"] = []obj{a}
	payload["trigger_id"] = s.newTrigger(user)
	payload["response_url"] = s.newHook(user, channel, thread, ts)
	return payload, nil
}

// Shortcut uses a global shortcut of the app.
func (s *Server) Shortcut(user, callback string) error {
	s.mu.Lock()
	payload := s.interaction("shortcut", user)
	payload["callback_id"], payload["trigger_id"] = callback, s.newTrigger(user)
	payload["action_ts"], _ = s.ts()
	s.mu.Unlock()
	_, err := s.ask(&delivery{kind: kindInteractive, typ: "shortcut", payload: encode(payload)})
	return err
}

// MessageShortcut uses a shortcut of the app on a message.
func (s *Server) MessageShortcut(user, channel, ts, callback string) error {
	s.mu.Lock()
	m, c := s.message(channel, ts), s.channel(channel)
	if m == nil || c == nil {
		s.mu.Unlock()
		return fmt.Errorf("slacktest: no message %s in %s", ts, channel)
	}
	payload := s.interaction("message_action", user)
	payload["callback_id"], payload["trigger_id"] = callback, s.newTrigger(user)
	payload["action_ts"], _ = s.ts()
	payload["message_ts"], payload["message"], payload["channel"] = ts, s.messageJSON(m, false), channelRef(c)
	payload["response_url"] = s.newHook(user, channel, m.ThreadTS, ts)
	s.mu.Unlock()
	_, err := s.ask(&delivery{kind: kindInteractive, typ: "message_action", payload: encode(payload)})
	return err
}

// Command is the slash command of the app.
const Command = "/deckhand"

// Slash types "/deckhand text". What the app answers with its acknowledgement
// is shown as Slack shows it. There is no thread: slash commands do not work there.
func (s *Server) Slash(user, channel, text string) error {
	s.mu.Lock()
	c, u := s.channel(channel), s.user(user)
	if c == nil || u == nil {
		s.mu.Unlock()
		return fmt.Errorf("slacktest: no channel %s or user %s", channel, user)
	}
	h := &hook{user: user, channel: channel}
	payload := obj{
		"token": "verification", "team_id": Team, "team_domain": "slacktest", "api_app_id": App,
		"channel_id": channel, "channel_name": channelRef(c)["name"], "user_id": user, "user_name": u.Name,
		"command": Command, "text": text, "is_enterprise_install": "false",
		"trigger_id": s.newTrigger(user), "response_url": s.newHook(user, channel, "", ""),
	}
	s.mu.Unlock()
	got, err := s.ask(&delivery{kind: kindSlash, typ: Command, payload: encode(payload)})
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
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.respond(h, said)
}

// interaction is what every interaction says; the lock is held.
func (s *Server) interaction(kind, user string) obj {
	u := s.user(user)
	if u == nil {
		u = &User{ID: user, Name: user, TeamID: Team}
	}
	return obj{
		"type": kind, "token": "verification", "api_app_id": App,
		"team":       obj{"id": Team, "domain": "slacktest"},
		"user":       obj{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.TeamID},
		"enterprise": nil, "is_enterprise_install": false,
	}
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
				if b.Value == want || named(b.Text.Text, want) {
					return obj{"type": e.Type, "action_id": e.ActionID, "block_id": e.block, "text": b.Text, "value": b.Value}, nil
				}
			}
			continue
		}
		words = append(words, e.label())
		if e.ActionID != want && !named(e.label(), want) {
			continue
		}
		out := obj{"type": e.Type, "action_id": e.ActionID, "block_id": e.block}
		if e.Type == "button" {
			out["text"] = e.Text
			put(out, "value", e.Value)
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

// named says whether a label is the wanted word, perhaps after an emoji.
func named(label, want string) bool {
	return label != "" && (label == want || strings.HasSuffix(label, " "+want))
}
