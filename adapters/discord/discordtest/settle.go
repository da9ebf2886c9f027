package discordtest

import "slices"

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

func (s *Server) settle() {
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

func (s *Server) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (s *Server) guild(id string) *guild {
	for _, g := range s.guilds {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// channel is a channel that still exists.
func (s *Server) channel(id string) *Channel {
	for _, c := range s.channels {
		if c.ID == id && !c.Deleted {
			return c
		}
	}
	return nil
}

func (s *Server) message(channel, id string) *message {
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
func (s *Server) granted(g *guild, m *Member) int64 {
	var p int64
	for _, r := range g.Roles {
		if m.has(g.ID, r.ID) {
			p |= r.Permissions
		}
	}
	return p
}

// allowed are the permissions of a user in a channel; 0 for somebody who is not there.
func (s *Server) allowed(user string, c *Channel) int64 {
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

func (s *Server) overwritten(p int64, user string, m *Member, g *guild, c *Channel) int64 {
	at := c
	if parent := s.channel(c.Parent); c.Thread() && parent != nil {
		at = parent
	}
	var allow, deny int64
	for _, o := range at.Overwrites {
		if o.Type == 0 && o.ID == g.ID {
			p = p&^o.Deny | o.Allow
		}
	}
	for _, o := range at.Overwrites {
		if o.Type == 0 && o.ID != g.ID && m.has(g.ID, o.ID) {
			allow, deny = allow|o.Allow, deny|o.Deny
		}
	}
	p = p&^deny | allow
	for _, o := range at.Overwrites {
		if o.Type == 1 && o.ID == user {
			p = p&^o.Deny | o.Allow
		}
	}
	if c.Type == PrivateThread && !slices.Contains(c.Members, user) && p&ManageThreads == 0 {
		return 0
	}
	if p&ViewChannel == 0 {
		return 0
	}
	return p
}

// may says whether a user has every one of the permissions in a channel.
func (s *Server) may(user string, c *Channel, bits int64) bool {
	return s.allowed(user, c)&bits == bits
}

// sees says whether a user is somebody who can look into a channel.
func (s *Server) sees(user string, c *Channel) bool { return s.may(user, c, ViewChannel) }

// visible finds a channel that the bot may look into.
func (s *Server) visible(id string) (*Channel, error) {
	c := s.channel(id)
	switch {
	case c == nil:
		return nil, unknownChannel()
	case !s.sees(BotUser, c):
		return nil, missingAccess()
	}
	return c, nil
}
