package slacktest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// obj is a JSON object on its way out.
type obj map[string]any

// workspace is the state of a server and what both its sides do with it, the
// people and the app. Its methods are called with the lock held.
type workspace struct {
	platformtest.Core

	BotToken, AppToken, SigningSecret string

	cfg     Config
	events  *outbox
	sockets *sockets
	api     *web

	seq       int
	lastTS    int64
	ahead     time.Duration // of the machine's clock
	users     []*User
	channels  []*Channel
	groups    []*UserGroup
	messages  []*message
	files     []*file
	ephemeral []Ephemeral
	views     []*view
	sessions  sessions
	triggers  map[string]*trigger
	hooks     map[string]*hook
	rejected  map[string]bool // types of blocks
}

func (s *workspace) settle() {
	s.users = []*User{
		{ID: Ann, Name: "ann", RealName: "Ann"},
		{ID: Ben, Name: "ben", RealName: "Ben"},
		{ID: Guest, Name: "gus", RealName: "Gus (guest)", Restricted: true},
		{ID: Gone, Name: "gone", RealName: "Gone", Deleted: true},
		{ID: Stranger, Name: "stella", RealName: "Stella (elsewhere)", TeamID: OtherTeam, Stranger: true},
		{ID: BotUser, Name: "deckhand", RealName: "Deckhand", Bot: true, BotID: Bot},
	}
	for _, u := range s.users {
		u.complete()
	}
	s.channels = []*Channel{{ID: General, Name: "general", Members: []string{Ann, Ben, Guest, Stranger, BotUser}}}
}

// ts is the next timestamp: the time in microseconds, never twice; the lock is held.
func (s *workspace) ts() (string, time.Time) {
	us := time.Now().Add(s.ahead).UnixMicro()
	if us <= s.lastTS {
		us = s.lastTS + 1
	}
	s.lastTS = us
	at := time.UnixMicro(us)
	return stamp(at), at
}

// Pass lets time pass in the workspace: what is written from now on is stamped so
// much later.
func (s *workspace) Pass(d time.Duration) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.ahead += d
}

