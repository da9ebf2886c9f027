package discordtest

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

func (s *Server) getChannel(c *call) (any, error) {
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

func (s *Server) patchChannel(c *call) (any, error) {
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
	own := ch.Thread() && ch.Owner == BotUser && (b.Locked == nil || *b.Locked == ch.Locked)
	bit := int64(ManageChannels)
	if ch.Thread() {
		bit = ManageThreads
	}
	switch {
	case !own && !s.may(BotUser, ch, bit):
		return nil, missingPerms()
	case ch.Archived && (b.Archived == nil || *b.Archived) && (b.Name != nil || b.AutoArchive != nil):
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	}
	if b.Name != nil && *b.Name != ch.Name {
		if err := s.within(Rename, ch.ID, Rate{2, 10 * time.Minute}); err != nil {
			return nil, err
		}
		ch.Name = *b.Name
	}
	s.changeChannel(ch, b)
	return s.channelJSON(ch), nil
}

func (s *Server) changeChannel(ch *Channel, b channelBody) {
	if b.Topic != nil {
		ch.Topic = *b.Topic
	}
	if b.AutoArchive != nil {
		ch.AutoArchive = *b.AutoArchive
	}
	if !ch.Thread() {
		s.tell(&event{kind: "CHANNEL_UPDATE", intent: IntentGuilds, echo: true, data: s.channelJSON(ch)})
		s.change()
		return
	}
	archived, locked := ch.Archived, ch.Locked
	if b.Archived != nil {
		archived = *b.Archived
	}
	if b.Locked != nil {
		locked = *b.Locked
	}
	s.archive(ch, archived, locked)
}

func (s *Server) deleteChannel(c *call) (any, error) {
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
	s.dropChannel(ch)
	return out, nil
}

// dropChannel deletes a channel with its threads; the lock is held.
func (s *Server) dropChannel(ch *Channel) {
	saw := s.sees(BotUser, ch)
	kind, data := "CHANNEL_DELETE", s.channelJSON(ch)
	if ch.Thread() {
		kind, data = "THREAD_DELETE", obj{"id": ch.ID, "guild_id": ch.Guild, "parent_id": ch.Parent, "type": ch.Type}
	}
	for _, t := range s.channels {
		if t.Parent == ch.ID && t.Thread() && !t.Deleted {
			s.dropChannel(t)
		}
	}
	ch.Deleted = true
	if saw {
		s.tell(&event{kind: kind, intent: IntentGuilds, data: data})
	}
	s.change()
}

func (s *Server) putOverwrite(c *call) (any, error) {
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
	s.overwrite(ch, Overwrite{ID: c.path("overwrite"), Type: b.Type, Allow: allow, Deny: deny})
	return nothing{}, nil
}

func (s *Server) dropOverwrite(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	if !s.may(BotUser, ch, ManageRoles) {
		return nil, missingPerms()
	}
	ch.Overwrites = slices.DeleteFunc(slices.Clone(ch.Overwrites), func(o Overwrite) bool { return o.ID == c.path("overwrite") })
	s.change()
	return nothing{}, nil
}

func (s *Server) overwrite(ch *Channel, o Overwrite) {
	ch.Overwrites = slices.DeleteFunc(slices.Clone(ch.Overwrites), func(p Overwrite) bool { return p.ID == o.ID })
	ch.Overwrites = append(ch.Overwrites, o)
	s.change()
}

func (s *Server) typing(c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	s.typed[ch.ID]++
	s.change()
	return nothing{}, nil
}

func (s *Server) openDM(c *call) (any, error) {
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
func (s *Server) dm(user string) *Channel {
	for _, c := range s.channels {
		if c.Type == DMChannel && c.Recipient == user {
			return c
		}
	}
	c := &Channel{ID: s.id(), Type: DMChannel, Recipient: user}
	s.channels = append(s.channels, c)
	s.change()
	return c
}
