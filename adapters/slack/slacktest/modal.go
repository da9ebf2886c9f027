package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Submitted is what became of a modal.
type Submitted struct {
	Action string            // "", errors or clear
	Errors map[string]string // by block_id; the modal is still open
	View   string            // the view that is before the person now, if any
}

// Submit fills a modal in and sends it. The values go by block_id, action_id or
// label; a value of several picks is divided by commas. What is not given keeps
// its initial value. As in Slack, a required field that is empty cannot be sent.
func (s People) Submit(viewID, user string, values map[string]string) (Submitted, error) {
	s.Mu.Lock()
	v := s.view(viewID, "")
	if v == nil || v.User != user || !v.Open || v.Type != "modal" {
		s.Mu.Unlock()
		return Submitted{}, fmt.Errorf("slacktest: %s has no modal %s open", user, viewID)
	}
	state, err := v.filled(values)
	if err != nil {
		s.Mu.Unlock()
		return Submitted{}, fmt.Errorf("slacktest: modal %s (%s): %w", viewID, v.Title, err)
	}
	v.state = state
	payload := s.interaction("view_submission", user)
	payload["view"], payload["trigger_id"], payload["response_urls"] = s.viewJSON(v), s.newTrigger(user), []obj{}
	s.Mu.Unlock()
	got, err := s.events.ask(&delivery{kind: kindInteractive, typ: "view_submission", payload: platformtest.Encode(payload)})
	if err != nil {
		return Submitted{}, err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.submitted(v, got)
}

// filled is the state of all inputs with the given values.
func (v *view) filled(values map[string]string) (obj, error) {
	state := map[string]obj{}
	used := map[string]bool{}
	for _, b := range blocksOf(v.Blocks) {
		for _, e := range b.usable() {
			if e.Type == "button" || e.Type == "feedback_buttons" {
				continue
			}
			now, err := e.answer(b, values, used)
			if err != nil {
				return nil, err
			}
			if now == nil && b.Type == "input" && !b.Optional {
				return nil, fmt.Errorf("%q (%s) is required", b.BlockID, e.ActionID)
			}
			if now == nil {
				now = obj{"value": nil}
			}
			now["type"] = e.Type
			if state[b.BlockID] == nil {
				state[b.BlockID] = obj{}
			}
			state[b.BlockID][e.ActionID] = now
		}
	}
	for k := range values {
		if !used[k] {
			return nil, fmt.Errorf("there is no field %q", k)
		}
	}
	out := obj{}
	for k, s := range state {
		out[k] = s
	}
	return out, nil
}

// answer is the state of one input.
func (e *element) answer(b block, values map[string]string, used map[string]bool) (obj, error) {
	names := []string{e.ActionID, b.BlockID}
	if b.Label != nil {
		names = append(names, b.Label.Text)
	}
	for _, name := range names {
		value, ok := values[name]
		if !ok || name == "" {
			continue
		}
		used[name] = true
		if value == "" {
			return nil, nil //nolint:nilnil // an empty field has no state
		}
		picks := []string{value}
		if strings.HasPrefix(e.Type, "multi_") || e.Type == "checkboxes" {
			picks = strings.Split(value, ",")
		}
		return e.pick(picks)
	}
	return e.initial(), nil
}

// submitted does what the acknowledgement of a modal says.
func (s People) submitted(v *view, got json.RawMessage) (Submitted, error) {
	var said struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	if len(strings.TrimSpace(string(got))) > 0 {
		if err := json.Unmarshal(got, &said); err != nil {
			return Submitted{}, fmt.Errorf("slacktest: the app acknowledged a modal with %q: %w", got, err)
		}
	}
	out := Submitted{Action: said.Action, Errors: said.Errors}
	switch said.Action {
	case "errors":
		out.View = v.ID
		return out, v.knows(said.Errors)
	case "", "clear":
		v.Open = false
		s.Change()
		return out, nil
	default:
		return out, fmt.Errorf("slacktest: the app acknowledged a modal with %q, which is unknown here", said.Action)
	}
}

// knows says whether errors belong to blocks that are there.
func (v *view) knows(errors map[string]string) error {
	for id := range errors {
		found := false
		for _, b := range blocksOf(v.Blocks) {
			found = found || b.BlockID == id && b.Type == "input"
		}
		if !found {
			return fmt.Errorf("slacktest: the app names an error of %q, which is no input of modal %s", id, v.ID)
		}
	}
	return nil
}
