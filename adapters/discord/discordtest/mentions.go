package discordtest

import (
	"regexp"
	"slices"
	"strings"
)

// allowed is what a message may ping.
type allowed struct {
	Parse   []string `json:"parse"`
	Users   []string `json:"users"`
	Roles   []string `json:"roles"`
	Replied bool     `json:"replied_user"`
}

func (a *allowed) check(f *form) {
	for i, p := range a.Parse {
		if p != "users" && p != "roles" && p != "everyone" {
			f.wrong("BASE_TYPE_CHOICES", "Value must be one of ('users', 'roles', 'everyone').", "allowed_mentions", "parse", i)
		}
	}
	if slices.Contains(a.Parse, "users") && len(a.Users) > 0 {
		f.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"users\"] and users: [ids...] are mutually exclusive.", "allowed_mentions")
	}
	if slices.Contains(a.Parse, "roles") && len(a.Roles) > 0 {
		f.wrong("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"roles\"] and roles: [ids...] are mutually exclusive.", "allowed_mentions")
	}
	for _, ids := range [][]string{a.Users, a.Roles} {
		if len(ids) > 100 {
			f.wrong("BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.", "allowed_mentions")
		}
	}
}

var (
	code         = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	userMention  = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention  = regexp.MustCompile(`<@&(\d+)>`)
	massMention  = regexp.MustCompile(`@(everyone|here)\b`)
	defaultParse = []string{"users", "roles", "everyone"}
)

// pings is whom a new message really pings; the lock is held.
func (s *Server) pings(m *message, a *allowed) Pings {
	if a == nil {
		a = &allowed{Parse: defaultParse, Replied: true}
	}
	words := code.ReplaceAllString(m.shown(), " ")
	c := s.channel(m.Channel)
	if c == nil {
		return Pings{}
	}
	var p Pings
	for _, id := range found(userMention, words) {
		if (slices.Contains(a.Parse, "users") || slices.Contains(a.Users, id)) && s.user(id) != nil {
			p.Users = append(p.Users, id)
		}
	}
	if to := s.message(m.Channel, m.ReplyTo); to != nil && a.Replied && !slices.Contains(p.Users, to.Author) {
		p.Users = append(p.Users, to.Author)
	}
	mass := s.may(m.Author, c, MentionEveryone)
	g := s.guild(c.Guild)
	for _, id := range found(roleMention, words) {
		if g == nil || g.role(id) == nil || !slices.Contains(a.Parse, "roles") && !slices.Contains(a.Roles, id) {
			continue
		}
		if mass || g.role(id).Mentionable {
			p.Roles = append(p.Roles, id)
		}
	}
	p.Everyone = g != nil && mass && slices.Contains(a.Parse, "everyone") && massMention.MatchString(words)
	return p
}

func found(re *regexp.Regexp, words string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(words, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// forBot says whether the app may read a message without the intent for it.
func (s *Server) forBot(m *message) bool {
	c := s.channel(m.Channel)
	return m.Author == BotUser || c != nil && c.Type == DMChannel || slices.Contains(m.mentioned(), BotUser)
}

// readable is whether the app may read the content of a message.
func (s *Server) readable(m *message, intents int) bool {
	return intents&IntentContent != 0 || s.forBot(m)
}

// plain is content with names instead of ids.
func (s *Server) plain(words string) string {
	words = userMention.ReplaceAllStringFunc(words, func(m string) string {
		return "@" + s.name(strings.Trim(m, "<@!>"))
	})
	return roleMention.ReplaceAllStringFunc(words, func(m string) string {
		id := strings.Trim(m, "<@&>")
		for _, g := range s.guilds {
			if r := g.role(id); r != nil {
				return "@" + r.Name
			}
		}
		return m
	})
}

func (s *Server) name(id string) string {
	u := s.user(id)
	if u == nil {
		return id
	}
	if u.GlobalName != "" {
		return u.GlobalName
	}
	return u.Name
}
