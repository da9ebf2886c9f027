package discordtest

// This file lets tests click buttons and pick menu options as a person would,
// and tracks each interaction until the app acknowledges it or its time runs
// out.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Kinds of interactions.
const (
	askPing         = 1
	askCommand      = 2
	askComponent    = 3
	askAutocomplete = 4
	askModal        = 5
)

// ErrNotAnswered is what a person sees as "The application did not respond":
// the app did not acknowledge within three seconds.
var ErrNotAnswered = errors.New("discordtest: the app did not respond in time")

// interaction is something that a person asks, until it is acknowledged or given up.
type interaction struct {
	Interaction
	token    string
	payload  obj
	from     *message // that the component belongs to, or that the modal came from
	acked    bool
	ended    chan struct{} // closed when it is acknowledged or given up
	over     bool
	original *message // what the answer is
	deferred bool     // the answer is still to come
	choices  []Choice
}

// interaction starts one of a person in a channel; the lock is held.
func (s *outbox) interaction(kind int, user, channel string, data obj) (*interaction, error) {
	c := s.channel(channel)
	if c == nil || !s.sees(user, c) {
		return nil, fmt.Errorf("discordtest: %s sees no channel %s", user, channel)
	}
	if g := s.guild(c.Guild); g != nil && !g.botIn {
		return nil, fmt.Errorf("discordtest: the bot is not in %s, and its commands and buttons do nothing there", g.Name)
	}
	i := &interaction{Interaction: Interaction{ID: s.id(), Type: kind, User: user, Channel: channel}, ended: make(chan struct{})}
	i.token = "token" + i.ID
	i.payload = obj{
		"id": i.ID, "application_id": App, "type": kind, "data": data, "channel_id": channel, "channel": s.channelJSON(c), "token": i.token, "version": 1,
		"locale": "en-US", "app_permissions": strconv.FormatInt(s.allowed(BotUser, c), 10), "entitlements": []obj{}, "attachment_size_limit": maxUpload,
		"authorizing_integration_owners": obj{"0": c.Guild}, "context": 0,
	}
	g := s.guild(c.Guild)
	if g == nil {
		i.payload["user"], i.payload["context"], i.payload["authorizing_integration_owners"] = s.userJSON(user), 1, obj{"0": "0"}
		return i, nil
	}
	member := s.memberJSON(g, g.member(user), true)
	member["permissions"] = strconv.FormatInt(s.allowed(user, c), 10)
	i.payload["member"], i.payload["guild_id"], i.payload["guild_locale"], i.payload["guild"] = member, g.ID, "en-US", obj{"id": g.ID, "locale": "en-US", "features": []string{}}
	return i, nil
}

// about ties an interaction to the message that it comes from.
func (s *outbox) about(i *interaction, m *message) {
	if m != nil {
		i.from, i.Message = m, m.ID
		i.payload["message"] = s.messageJSON(m, true)
	}
}

