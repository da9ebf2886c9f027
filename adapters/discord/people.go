package discord

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	knowPerson = 10 * time.Minute
	knowGuilds = 10 * time.Minute
	maxPeople  = 1000
	maxGuilds  = 50 // servers that are asked about somebody who writes directly
	askWithin  = 2 * time.Second
)

// people remembers for a while who is who in which server.
type people struct {
	mu     sync.Mutex
	known  map[string]knownPerson // by server and user
	guilds []string
	until  time.Time
}

type knownPerson struct {
	bot.Person
	inside bool // a member of the server
	until  time.Time
}

func (p *people) open() { p.known = map[string]knownPerson{} }

// who finds out who did what the notice says. An error means that Discord could
// not be asked.
func (d *Discord) who(ctx context.Context, n *notice) (bot.Person, error) {
	switch {
	case n.user.Bot:
		return bot.Person{ID: api.Principal(n.user.ID), Name: api.Name(n.user), Bot: true}, nil
	case n.guild == "":
		return d.alone(ctx, n.user)
	case n.member != nil:
		p := personOf(n.guild, n.user, *n.member)
		d.in.people.learn(n.guild, n.user.ID, p, true)
		return p, nil
	}
	p, _, err := d.person(ctx, n.guild, n.user)
	return p, err
}

// personOf is a member of a server. Who has not accepted its rules yet is no
// full member.
func personOf(guild string, u discordgo.User, m api.Member) bot.Person {
	p := bot.Person{ID: api.Principal(u.ID), Name: api.Name(u), Full: !m.Pending && !u.Bot, Bot: u.Bot}
	if m.Nick != "" {
		p.Name = m.Nick
	}
	for _, role := range append([]string{guild}, m.Roles...) { // everybody has the server's own
		p.Also = append(p.Also, api.RolePrincipal(role))
	}
	return p
}

// person asks who somebody is in a server. What was known is better than nothing.
func (d *Discord) person(ctx context.Context, guild string, u discordgo.User) (p bot.Person, inside bool, err error) {
	now := time.Now()
	old, known := d.in.people.find(guild, u.ID)
	if known && now.Before(old.until) {
		return old.Person, old.inside, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var m api.Member
	err = d.api.Call(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, u.ID), nil, &m)
	switch status := api.Status(err); {
	case err == nil:
		if m.User != nil {
			u = *m.User
		}
		p, inside = personOf(guild, u, m), true
	case status == http.StatusNotFound || status == http.StatusForbidden: // left, or the bot did
		p = bot.Person{ID: api.Principal(u.ID), Name: api.Name(u), Bot: u.Bot}
	case known:
		return old.Person, old.inside, nil
	default:
		return p, false, fmt.Errorf("ask Discord who %s is: %w", u.ID, err)
	}
	d.in.people.learn(guild, u.ID, p, inside)
	return p, inside, nil
}

// alone is somebody who writes directly: a full member of any of the bot's
// servers, with the roles that they have in all of them.
func (d *Discord) alone(ctx context.Context, u discordgo.User) (bot.Person, error) {
	p := bot.Person{ID: api.Principal(u.ID), Name: api.Name(u)}
	guilds, err := d.guilds(ctx)
	if err != nil {
		return p, err
	}
	for _, guild := range guilds[:min(len(guilds), maxGuilds)] {
		m, inside, err := d.person(ctx, guild, u)
		if err != nil {
			return p, err
		}
		if inside {
			p.Also = append(p.Also, m.Also...)
			p.Full = p.Full || m.Full
		}
	}
	return p, nil
}

// guilds asks which servers the bot is in.
func (d *Discord) guilds(ctx context.Context) ([]string, error) {
	d.in.people.mu.Lock()
	list, until := d.in.people.guilds, d.in.people.until
	d.in.people.mu.Unlock()
	if time.Now().Before(until) {
		return list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var found []discordgo.UserGuild
	err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointUserGuilds("@me"), nil, &found)
	if err != nil && len(list) > 0 {
		return list, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask Discord which servers the bot is in: %w", err)
	}
	list = make([]string, len(found))
	for i, g := range found {
		list[i] = g.ID
	}
	d.in.people.mu.Lock()
	defer d.in.people.mu.Unlock()
	d.in.people.guilds, d.in.people.until = list, time.Now().Add(knowGuilds)
	return list, nil
}

// recount makes the bot ask again which servers it is in.
func (p *people) recount() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Time{}
}

// nameFor is how people see somebody in a server, or the id where Discord does
// not say.
func (d *Discord) nameFor(ctx context.Context, n *notice, id string) string {
	if name := n.names[id]; name != "" {
		return name
	}
	if n.guild == "" {
		return id
	}
	p, _, err := d.person(ctx, n.guild, discordgo.User{ID: id})
	if err != nil {
		return id
	}
	return p.Name
}

func (p *people) find(guild, id string) (knownPerson, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, known := p.known[guild+"/"+id]
	return k, known
}

// learn remembers a person, and forgets whoever was learnt first when there are
// too many.
func (p *people) learn(guild, id string, who bot.Person, inside bool) {
	key := guild + "/" + id
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.known[key]; !known && len(p.known) >= maxPeople {
		oldest := ""
		for other, k := range p.known {
			if oldest == "" || k.until.Before(p.known[oldest].until) {
				oldest = other
			}
		}
		delete(p.known, oldest)
	}
	p.known[key] = knownPerson{Person: who, inside: inside, until: time.Now().Add(knowPerson)}
}
