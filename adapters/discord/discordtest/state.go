package discordtest

// This file holds everything the server knows, the people and channels it
// starts with, and the permission rules that decide who may see and do what.

import (
	"crypto/ed25519"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// Bits of permissions.
const (
	Administrator      = 1 << 3
	ManageChannels     = 1 << 4
	AddReactions       = 1 << 6
	ViewChannel        = 1 << 10
	SendMessages       = 1 << 11
	ManageMessages     = 1 << 13
	EmbedLinks         = 1 << 14
	AttachFiles        = 1 << 15
	ReadHistory        = 1 << 16
	MentionEveryone    = 1 << 17
	ManageRoles        = 1 << 28
	UseCommands        = 1 << 31
	ManageThreads      = 1 << 34
	CreatePublicThread = 1 << 35
	CreateSecretThread = 1 << 36
	SendInThreads      = 1 << 38

	allPermissions = 1<<53 - 1

	// MemberPermissions are what everybody in a guild may do.
	MemberPermissions = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadHistory |
		UseCommands | CreatePublicThread | CreateSecretThread | SendInThreads
	// BotPermissions are what the bot's own role adds.
	BotPermissions = ManageMessages | ManageThreads | MentionEveryone
)

// obj is a JSON object.
type obj = map[string]any

// world is the state of a server and what both its sides do with it, the people
// and the app. Its methods are called with the lock held.
type world struct {
	platformtest.Core

	Token     string // of the bot, without "Bot "
	PublicKey string // hex, of signed interactions

	cfg     Config
	private ed25519.PrivateKey
	events  *outbox
	sockets *sockets
	api     *web

	lastID       int64
	users        []*User
	guilds       []*guild
	channels     []*Channel
	messages     []*message
	loose        []*message // hold the attachments of commands
	commands     []*Command
	modals       []*modal
	interactions []*interaction
	typed        map[string]int
	revoked      bool
	ahead        time.Duration // of the machine's clock
}

// epoch is the first millisecond of Discord's time.
const epoch = 1420070400000

// id is the next snowflake: it grows with time and never comes twice; the lock is held.
func (s *world) id() string {
	n := (time.Now().Add(s.ahead).UnixMilli() - epoch) << 22
	if n <= s.lastID {
		n = s.lastID + 1
	}
	s.lastID = n
	return strconv.FormatInt(n, 10)
}

// Pass lets time pass on the server: what is written from now on is stamped so much
// later.
func (s *world) Pass(d time.Duration) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.ahead += d
}

func (s *world) settle() {
	s.users = []*User{
		{ID: Ann, Name: "ann", GlobalName: "Ann"},
		{ID: Ben, Name: "ben", GlobalName: "Ben"},
		{ID: Gus, Name: "gus", GlobalName: "Gus"},
		{ID: Olga, Name: "olga", GlobalName: "Olga"},
		{ID: Ada, Name: "ada", GlobalName: "Ada"},
		{ID: Eve, Name: "eve", GlobalName: "Eve"},
		{ID: Robot, Name: "robot", Bot: true},
		{ID: BotUser, Name: "deckhand", Bot: true},
	}
	s.guilds = []*guild{
		{ID: Guild, Name: "Crew's quarters", Owner: Olga, botIn: true, Roles: []Role{
			{ID: Guild, Name: "@everyone", Permissions: MemberPermissions},
			{ID: Crew, Name: "Crew", Mentionable: true},
			{ID: Admins, Name: "Admins", Permissions: Administrator},
			{ID: BotRole, Name: "Deckhand", Permissions: BotPermissions},
		}, Members: []Member{
			{User: Ann, Roles: []string{Crew}}, {User: Ben, Roles: []string{Crew}}, {User: Gus},
			{User: Olga}, {User: Ada, Roles: []string{Admins}}, {User: Robot},
			{User: BotUser, Roles: []string{BotRole}},
		}},
		{ID: OtherGuild, Name: "The other ship", Owner: Ann, botIn: true, Roles: []Role{
			{ID: OtherGuild, Name: "@everyone", Permissions: MemberPermissions},
			{ID: OtherRole, Name: "Deckhand", Permissions: BotPermissions},
		}, Members: []Member{{User: Ann}, {User: Eve}, {User: BotUser, Roles: []string{OtherRole}}}},
	}
	s.channels = []*Channel{
		{ID: General, Name: "general", Guild: Guild},
		{ID: Elsewhere, Name: "elsewhere", Guild: OtherGuild},
		{ID: Forum, Name: "reports", Guild: Guild, Type: ForumChannel},
	}
}