// ask hands an interaction over and waits until the app acknowledged it or did not.
func (s *outbox) ask(i *interaction) error {
	s.Mu.Lock()
	i.Sent = time.Now()
	s.interactions = append(s.interactions, i)
	s.Later(s.cfg.AckWithin, func() { s.giveUp(i, "not answered in time") })
	if s.cfg.Deliver != "" {
		s.WG.Go(func() { s.deliver(i) })
	} else {
		s.tell(&event{kind: "INTERACTION_CREATE", data: i.payload})
	}
	s.Change()
	s.Mu.Unlock()
	select {
	case <-i.ended:
	case <-s.Done.Done():
		return ErrNotAnswered
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !i.acked {
		return fmt.Errorf("%w (%s by %s: %s)", ErrNotAnswered, i.Name, i.User, i.Error)
	}
	return nil
}

// giveUp ends an interaction without an answer; the lock is held.
func (s *outbox) giveUp(i *interaction, why string) {
	if i.over {
		return
	}
	i.over, i.Error = true, why
	close(i.ended)
	s.Change()
}

// acknowledged ends an interaction with an answer; the lock is held.
func (s *outbox) acknowledged(i *interaction, kind int) {
	i.acked, i.Response, i.Acked = true, kind, time.Now()
	i.Latency = i.Acked.Sub(i.Sent)
	if !i.over {
		i.over = true
		close(i.ended)
	}
	s.Change()
}

// Click presses a button, by its custom_id or its label with or without an
// emoji before it, of a message that the person can see. It returns when the
// app has acknowledged; otherwise Click returns ErrNotAnswered.
func (s People) Click(user, channel, id, button string) error {
	return s.component(user, channel, id, button, nil)
}

// Select picks options of a menu, named by its custom_id or placeholder: by
// value or label, or users, roles and channels by id.
func (s People) Select(user, channel, id, menu string, picks ...string) error {
	return s.component(user, channel, id, menu, append([]string{}, picks...))
}

func (s People) component(user, channel, id, want string, picks []string) error {
	s.Mu.Lock()
	m := s.message(channel, id)
	if m == nil || m.For != "" && m.For != user {
		s.Mu.Unlock()
		return fmt.Errorf("discordtest: %s sees no message %s in %s", user, id, channel)
	}
	data, err := s.press(m, want, picks)
	var i *interaction
	if err == nil {
		i, err = s.events.interaction(askComponent, user, channel, data)
	}
	if err != nil {
		s.Mu.Unlock()
		return fmt.Errorf("discordtest: message %s in %s: %w", id, channel, err)
	}
	i.Name = text(data, "custom_id")
	s.events.about(i, m)
	s.Mu.Unlock()
	return s.events.ask(i)
}

// press finds a component and is what using it sends.
func (s People) press(m *message, want string, picks []string) (obj, error) {
	var words []string
	var hit obj
	walk(m.Components, func(c obj) {
		t := number(c, "type")
		label := text(c, "label")
		if isSelect(t) {
			label = text(c, "placeholder")
		}
		if t != typeButton && !isSelect(t) || (picks != nil) != isSelect(t) {
			return
		}
		words = append(words, label)
		if hit == nil && (text(c, "custom_id") == want || platformtest.Named(label, want)) {
			hit = c
		}
	})
	switch {
	case hit == nil:
		return nil, fmt.Errorf("there is no %q to use, only %q", want, words)
	case flag(hit, "disabled"):
		return nil, fmt.Errorf("%q is disabled", want)
	case text(hit, "custom_id") == "":
		return nil, fmt.Errorf("%q is a link", want)
	}
	data := obj{"custom_id": hit["custom_id"], "component_type": hit["type"], "id": hit["id"]}
	if picks == nil {
		return data, nil
	}
	values, err := picked(hit, picks)
	if err != nil {
		return nil, err
	}
	data["values"] = values
	if number(hit, "type") != typeSelect {
		data["resolved"] = s.resolved(values)
	}
	return data, nil
}

// picked are the values of a menu.
func picked(menu obj, picks []string) ([]string, error) {
	least, most := 1, max(1, number(menu, "max_values"))
	if _, ok := menu["min_values"]; ok {
		least = number(menu, "min_values")
	}
	if len(picks) < least || len(picks) > most {
		return nil, fmt.Errorf("%q takes %d to %d picks, not %d", text(menu, "custom_id"), least, most, len(picks))
	}
	if number(menu, "type") != typeSelect {
		return picks, nil
	}
	var out, words []string
	for _, p := range picks {
		at := slices.IndexFunc(objects(menu, "options"), func(o obj) bool { return text(o, "value") == p || platformtest.Named(text(o, "label"), p) })
		if at < 0 {
			for _, o := range objects(menu, "options") {
				words = append(words, text(o, "label"))
			}
			return nil, fmt.Errorf("there is no option %q, only %q", p, words)
		}
		out = append(out, text(objects(menu, "options")[at], "value"))
	}
	return out, nil
}

// resolved are the users, roles and channels behind ids.
func (s People) resolved(ids []string) obj {
	users, members, roles, channels := obj{}, obj{}, obj{}, obj{}
	for _, id := range ids {
		if s.user(id) != nil {
			users[id] = s.userJSON(id)
		}
		if c := s.channel(id); c != nil {
			channels[id] = s.channelJSON(c)
		}
		for _, g := range s.guilds {
			if m := g.member(id); m != nil {
				members[id] = s.memberJSON(g, m, false)
			}
			if at := slices.IndexFunc(g.Roles, func(r Role) bool { return r.ID == id }); at >= 0 {
				roles[id] = roleJSON(g, at)
			}
		}
	}
	return obj{"users": users, "members": members, "roles": roles, "channels": channels}
}
