package directory

// This file finds out who may read a channel of a server, by Discord's own rule:
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
)

const (
	knowReader = 50 * time.Second
	maxReaders = 1000
)

// guarded is a server as far as its rights matter.
type guarded struct {
	ID    string           `json:"id"`
	Owner string           `json:"owner_id"`
	Roles []discordgo.Role `json:"roles"`
}

// fenced is a channel with what it changes about the rights of its server.
type fenced struct {
	Guild      string                           `json:"guild_id"`
	Recipients []discordgo.User                 `json:"recipients"` // of a direct conversation
	Overwrites []*discordgo.PermissionOverwrite `json:"permission_overwrites"`
}

// Reads reports whether a user may read what is said in a channel now; the answer
// is at most a minute old. An error means that Discord does not say.
func (d *Directory) Reads(ctx context.Context, user, channel string) (bool, error) {
	key := channel + "/" + user
	if reads, fresh, _ := d.readers.Get(key); fresh {
		return reads, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	reads, err := d.reads(ctx, user, channel)
	switch status := api.Status(err); {
	case err == nil:
	case status == http.StatusNotFound || status == http.StatusForbidden: // the person left, or the bot did
		reads = false
	default:
		return false, fmt.Errorf("ask Discord whether %s may read %s: %w", user, channel, err)
	}
	d.readers.Put(key, reads)
	return reads, nil
}

func (d *Directory) reads(ctx context.Context, user, channel string) (bool, error) {
	var c fenced
	if err := d.client.Call(ctx, http.MethodGet, discordgo.EndpointChannel(channel), nil, &c); err != nil {
		return false, err
	}
	if c.Guild == "" {
		return slices.ContainsFunc(c.Recipients, func(u discordgo.User) bool { return u.ID == user }), nil
	}
	var m api.Member
	if err := d.client.Call(ctx, http.MethodGet, discordgo.EndpointGuildMember(c.Guild, user), nil, &m); err != nil {
		return false, err
	}
	var g guarded
	if err := d.client.Call(ctx, http.MethodGet, discordgo.EndpointGuild(c.Guild), nil, &g); err != nil {
		return false, err
	}
	return g.Owner == user || views(g, c, user, m.Roles), nil
}

// views reports whether a member with the roles may look into the channel.
func views(g guarded, c fenced, user string, roles []string) bool {
	has := func(role string) bool { return role == g.ID || slices.Contains(roles, role) }
	var rights int64
	for _, r := range g.Roles {
		if has(r.ID) {
			rights |= r.Permissions
		}
	}
	if rights&discordgo.PermissionAdministrator != 0 {
		return true
	}
	for _, of := range []func(o *discordgo.PermissionOverwrite) bool{
		func(o *discordgo.PermissionOverwrite) bool { return o.ID == g.ID },
		func(o *discordgo.PermissionOverwrite) bool {
			return o.Type == discordgo.PermissionOverwriteTypeRole && o.ID != g.ID && has(o.ID)
		},
		func(o *discordgo.PermissionOverwrite) bool {
			return o.Type == discordgo.PermissionOverwriteTypeMember && o.ID == user
		},
	} {
		var allow, deny int64
		for _, o := range c.Overwrites {
			if of(o) {
				allow, deny = allow|o.Allow, deny|o.Deny
			}
		}
		rights = rights&^deny | allow
	}
	return rights&discordgo.PermissionViewChannel != 0
}
