package directory

// This file finds out who a person is in a server, with their roles, and
// which servers the bot is in. It remembers the answers for some minutes to
// spare calls.

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	knowPerson = 10 * time.Minute
	knowGuilds = 10 * time.Minute
	maxPeople  = 1000
	maxGuilds  = 50 // servers that are asked about somebody who writes directly
	askWithin  = 2 * time.Second
)

// Directory is what one bot account knows of people and places.
type Directory struct {
	client   *api.Client
	log      *slog.Logger
	people   *ingest.Cache[member]   // by server and user
	guilds   *ingest.Cache[[]string] // one value: the servers that the bot is in
	readers  *ingest.Cache[bool]     // by channel and user: may they read it
	channels channels
	roles    roles
}

// member is somebody in a server.
type member struct {
	bot.Person

	inside bool // a member of the server
}

// New makes a directory in which nothing is known yet.
func New(client *api.Client, log *slog.Logger) *Directory {
	return &Directory{
		client: client, log: log,
		people: ingest.NewCache[member](knowPerson, maxPeople), guilds: ingest.NewCache[[]string](knowGuilds, 1),
		readers:  ingest.NewCache[bool](knowReader, maxReaders),
		channels: channels{now: map[string]api.Channel{}}, roles: roles{names: map[string]map[string]string{}},
	}
}

// Who finds out who did something in a server, or without one in a direct
// conversation. What Discord said of the member, if anything, spares a question.
// An error means that Discord could not be asked.
func (d *Directory) Who(ctx context.Context, guild string, u discordgo.User, m *api.Member) (bot.Person, error) {
	switch {
	case u.Bot:
		return bot.Person{ID: api.Principal(u.ID), Name: api.Name(u), Bot: true}, nil
	case guild == "":
		return d.alone(ctx, u)
	case m != nil:
		p := personOf(guild, u, *m)
		d.people.Put(guild+"/"+u.ID, member{p, true})
		return p, nil
	}
	p, _, err := d.person(ctx, guild, u)
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
func (d *Directory) person(ctx context.Context, guild string, u discordgo.User) (p bot.Person, inside bool, err error) {
	key := guild + "/" + u.ID
	old, fresh, known := d.people.Get(key)
	if fresh {
		return old.Person, old.inside, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var m api.Member
	err = d.client.Call(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, u.ID), nil, &m)
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
	d.people.Put(key, member{p, inside})
	return p, inside, nil
}

// alone is somebody who writes directly: a full member of any of the bot's
// servers, with the roles that they have in all of them.
func (d *Directory) alone(ctx context.Context, u discordgo.User) (bot.Person, error) {
	p := bot.Person{ID: api.Principal(u.ID), Name: api.Name(u)}
	guilds, err := d.Guilds(ctx)
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

// Guilds asks which servers the bot is in.
func (d *Directory) Guilds(ctx context.Context) ([]string, error) {
	list, fresh, known := d.guilds.Get("")
	if fresh {
		return list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var found []discordgo.UserGuild
	err := d.client.Call(ctx, http.MethodGet, discordgo.EndpointUserGuilds("@me"), nil, &found)
	if err != nil && known {
		return list, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask Discord which servers the bot is in: %w", err)
	}
	list = make([]string, len(found))
	for i, g := range found {
		list[i] = g.ID
	}
	d.guilds.Put("", list)
	return list, nil
}

// PersonName is how people see somebody in a server, or the id where Discord
// does not say.
func (d *Directory) PersonName(ctx context.Context, guild, id string) string {
	if guild == "" {
		return id
	}
	p, _, err := d.person(ctx, guild, discordgo.User{ID: id})
	if err != nil {
		return id
	}
	return p.Name
}

// maxAskedFor is how many servers are asked about somebody who is named elsewhere.
const maxAskedFor = 5

// Known is how people see somebody in one of the bot's servers, empty where none
// says.
func (d *Directory) Known(ctx context.Context, id string) string {
	guilds, err := d.Guilds(ctx)
	if err != nil {
		return ""
	}
	for _, guild := range guilds[:min(len(guilds), maxAskedFor)] {
		p, inside, err := d.person(ctx, guild, discordgo.User{ID: id})
		if err == nil && inside && p.Name != id {
			return p.Name
		}
	}
	return ""
}
