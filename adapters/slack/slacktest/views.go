package slacktest

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	maxTitle   = 24
	maxPrivate = 3000
)

// view is a modal or a Home and what people do not see of it.
type view struct {
	View
	body  viewBody
	state obj
}

// viewBody is a view as the app sends it.
type viewBody struct {
	Type            string          `json:"type"`
	Title           *text           `json:"title"`
	Submit          *text           `json:"submit"`
	Close           *text           `json:"close"`
	Blocks          json.RawMessage `json:"blocks"`
	PrivateMetadata string          `json:"private_metadata"`
	CallbackID      string          `json:"callback_id"`
	ExternalID      string          `json:"external_id"`
	ClearOnClose    bool            `json:"clear_on_close"`
	NotifyOnClose   bool            `json:"notify_on_close"`
}

func (s *workspace) view(id, external string) *view {
	for _, v := range slices.Backward(s.views) {
		if id != "" && v.ID == id || external != "" && v.ExternalID == external && v.Open {
			return v
		}
	}
	return nil
}

// readView checks a view that the app sends.
func readView(s *workspace, raw json.RawMessage, kind string) (viewBody, error) {
	var b viewBody
	if json.Unmarshal(raw, &b) != nil || b.Type != kind {
		return b, invalid(s, "view", "a view of type "+kind+" is expected")
	}
	place := inHome
	if kind == "modal" {
		place = inModal
		if b.Title == nil || b.Title.Text == "" {
			return b, invalid(s, "view", "missing required field: title")
		}
		for _, t := range []*text{b.Title, b.Submit, b.Close} {
			if t != nil && utf8.RuneCountInString(t.Text) > maxTitle {
				return b, invalid(s, "view", "must be less than 25 characters [json-pointer:/view/title/text]")
			}
		}
	}
	if utf8.RuneCountInString(b.PrivateMetadata) > maxPrivate {
		return b, invalid(s, "view", "must be less than 3001 characters [json-pointer:/view/private_metadata]")
	}
	blocks, err := checkBlocks(s, b.Blocks, place)
	if err != nil {
		return b, err
	}
	b.Blocks = blocks
	hasInput := slices.ContainsFunc(blocksOf(blocks), func(b block) bool { return b.Type == "input" })
	if kind == "modal" && hasInput && b.Submit == nil {
		return b, invalid(s, "view", "missing required field: submit")
	}
	return b, nil
}

func (v *view) fill(s *workspace, b viewBody) {
	v.body = b
	v.Type, v.CallbackID, v.ExternalID = b.Type, b.CallbackID, b.ExternalID
	v.PrivateMetadata, v.Blocks = b.PrivateMetadata, b.Blocks
	if b.Title != nil {
		v.Title = b.Title.Text
	}
	v.Raw = platformtest.Encode(b)
	v.Hash = s.id("hash.")
	s.Change()
}

func (s *workspace) newView(user string, b viewBody) *view {
	v := &view{View: View{ID: s.id("V"), User: user, Open: true, At: time.Now()}}
	v.fill(s, b)
	s.views = append(s.views, v)
	return v
}

func (s *workspace) viewJSON(v *view) obj {
	values := v.state
	if values == nil {
		values = obj{}
	}
	out := obj{
		"id": v.ID, "team_id": Team, "app_id": App, "app_installed_team_id": Team, "bot_id": Bot,
		"type": v.Type, "blocks": v.Blocks, "private_metadata": v.PrivateMetadata, "callback_id": v.CallbackID,
		"external_id": v.ExternalID, "hash": v.Hash, "state": obj{"values": values},
		"root_view_id": v.ID, "previous_view_id": nil,
		"clear_on_close": v.body.ClearOnClose, "notify_on_close": v.body.NotifyOnClose,
		"title": v.body.Title, "submit": v.body.Submit, "close": v.body.Close,
	}
	return out
}

func viewsOpen(s *workspace, c *call) (obj, error) {
	user, err := s.pull(c.str("trigger_id"))
	if err != nil {
		return nil, err
	}
	b, err := readView(s, c.json("view"), "modal")
	if err != nil {
		return nil, err
	}
	if b.ExternalID != "" && s.view("", b.ExternalID) != nil {
		return nil, no("duplicate_external_id")
	}
	return obj{"view": s.viewJSON(s.newView(user, b))}, nil
}

func viewsPublish(s *workspace, c *call) (obj, error) {
	user := c.str("user_id")
	if s.user(user) == nil {
		return nil, no("user_not_found")
	}
	b, err := readView(s, c.json("view"), "home")
	if err != nil {
		return nil, err
	}
	for _, v := range s.views {
		if v.Type != "home" || v.User != user {
			continue
		}
		if c.str("hash") != "" && c.str("hash") != v.Hash {
			return nil, no("hash_conflict")
		}
		v.Updates++
		v.fill(s, b)
		return obj{"view": s.viewJSON(v)}, nil
	}
	return obj{"view": s.viewJSON(s.newView(user, b))}, nil
}

// trigger is a trigger_id: it opens one view within three seconds.
type trigger struct {
	user  string
	until time.Time
	used  bool
}

// newTrigger is a trigger_id for what a person just did; the lock is held.
func (s *workspace) newTrigger(user string) string {
	id := s.id("trigger.")
	s.triggers[id] = &trigger{user: user, until: time.Now().Add(s.cfg.TriggerLife)}
	return id
}

// pull uses a trigger_id up and says whose it was.
func (s *workspace) pull(id string) (string, error) {
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

// interaction is what every interaction says; the lock is held.
func (s *workspace) interaction(kind, user string) obj {
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