// stamp is a time as Slack writes it.
func stamp(t time.Time) string {
	us := t.UnixMicro()
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

// id is a fresh id with a prefix; the lock is held.
func (s *workspace) id(prefix string) string {
	s.seq++
	return prefix + strings.ToUpper(fmt.Sprintf("%06s", strconv.FormatInt(int64(s.seq), 36)))
}

// message is a message of the workspace.
type message struct{ Message }

// post stores a new message; the lock is held.
func (s *workspace) post(m *message) {
	m.TS, m.Posted = s.ts()
	s.messages = append(s.messages, m)
	s.Change()
}

// rewrite keeps what m was and gives it a new text; the lock is held.
func (s *workspace) rewrite(m *message, by, text string, blocks json.RawMessage) {
	_, at := s.ts()
	m.Edits = append(m.Edits, Edit{At: at, By: by, Text: m.Text, Blocks: m.Blocks})
	m.Text, m.Blocks = text, blocks
	s.Change()
}

func (s *workspace) message(channel, ts string) *message {
	for _, m := range s.messages {
		if m.Channel == channel && m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// replies are the messages under a parent, oldest first.
func (s *workspace) replies(channel, ts string) []*message {
	var out []*message
	for _, m := range s.messages {
		if m.Channel == channel && m.ThreadTS == ts && m.TS != ts && !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

func (s *workspace) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *workspace) channel(id string) *Channel {
	for _, c := range s.channels {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (u *User) complete() {
	platformtest.Default(&u.TeamID, Team)
	platformtest.Default(&u.TZ, "Europe/Berlin")
	platformtest.Default(&u.Name, strings.ToLower(u.ID))
	platformtest.Default(&u.RealName, u.Name)
	if u.Bot {
		platformtest.Default(&u.BotID, "B"+u.ID)
	}
}

func (c *Channel) has(user string) bool { return slices.Contains(c.Members, user) }

func (c *Channel) kind() string {
	switch {
	case c.IM != "":
		return "im"
	case c.MPIM:
		return "mpim"
	case c.Private:
		return "group"
	default:
		return "channel"
	}
}

func (m *message) react(user, name string) bool {
	for i, r := range m.Reactions {
		if r.Name != name {
			continue
		}
		if slices.Contains(r.Users, user) {
			return false
		}
		m.Reactions[i].Users = append(slices.Clone(r.Users), user)
		return true
	}
	m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{user}})
	return true
}

// messageJSON is a message as the Web API and events show it.
func (s *workspace) messageJSON(m *message, metadata bool) obj {
	out := obj{"type": "message", "ts": m.TS, "text": m.Text, "team": Team}
	platformtest.Put(out, "user", m.User)
	platformtest.Put(out, "subtype", m.Subtype)
	platformtest.Put(out, "thread_ts", m.ThreadTS)
	if u := s.user(m.User); u != nil {
		out["team"] = u.TeamID
		if u.TeamID != Team {
			out["user_team"], out["source_team"] = u.TeamID, u.TeamID
		}
	}
	if m.BotID == "" {
		out["client_msg_id"] = "cmi-" + m.TS
	} else {
		out["bot_id"] = m.BotID
		out["bot_profile"] = obj{"id": m.BotID, "name": s.name(m.User), "app_id": s.app(m.BotID), "team_id": Team, "deleted": false, "updated": 1700000000, "icons": obj{}}
		out["app_id"] = s.app(m.BotID)
	}
	raw(out, "blocks", m.Blocks)
	raw(out, "attachments", m.Attachments)
	if n := len(m.Edits); n > 0 {
		out["edited"] = obj{"user": m.Edits[n-1].By, "ts": stamp(m.Edits[n-1].At)}
	}
	if len(m.Files) > 0 {
		var files []obj
		for _, f := range m.Files {
			files = append(files, s.fileJSON(f))
		}
		out["files"], out["upload"] = files, false
	}
	if len(m.Reactions) > 0 {
		out["reactions"] = reactionsJSON(m.Reactions)
	}
	if metadata && m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	s.threadJSON(m, out)
	return out
}

// threadJSON adds what a parent says of its replies, and a reply of its parent.
func (s *workspace) threadJSON(m *message, out obj) {
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		if p := s.message(m.Channel, m.ThreadTS); p != nil {
			platformtest.Put(out, "parent_user_id", p.User)
		}
		return
	}
	under := s.replies(m.Channel, m.TS)
	if len(under) == 0 {
		return
	}
	var users []string
	for _, r := range under {
		if r.User != "" && !slices.Contains(users, r.User) {
			users = append(users, r.User)
		}
	}
	out["thread_ts"], out["reply_count"] = m.TS, len(under)
	out["reply_users"], out["reply_users_count"] = users, len(users)
	out["latest_reply"] = under[len(under)-1].TS
}

func reactionsJSON(rs []Reaction) []obj {
	out := make([]obj, 0, len(rs))
	for _, r := range rs {
		out = append(out, obj{"name": r.Name, "users": r.Users, "count": len(r.Users)})
	}
	return out
}

func (s *workspace) name(user string) string {
	if u := s.user(user); u != nil {
		return u.RealName
	}
	return user
}

func (s *workspace) app(bot string) string {
	if bot == Bot {
		return App
	}
	return "A" + bot
}

// richText is what Slack's own editor makes of a text.
func richText(text string) json.RawMessage {
	var parts []obj
	words := func(text string) {
		if text != "" {
			parts = append(parts, obj{"type": "text", "text": unescape(text)})
		}
	}
	for at := entity.FindStringIndex(text); at != nil; at = entity.FindStringIndex(text) {
		words(text[:at[0]])
		parts = append(parts, richElement(text[at[0]+1:at[1]-1]))
		text = text[at[1]:]
	}
	words(text)
	return platformtest.Encode([]obj{{"type": "rich_text", "block_id": "rt", "elements": []obj{{"type": "rich_text_section", "elements": parts}}}})
}

// richElement is what stands between < and >.
func richElement(e string) obj {
	target, label, _ := strings.Cut(e, "|")
	switch {
	case strings.HasPrefix(target, "@"):
		return obj{"type": "user", "user_id": target[1:]}
	case strings.HasPrefix(target, "#"):
		return obj{"type": "channel", "channel_id": target[1:]}
	case strings.HasPrefix(target, "!subteam^"):
		return obj{"type": "usergroup", "usergroup_id": target[len("!subteam^"):]}
	case strings.HasPrefix(target, "!"):
		return obj{"type": "broadcast", "range": target[1:]}
	default:
		out := obj{"type": "link", "url": target}
		platformtest.Put(out, "text", label)
		return out
	}
}

func unescape(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

func raw(o obj, key string, value json.RawMessage) {
	if len(value) > 0 && string(value) != "null" {
		o[key] = value
	}
}

func (s *workspace) im(user string) *Channel {
	for _, c := range s.channels {
		if c.IM == user {
			return c
		}
	}
	c := &Channel{ID: "D" + user, IM: user, Members: []string{user, BotUser}}
	s.channels = append(s.channels, c)
	return c
}

func (s *workspace) fileJSON(f File) obj {
	url := s.URL() + "/files/" + f.ID + "/" + f.Name
	return obj{
		"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": f.Mimetype, "filetype": strings.TrimPrefix(path.Ext(f.Name), "."),
		"user": f.User, "size": len(f.Data), "created": f.Created.Unix(), "timestamp": f.Created.Unix(),
		"mode": "hosted", "is_external": false, "is_public": true, "channels": f.Channels,
		"url_private": url, "url_private_download": url, "permalink": url,
	}
}