func (s *world) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *world) guild(id string) *guild {
	for _, g := range s.guilds {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// channel is a channel that still exists.
func (s *world) channel(id string) *Channel {
	for _, c := range s.channels {
		if c.ID == id && !c.Deleted {
			return c
		}
	}
	return nil
}

func (s *world) message(channel, id string) *message {
	for _, m := range slices.Backward(s.messages) {
		if m.Channel == channel && m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

func (g *guild) member(user string) *Member {
	for i := range g.Members {
		if g.Members[i].User == user {
			return &g.Members[i]
		}
	}
	return nil
}

func (g *guild) role(id string) *Role {
	for i := range g.Roles {
		if g.Roles[i].ID == id {
			return &g.Roles[i]
		}
	}
	return nil
}

// has says whether a member has a role; everybody has the one of the guild itself.
func (m *Member) has(guild, role string) bool {
	return role == guild || slices.Contains(m.Roles, role)
}

// granted is what a member's roles allow, before a channel changes it.
func (s *world) granted(g *guild, m *Member) int64 {
	var p int64
	for _, r := range g.Roles {
		if m.has(g.ID, r.ID) {
			p |= r.Permissions
		}
	}
	return p
}

// allowed are the permissions of a user in a channel; 0 for somebody who is not there.
func (s *world) allowed(user string, c *Channel) int64 {
	if c.Type == DMChannel {
		if user == c.Recipient || user == BotUser {
			return MemberPermissions
		}
		return 0
	}
	g := s.guild(c.Guild)
	if g == nil {
		return 0
	}
	m := g.member(user)
	if m == nil {
		return 0
	}
	if g.Owner == user {
		return allPermissions
	}
	p := s.granted(g, m)
	if p&Administrator != 0 {
		return allPermissions
	}
	return s.overwritten(p, user, m, g, c)
}

func (s *world) overwritten(p int64, user string, m *Member, g *guild, c *Channel) int64 {
	at := c
	if parent := s.channel(c.Parent); c.Thread() && parent != nil {
		at = parent
	}
	p = at.overwrite(p, func(o Overwrite) bool { return o.Type == 0 && o.ID == g.ID })
	p = at.overwrite(p, func(o Overwrite) bool { return o.Type == 0 && o.ID != g.ID && m.has(g.ID, o.ID) })
	p = at.overwrite(p, func(o Overwrite) bool { return o.Type == 1 && o.ID == user })
	if c.Type == PrivateThread && !slices.Contains(c.Members, user) && p&ManageThreads == 0 {
		return 0
	}
	if p&ViewChannel == 0 {
		return 0
	}
	return p
}

// overwrite changes permissions by the channel's overwrites of a sort, all at once.
func (c *Channel) overwrite(p int64, of func(Overwrite) bool) int64 {
	var allow, deny int64
	for _, o := range c.Overwrites {
		if of(o) {
			allow, deny = allow|o.Allow, deny|o.Deny
		}
	}
	return p&^deny | allow
}

// may says whether a user has every one of the permissions in a channel.
func (s *world) may(user string, c *Channel, bits int64) bool {
	return s.allowed(user, c)&bits == bits
}

// sees says whether a user is somebody who can look into a channel.
func (s *world) sees(user string, c *Channel) bool { return s.may(user, c, ViewChannel) }

// visible finds a channel that the bot may look into.
func (s *world) visible(id string) (*Channel, error) {
	c := s.channel(id)
	switch {
	case c == nil:
		return nil, unknownChannel()
	case !s.sees(BotUser, c):
		return nil, missingAccess()
	}
	return c, nil
}

// fileURL is where an attachment is downloaded, with an expiry as Discord's have.
func (s *world) fileURL(channel string, f File) string {
	until := strconv.FormatInt(time.Now().Add(24*time.Hour).Unix(), 16)
	return fmt.Sprintf("%s/attachments/%s/%s/%s?ex=%s&is=0&hm=0", s.URL(), channel, f.ID, url.PathEscape(f.Name), until)
}

func (s *world) interactionByID(id string) *interaction {
	for _, i := range slices.Backward(s.interactions) {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// older compares two snowflakes.
func older(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
