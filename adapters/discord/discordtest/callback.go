package discordtest

// This file serves the app's responses to interactions: the first answer,
// forms, suggestions, follow-ups and later edits, with Discord's rules on
// when each is allowed.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Kinds of callbacks.
const (
	backPong         = 1
	backMessage      = 4
	backDefer        = 5
	backDeferUpdate  = 6
	backUpdate       = 7
	backAutocomplete = 8
	backModal        = 9
)

// modal is a form with what only the server knows.
type modal struct {
	Modal
	from *interaction
}

func callback(s *world, c *call) (any, error) {
	i := s.interactionByID(c.path("interaction"))
	switch {
	case i == nil || i.token != c.path("token"):
		return nil, no(http.StatusNotFound, 10062, "Unknown interaction")
	case i.acked:
		return nil, no(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	case i.over || time.Since(i.Sent) > s.cfg.AckWithin:
		return nil, no(http.StatusNotFound, 10062, "Unknown interaction")
	}
	if err := respond(s, i, c); err != nil {
		return nil, err
	}
	if c.query("with_response") != "true" {
		return nothing{}, nil
	}
	out := obj{"interaction": obj{"id": i.ID, "type": i.Type}}
	if i.original != nil && (i.Response == backMessage || i.Response == backDefer) {
		out["interaction"] = obj{"id": i.ID, "type": i.Type, "response_message_id": i.original.ID, "response_message_loading": i.deferred, "response_message_ephemeral": i.original.For != ""}
		out["resource"] = obj{"type": i.Response, "message": s.messageJSON(i.original, true)}
	}
	return out, nil
}

// fits says which callbacks an interaction may have.
func (i *interaction) fits(kind int) bool {
	switch i.Type {
	case askPing:
		return kind == backPong
	case askCommand:
		return slices.Contains([]int{backMessage, backDefer, backModal}, kind)
	case askComponent:
		return slices.Contains([]int{backMessage, backDefer, backDeferUpdate, backUpdate, backModal}, kind)
	case askAutocomplete:
		return kind == backAutocomplete
	default:
		return kind == backMessage || kind == backDefer || (kind == backDeferUpdate || kind == backUpdate) && i.from != nil
	}
}

// respond does what a callback says, over REST or as the body of an HTTP
// answer; the lock is held.
func respond(s *world, i *interaction, c *call) error {
	var b struct {
		Type int     `json:"type"`
		Data rawJSON `json:"data"`
	}
	if err := c.read(&b); err != nil {
		return err
	}
	if !i.fits(b.Type) {
		return invalid("INTERACTION_CALLBACK_TYPE_INVALID", fmt.Sprintf("A callback of type %d does not fit an interaction of type %d.", b.Type, i.Type), "type")
	}
	var err error
	switch b.Type {
	case backMessage:
		err = respondMessage(s, i, c, b.Data.b)
	case backDefer:
		err = respondLater(s, i, c, b.Data.b)
	case backDeferUpdate:
		i.original = i.from
	case backUpdate:
		err = respondUpdate(s, i, c, b.Data.b)
	case backAutocomplete:
		err = i.suggest(c, b.Data.b)
	case backModal:
		err = respondModal(s, i, b.Data.b)
	}
	if err == nil {
		s.events.acknowledged(i, b.Type)
	}
	return err
}

// answered is a message of the bot that answers an interaction.
func answered(s *world, i *interaction, what *content) *message {
	m := fill(s, i.Channel, what)
	m.Interaction = i.ID
	if what.flags()&FlagEphemeral != 0 {
		m.For, m.Flags = i.User, m.Flags|FlagEphemeral
	}
	switch {
	case i.Type == askCommand:
		m.Type = CommandMessage
	case i.from != nil:
		m.Type, m.ReplyTo = ReplyMessage, i.from.ID
	}
	return m
}

func respondMessage(s *world, i *interaction, c *call, data json.RawMessage) error {
	what, err := readContent(s, c, data, nil)
	if err != nil {
		return err
	}
	if what.empty() {
		return emptyMessage()
	}
	m := answered(s, i, what)
	m.Pings = s.pings(m, quiet(what.Allowed, i))
	i.original = m
	s.post(m)
	return nil
}

// quiet leaves the one whose message is answered alone: only replies of their
// own ping.
func quiet(a *allowed, i *interaction) *allowed {
	if a == nil {
		a = &allowed{Parse: defaultParse}
	}
	own := *a
	own.Replied = own.Replied && i.from == nil
	return &own
}

func respondLater(s *world, i *interaction, c *call, data json.RawMessage) error {
	what, err := readContent(s, c, data, nil)
	if err != nil {
		return err
	}
	m := answered(s, i, &content{Flags: what.Flags})
	m.Flags = m.Flags&^FlagComponents | FlagLoading
	i.original, i.deferred = m, true
	s.post(m)
	return nil
}

func respondUpdate(s *world, i *interaction, c *call, data json.RawMessage) error {
	if i.from.Deleted {
		return unknownMessage()
	}
	what, err := readContent(s, c, data, i.from)
	if err != nil {
		return err
	}
	i.original = i.from
	return s.rewrite(i.from, what)
}

func (i *interaction) suggest(c *call, data json.RawMessage) error {
	var d struct {
		Choices []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"choices"`
	}
	if err := (&call{r: c.r, body: data}).read(&d); err != nil {
		return err
	}
	var f form
	if len(d.Choices) > 25 {
		f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", "data", "choices")
	}
	for n, o := range d.Choices {
		f.long(o.Name, 1, 100, "data", "choices", n, "name")
		value := string(o.Value)
		var words string
		if json.Unmarshal(o.Value, &words) == nil {
			value = words
			f.long(words, 1, 100, "data", "choices", n, "value")
		}
		i.choices = append(i.choices, Choice{Name: o.Name, Value: value})
	}
	return f.err()
}

func respondModal(s *world, i *interaction, data json.RawMessage) error {
	var d struct {
		CustomID   string `json:"custom_id"`
		Title      string `json:"title"`
		Components []obj  `json:"components"`
	}
	if err := (&call{body: data}).read(&d); err != nil {
		return err
	}
	var f form
	f.long(d.CustomID, 1, 100, "data", "custom_id")
	f.long(d.Title, 1, 45, "data", "title")
	(&checker{form: &f, seen: map[string]bool{}}).modalForm(d.Components)
	if err := f.err(); err != nil {
		return err
	}
	for _, o := range s.modals {
		o.Open = o.Open && o.User != i.User
	}
	s.modals = append(s.modals, &modal{from: i, Modal: Modal{
		ID: s.id(), CustomID: d.CustomID, User: i.User, Title: d.Title, Channel: i.Channel, Components: platformtest.Encode(d.Components), Open: true, At: time.Now(),
	}})
	return nil
}

// hook finds the interaction of a token that still lives.
func hook(s *world, c *call) (*interaction, error) {
	for _, i := range slices.Backward(s.interactions) {
		if i.token != c.path("token") {
			continue
		}
		switch {
		case time.Since(i.Sent) > s.cfg.TokenLife:
			return nil, no(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
		case !i.acked || c.path("app") != App:
			return nil, unknownHook()
		case s.channel(i.Channel) == nil:
			return nil, unknownChannel()
		}
		return i, nil
	}
	return nil, unknownHook()
}

func followUp(s *world, c *call) (any, error) {
	i, err := hook(s, c)
	if err != nil {
		return nil, err
	}
	if i.deferred { // the first one takes the place of "is thinking…"
		i.deferred = false
		return amend(s, c, i.original)
	}
	what, err := readContent(s, c, c.body, nil)
	if err != nil {
		return nil, err
	}
	if what.empty() {
		return nil, emptyMessage()
	}
	m := answered(s, i, what)
	if i.original != nil && i.original.For == "" {
		m.Type, m.ReplyTo = ReplyMessage, i.original.ID
	}
	m.Pings = s.pings(m, quiet(what.Allowed, i))
	s.post(m)
	return s.messageJSON(m, true), nil
}

// answerOf finds a message that answers the interaction.
func answerOf(s *world, c *call) (*interaction, *message, error) {
	i, err := hook(s, c)
	if err != nil {
		return nil, nil, err
	}
	m := i.original
	if id := c.path("message"); id != "@original" {
		if m = s.message(i.Channel, id); m != nil && m.Interaction != i.ID && m != i.original {
			m = nil
		}
	}
	if m == nil || m.Deleted {
		return nil, nil, unknownMessage()
	}
	return i, m, nil
}

func getAnswer(s *world, c *call) (any, error) {
	_, m, err := answerOf(s, c)
	if err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

func editAnswer(s *world, c *call) (any, error) {
	i, m, err := answerOf(s, c)
	if err != nil {
		return nil, err
	}
	out, err := amend(s, c, m)
	if err == nil && m == i.original {
		i.deferred = false
	}
	return out, err
}

func amend(s *world, c *call, m *message) (any, error) {
	what, err := readContent(s, c, c.body, m)
	if err != nil {
		return nil, err
	}
	if err := s.rewrite(m, what); err != nil {
		return nil, err
	}
	return s.messageJSON(m, true), nil
}

func dropAnswer(s *world, c *call) (any, error) {
	i, m, err := answerOf(s, c)
	if err != nil {
		return nil, err
	}
	if m == i.original {
		i.deferred = false
	}
	s.remove(m)
	return nothing{}, nil
}
