package discordtest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Submit fills a form in and sends it. The values go by custom_id or label; a
// value of several picks is divided by commas. What is not given keeps what
// stands there. As in Discord, a required field that is empty cannot be sent,
// and the form stays open when the app does not respond.
func (s *Server) Submit(id, user string, values map[string]string) error {
	s.mu.Lock()
	m := s.open(id, user)
	if m == nil {
		s.mu.Unlock()
		return fmt.Errorf("discordtest: %s has no form %s open", user, id)
	}
	filled, err := s.filled(m, values)
	var i *interaction
	if err == nil {
		i, err = s.interaction(askModal, user, m.Channel, obj{"custom_id": m.CustomID, "components": filled})
	}
	if err != nil {
		s.mu.Unlock()
		return fmt.Errorf("discordtest: form %q: %w", m.Title, err)
	}
	i.Name = m.CustomID
	s.about(i, m.from.from)
	s.mu.Unlock()
	if err := s.ask(i); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Open = false
	s.change()
	return nil
}

// CloseModal is the X of a form; the app hears nothing of it.
func (s *Server) CloseModal(id, user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.open(id, user)
	if m == nil {
		return fmt.Errorf("discordtest: %s has no form %s open", user, id)
	}
	m.Open = false
	s.change()
	return nil
}

func (s *Server) open(id, user string) *modal {
	for _, m := range s.modals {
		if m.ID == id && m.User == user && m.Open {
			return m
		}
	}
	return nil
}

// filled are the components of a form with what was typed into them.
func (s *Server) filled(m *modal, values map[string]string) ([]obj, error) {
	var all []obj
	_ = json.Unmarshal(m.Components, &all) // checked when it was opened
	used := map[string]bool{}
	out := []obj{}
	for _, top := range all {
		shell := obj{"type": top["type"], "id": top["id"]}
		switch number(top, "type") {
		case typeRow:
			var row []obj
			for _, c := range objects(top, "components") {
				now, err := s.typedIn(c, text(c, "label"), values, used)
				if err != nil {
					return nil, err
				}
				row = append(row, now)
			}
			shell["components"] = row
		case typeLabel:
			c, _ := top["component"].(obj) // checked when it was opened
			now, err := s.typedIn(c, text(top, "label"), values, used)
			if err != nil {
				return nil, err
			}
			shell["component"] = now
		}
		out = append(out, shell)
	}
	for k := range values {
		if !used[k] {
			return nil, fmt.Errorf("there is no field %q", k)
		}
	}
	return out, nil
}

func (s *Server) typedIn(c obj, label string, values map[string]string, used map[string]bool) (obj, error) {
	id := text(c, "custom_id")
	out := obj{"type": c["type"], "id": c["id"], "custom_id": id}
	word, given := values[id]
	used[id] = true
	if !given {
		word, given = values[label]
		used[label] = true
	}
	if isSelect(number(c, "type")) {
		picks := []string{}
		if given && word != "" {
			picks = strings.Split(word, ",")
		}
		if len(picks) == 0 && c["required"] == false {
			out["values"] = picks
			return out, nil
		}
		got, err := picked(c, picks)
		out["values"] = got
		return out, err
	}
	if !given {
		word = text(c, "value")
	}
	most := number(c, "max_length")
	def(&most, 4000)
	switch {
	case word == "" && c["required"] != false:
		return nil, fmt.Errorf("%q is required", id)
	case word != "" && length(word) < number(c, "min_length"), length(word) > most:
		return nil, fmt.Errorf("%q takes %d to %d characters, not %d", id, number(c, "min_length"), most, length(word))
	}
	out["value"] = word
	return out, nil
}

// Fields are the custom ids of a form's fields in their order.
func (m Modal) Fields() []string { return ids(m.Components) }

// CustomIDs are the custom ids of a message's buttons and menus in their order.
func (m Message) CustomIDs() []string { return ids(m.Components) }

func ids(raw json.RawMessage) []string {
	var out []string
	walk(raw, func(c obj) {
		if id := text(c, "custom_id"); id != "" {
			out = append(out, id)
		}
	})
	return out
}

// Buttons are the labels of a message's buttons that can be pressed, in their order.
func (m Message) Buttons() []string {
	var out []string
	walk(m.Components, func(c obj) {
		if number(c, "type") == typeButton && text(c, "custom_id") != "" && !flag(c, "disabled") {
			out = append(out, text(c, "label"))
		}
	})
	return out
}

// Text is all that a message says: content, text displays and embeds.
func (m Message) Text() string {
	parts := []string{}
	if m.Content != "" {
		parts = append(parts, m.Content)
	}
	walk(m.Components, func(c obj) {
		if number(c, "type") == typeText {
			parts = append(parts, text(c, "content"))
		}
	})
	var embeds []embed
	_ = json.Unmarshal(list(m.Embeds), &embeds) // checked when it was posted
	for _, e := range embeds {
		parts = append(parts, e.lines()...)
	}
	return strings.Join(parts, "\n")
}

func (e *embed) lines() []string {
	var out []string
	for _, line := range []string{e.Author.Name, e.Title, e.Description} {
		if line != "" {
			out = append(out, line)
		}
	}
	for _, f := range e.Fields {
		out = append(out, f.Name+": "+f.Value)
	}
	if e.Footer.Text != "" {
		out = append(out, e.Footer.Text)
	}
	return out
}
