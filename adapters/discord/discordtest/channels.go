package discordtest

// This file serves the routes about channels, direct messages, guilds, their
// members and the app itself, and keeps the uploaded files that clients
// download.

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

func getChannel(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	return s.channelJSON(ch), nil
}

type channelBody struct {
	Name        *string `json:"name"`
	Topic       *string `json:"topic"`
	Archived    *bool   `json:"archived"`
	Locked      *bool   `json:"locked"`
	AutoArchive *int    `json:"auto_archive_duration"`
}

func patchChannel(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	var b channelBody
	if err := c.read(&b); err != nil {
		return nil, err
	}
	var f form
	if b.Name != nil {
		f.long(*b.Name, 1, 100, "name")
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if !mayPatch(s, ch, b) {
		return nil, missingPerms()
	}
	if ch.Archived && (b.Archived == nil || *b.Archived) && (b.Name != nil || b.AutoArchive != nil) {
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	if b.Name != nil && *b.Name != ch.Name {
		if err := s.api.within(Rename, ch.ID, Rate{2, 10 * time.Minute}); err != nil {
			return nil, err
		}
		ch.Name = *b.Name
	}
	changeChannel(s, ch, b)
	return s.channelJSON(ch), nil
}

// mayPatch says whether the bot may change a channel. Whoever opened a thread may,
// except for its lock.
func mayPatch(s *world, ch *Channel, b channelBody) bool {
	if !ch.Thread() {
		return s.may(BotUser, ch, ManageChannels)
	}
	own := ch.Owner == BotUser && (b.Locked == nil || *b.Locked == ch.Locked)
	return own || s.may(BotUser, ch, ManageThreads)
}

func changeChannel(s *world, ch *Channel, b channelBody) {
	if b.Topic != nil {
		ch.Topic = *b.Topic
	}
	if b.AutoArchive != nil {
		ch.AutoArchive = *b.AutoArchive
	}
	if !ch.Thread() {
		s.events.tell(&event{kind: "CHANNEL_UPDATE", intent: IntentGuilds, echo: true, data: s.channelJSON(ch)})
		s.Change()
		return
	}
	archived, locked := ch.Archived, ch.Locked
	if b.Archived != nil {
		archived = *b.Archived
	}
	if b.Locked != nil {
		locked = *b.Locked
	}
	archive(s, ch, archived, locked)
}

func deleteChannel(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	bit := int64(ManageChannels)
	if ch.Thread() {
		bit = ManageThreads
	}
	if !s.may(BotUser, ch, bit) {
		return nil, missingPerms()
	}
	out := s.channelJSON(ch)
	dropChannel(s, ch)
	return out, nil
}

// dropChannel deletes a channel with its threads; the lock is held.
func dropChannel(s *world, ch *Channel) {
	saw := s.sees(BotUser, ch)
	kind, data := "CHANNEL_DELETE", s.channelJSON(ch)
	if ch.Thread() {
		kind, data = "THREAD_DELETE", obj{"id": ch.ID, "guild_id": ch.Guild, "parent_id": ch.Parent, "type": ch.Type}
	}
	for _, t := range s.channels {
		if t.Parent == ch.ID && t.Thread() && !t.Deleted {
			dropChannel(s, t)
		}
	}
	ch.Deleted = true
	if saw {
		s.events.tell(&event{kind: kind, intent: IntentGuilds, data: data})
	}
	s.Change()
}

func putOverwrite(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	if !s.may(BotUser, ch, ManageRoles) {
		return nil, missingPerms()
	}
	var b struct {
		Type  int    `json:"type"`
		Allow string `json:"allow"`
		Deny  string `json:"deny"`
	}
	if err := c.read(&b); err != nil {
		return nil, err
	}
	allow, _ := strconv.ParseInt(b.Allow, 10, 64) // absent is none
	deny, _ := strconv.ParseInt(b.Deny, 10, 64)
	overwrite(s, ch, Overwrite{ID: c.path("overwrite"), Type: b.Type, Allow: allow, Deny: deny})
	return nothing{}, nil
}

func dropOverwrite(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	if !s.may(BotUser, ch, ManageRoles) {
		return nil, missingPerms()
	}
	ch.Overwrites = slices.DeleteFunc(slices.Clone(ch.Overwrites), func(o Overwrite) bool { return o.ID == c.path("overwrite") })
	s.Change()
	return nothing{}, nil
}

func overwrite(s *world, ch *Channel, o Overwrite) {
	ch.Overwrites = slices.DeleteFunc(slices.Clone(ch.Overwrites), func(p Overwrite) bool { return p.ID == o.ID })
	ch.Overwrites = append(ch.Overwrites, o)
	s.Change()
}

func typing(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	s.typed[ch.ID]++
	s.Change()
	return nothing{}, nil
}

func openDM(s *world, c *call) (any, error) {
	var b struct {
		Recipient string `json:"recipient_id"`
	}
	if err := c.read(&b); err != nil {
		return nil, err
	}
	u := s.user(b.Recipient)
	switch {
	case u == nil:
		return nil, no(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
	case u.Bot:
		return nil, no(http.StatusForbidden, 50007, "Cannot send messages to this user")
	}
	return s.channelJSON(s.dm(u.ID)), nil
}

// dm is the direct message between a person and the bot; the lock is held.
func (s *world) dm(user string) *Channel {
	for _, c := range s.channels {
		if c.Type == DMChannel && c.Recipient == user {
			return c
		}
	}
	c := &Channel{ID: s.id(), Type: DMChannel, Recipient: user}
	s.channels = append(s.channels, c)
	s.Change()
	return c
}

func gateway(s *world, _ *call) (any, error) {
	return obj{"url": socketURL(s)}, nil
}

func gatewayBot(s *world, _ *call) (any, error) {
	return obj{"url": socketURL(s), "shards": 1, "session_start_limit": obj{"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1}}, nil
}

func socketURL(s *world) string { return "ws" + strings.TrimPrefix(s.URL(), "http") + "/gw" }

func me(s *world, _ *call) (any, error) {
	out := s.userJSON(BotUser)
	out["verified"], out["mfa_enabled"], out["email"], out["flags"] = true, false, nil, 0
	return out, nil
}

func someUser(s *world, c *call) (any, error) {
	if s.user(c.path("user")) == nil {
		return nil, no(http.StatusNotFound, 10013, "Unknown User")
	}
	return s.userJSON(c.path("user")), nil
}

func application(s *world, _ *call) (any, error) {
	flags := 0
	if s.cfg.Privileged&IntentContent != 0 {
		flags |= 1 << 19 // GATEWAY_MESSAGE_CONTENT_LIMITED, as small apps have it
	}
	if s.cfg.Privileged&IntentMembers != 0 {
		flags |= 1 << 15 // GATEWAY_GUILD_MEMBERS_LIMITED
	}
	return obj{
		"id": App, "name": "Deckhand", "icon": nil, "description": "", "bot_public": false, "bot_require_code_grant": false,
		"verify_key": s.PublicKey, "flags": flags, "bot": s.userJSON(BotUser), "owner": s.userJSON(Olga), "team": nil, "summary": "", "hook": true,
	}, nil
}

func myGuilds(s *world, _ *call) (any, error) {
	out := []obj{}
	for _, g := range s.guilds {
		if g.botIn {
			out = append(out, obj{"id": g.ID, "name": g.Name, "icon": nil, "owner": false, "permissions": strconv.FormatInt(s.granted(g, g.member(BotUser)), 10), "features": []string{}})
		}
	}
	return out, nil
}

// inside finds a guild that the bot is in.
func inside(s *world, c *call) (*guild, error) {
	g := s.guild(c.path("guild"))
	switch {
	case g == nil:
		return nil, no(http.StatusNotFound, 10004, "Unknown Guild")
	case !g.botIn:
		return nil, missingAccess()
	}
	return g, nil
}

func getGuild(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	return s.guildJSON(g), nil
}

func guildRoles(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	return rolesJSON(g), nil
}

func guildChannels(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, ch := range s.channels {
		if ch.Guild == g.ID && !ch.Thread() && !ch.Deleted {
			out = append(out, s.channelJSON(ch))
		}
	}
	return out, nil
}

func guildMember(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	m := g.member(c.path("user"))
	if m == nil {
		return nil, unknownMember()
	}
	return s.memberJSON(g, m, true), nil
}

// guildMembers needs the privileged intent.
func guildMembers(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	if s.cfg.Privileged&IntentMembers == 0 {
		return nil, missingAccess()
	}
	out := []obj{}
	limit := 1
	if n, err := strconv.Atoi(c.query("limit")); err == nil && n > 0 {
		limit = n
	}
	for i := range g.Members {
		if len(out) < limit && older(g.Members[i].User, c.query("after")) > 0 {
			out = append(out, s.memberJSON(g, &g.Members[i], true))
		}
	}
	return out, nil
}

// keep makes an attachment; the lock is held.
func (s *world) keep(up Upload) File {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ' ' {
			return '_'
		}
		return r
	}, up.Name)
	platformtest.Default(&name, "unknown")
	kind := up.Mimetype
	if kind == "" || kind == "application/octet-stream" {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	platformtest.Default(&kind, "application/octet-stream")
	return File{ID: s.id(), Name: name, Mimetype: kind, Data: up.Data}
}

func (s *web) serveFile(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	var found *File
	for _, m := range slices.Concat(s.messages, s.loose) {
		for i := range m.Files {
			if m.Channel == r.PathValue("channel") && m.Files[i].ID == r.PathValue("file") && !m.Deleted && !s.Refuses() {
				found = &m.Files[i]
			}
		}
	}
	s.Mu.Unlock()
	if found == nil {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", found.Mimetype)
	w.Header().Set("Content-Length", strconv.Itoa(len(found.Data)))
	_, _ = w.Write(found.Data) // a client that went away needs no answer
}
