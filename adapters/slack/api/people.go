package api

// This file looks up who people are and who is in a user group, and opens
// direct conversations. People's rights depend on the answers, so these are
// cached for minutes and then asked for again.

import (
	"context"
	"fmt"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// People and groups are remembered for a while: whoever leaves or becomes a guest
// has no rights any more when it is over, also while Slack cannot be asked.
const (
	knowPerson = 50 * time.Second
	knowGroup  = 50 * time.Second
	maxPeople  = 1000
	maxGroups  = 1000
	knowPlaces = 50 * time.Second
	maxPlaces  = 200 // people whose channels are remembered
	pageOf     = 999 // channels at once
	maxPages   = 20
	askWithin  = 2 * time.Second // the acknowledgement waits for it
)

// Author finds out who did what an update says, with the groups of theirs among
// those that matter. An error means that Slack could not be asked: the event
// shall come again.
func (c *Client) Author(ctx context.Context, u *wire.Update, groups []string) (bot.Person, error) {
	if u.Bot != "" {
		p := bot.Person{ID: wire.Principal(u.Bot), Name: u.Name, Bot: true}
		if p.Name == "" {
			p.Name = u.Bot
		}
		return p, nil
	}
	p, err := c.person(ctx, u.User)
	if err != nil {
		return bot.Person{}, err
	}
	for _, group := range groups {
		members, err := c.members(ctx, group)
		if err != nil {
			return bot.Person{}, err
		}
		if slices.Contains(members, u.User) {
			p.Also = append(p.Also, wire.Principal(group))
		}
	}
	return p, nil
}

// NameFor is how people see a user, or the id where Slack does not say.
func (c *Client) NameFor(ctx context.Context, id string) string {
	p, err := c.person(ctx, id)
	if old, _, known := c.people.Get(id); err != nil && known {
		return old.Name // a name gives no rights
	}
	if err != nil {
		return id
	}
	return p.Name
}

// person asks who a user is.
func (c *Client) person(ctx context.Context, id string) (bot.Person, error) {
	old, fresh, _ := c.people.Get(id)
	if fresh {
		return old, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	u, err := c.Web.GetUserInfoContext(ctx, id)
	c.NoteToken(err)
	p := bot.Person{ID: wire.Principal(id), Name: id}
	switch code := CodeOf(err); {
	case err == nil:
		p.Name, p.Bot, p.Full, p.Zone = nameOf(u), u.IsBot, c.fullMember(u), zoneOf(u)
	case code == "unknown_method":
		c.LogOnce("this Slack cannot say who people are: nobody counts as a full member; name people under authority.start", "method", "users.info")
	case code == "missing_scope":
		c.LogOnce("Slack does not say who people are: nobody counts as a full member; add the scope and install the app again", "method", "users.info", "scope", NeededScope(err))
	case code == "user_not_found" || code == "user_not_visible": // of a connected workspace, perhaps
	case definite(err):
		c.LogOnce("Slack does not say who somebody is: they do not count as a full member", "error", code)
	default:
		return p, fmt.Errorf("ask Slack who %s is: %w", id, err)
	}
	c.people.Put(id, p)
	return p, nil
}

// fullMember reports whether somebody belongs to the workspace without
// restriction. On an enterprise grid people have a home elsewhere.
func (c *Client) fullMember(u *slackapi.User) bool {
	here := u.TeamID == "" || u.TeamID == c.Team || slices.Contains(u.Enterprise.Teams, c.Team)
	return here && !u.IsRestricted && !u.IsUltraRestricted && !u.IsStranger && !u.Deleted && !u.IsBot
}

func nameOf(u *slackapi.User) string {
	for _, name := range []string{u.Profile.DisplayName, u.RealName, u.Profile.RealName, u.Name} {
		if name != "" {
			return name
		}
	}
	return u.ID
}

// zoneOf is a person's time zone, empty where Slack's is none that can be used here.
func zoneOf(u *slackapi.User) string {
	if _, err := time.LoadLocation(u.TZ); err != nil || u.TZ == "" || u.TZ == "Local" {
		return ""
	}
	return u.TZ
}

// members asks who is in a user group.
func (c *Client) members(ctx context.Context, group string) ([]string, error) {
	old, fresh, _ := c.groups.Get(group)
	if fresh {
		return old, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	list, err := c.Web.GetUserGroupMembersContext(ctx, group)
	c.NoteToken(err)
	switch code := CodeOf(err); {
	case err == nil:
	case definite(err):
		c.LogOnce("Slack does not say who is in a user group: its members have no rights through it", "group", group, "error", code, "scope", NeededScope(err))
		list = nil
	default:
		return nil, fmt.Errorf("ask Slack who is in the user group %s: %w", group, err)
	}
	c.groups.Put(group, list)
	return list, nil
}

// IsIn reports whether a user is in a channel, a direct conversation included. An
// error means that Slack does not say.
func (c *Client) IsIn(ctx context.Context, user, channel string) (bool, error) {
	if old, fresh, _ := c.places.Get(user); fresh {
		return slices.Contains(old, channel), nil
	}
	params := slackapi.GetConversationsForUserParameters{UserID: user, Types: []string{"public_channel", "private_channel", "mpim", "im"}, Limit: pageOf}
	var list []string
	for range maxPages {
		channels, next, err := c.Web.GetConversationsForUserContext(ctx, &params)
		c.NoteToken(err)
		if err != nil {
			return false, c.Failed("ask Slack which channels "+user+" is in", err)
		}
		for _, found := range channels {
			list = append(list, found.ID)
		}
		if params.Cursor = next; next == "" {
			break
		}
	}
	c.places.Put(user, list)
	return slices.Contains(list, channel), nil
}

// Direct opens the direct conversation with a person.
func (c *Client) Direct(ctx context.Context, who string) (bot.Address, error) {
	id := wire.PersonOf(who)
	if id == "" {
		return bot.Address{}, fmt.Errorf("talk to %q alone: that is no person of Slack: %w", who, bot.ErrGone)
	}
	channel, _, _, err := c.Web.OpenConversationContext(ctx, &slackapi.OpenConversationParameters{Users: []string{id}, ReturnIM: true})
	if err != nil {
		return bot.Address{}, c.Failed("open the direct conversation with "+who, err)
	}
	if channel == nil || channel.ID == "" {
		return bot.Address{}, fmt.Errorf("open the direct conversation with %s: Slack names no channel: %w", who, bot.ErrLost)
	}
	return c.Address(channel.ID, ""), nil
}
