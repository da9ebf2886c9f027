package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

const (
	knowPerson = 10 * time.Minute
	knowGroup  = time.Minute
	maxPeople  = 1000
	askWithin  = 2 * time.Second // the acknowledgement waits for it
)

// people remembers who is who for a while.
type people struct {
	mu     sync.Mutex
	known  map[string]knownPerson
	groups map[string]knownGroup
	said   map[string]bool // what was logged once
}

type knownPerson struct {
	bot.Person
	until time.Time
}

type knownGroup struct {
	members []string
	until   time.Time
}

// who finds out who did what the notice says. An error means that Slack could
// not be asked: the event shall come again.
func (s *Slack) who(ctx context.Context, n *notice) (bot.Person, error) {
	if n.bot != "" {
		p := bot.Person{ID: principal(n.bot), Name: n.name, Bot: true}
		if p.Name == "" {
			p.Name = n.bot
		}
		return p, nil
	}
	p, err := s.person(ctx, n.user)
	if err != nil {
		return bot.Person{}, err
	}
	for _, group := range s.cfg.Groups {
		members, err := s.members(ctx, group)
		if err != nil {
			return bot.Person{}, err
		}
		if slices.Contains(members, n.user) {
			p.Also = append(p.Also, principal(group))
		}
	}
	return p, nil
}

// person asks who a user is. What was known is better than nothing.
func (s *Slack) person(ctx context.Context, id string) (bot.Person, error) {
	now := time.Now()
	old, known := s.in.people.person(id)
	if known && now.Before(old.until) {
		return old.Person, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	u, err := s.api.GetUserInfoContext(ctx, id)
	s.noteCall(err)
	p := bot.Person{ID: principal(id), Name: id}
	switch code := codeOf(err); {
	case err == nil:
		p.Name, p.Bot, p.Full, p.Zone = nameOf(u), u.IsBot, s.fullMember(u), zoneOf(u)
	case code == "unknown_method":
		p.Full = true
		s.once("Slack cannot say who people are: everybody counts as a full member", "method", "users.info")
	case code == "missing_scope":
		s.once("Slack does not say who people are: nobody counts as a full member; add the scope and install the app again", "method", "users.info", "scope", neededScope(err))
	case code == "user_not_found" || code == "user_not_visible": // of a connected workspace, perhaps
	case definite(err):
		s.once("Slack does not say who somebody is: they do not count as a full member", "error", code)
	case known:
		return old.Person, nil
	default:
		return p, fmt.Errorf("ask Slack who %s is: %w", id, err)
	}
	s.in.people.learn(id, p, now)
	return p, nil
}

// fullMember reports whether somebody belongs to the workspace without
// restriction. On an enterprise grid people have a home elsewhere.
func (s *Slack) fullMember(u *slackapi.User) bool {
	here := u.TeamID == "" || u.TeamID == s.team || slices.Contains(u.Enterprise.Teams, s.team)
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
func (s *Slack) members(ctx context.Context, group string) ([]string, error) {
	now := time.Now()
	old, known := s.in.people.group(group)
	if known && now.Before(old.until) {
		return old.members, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	list, err := s.api.GetUserGroupMembersContext(ctx, group)
	s.noteCall(err)
	switch code := codeOf(err); {
	case err == nil:
	case definite(err):
		s.once("Slack does not say who is in a user group: its members have no rights through it", "group", group, "error", code, "scope", neededScope(err))
		list = nil
	case known:
		return old.members, nil
	default:
		return nil, fmt.Errorf("ask Slack who is in the user group %s: %w", group, err)
	}
	s.in.people.learnGroup(group, list, now)
	return list, nil
}

// nameFor is how people see a user, or the id where Slack does not say.
func (s *Slack) nameFor(ctx context.Context, id string) string {
	p, err := s.person(ctx, id)
	if err != nil {
		return id
	}
	return p.Name
}

// once logs a lack of the configuration one time.
func (s *Slack) once(text string, args ...any) {
	key := fmt.Sprint(append([]any{text}, args...)...)
	s.in.people.mu.Lock()
	seen := s.in.people.said[key]
	s.in.people.said[key] = true
	s.in.people.mu.Unlock()
	if !seen {
		s.log.Warn(text, args...) //nolint:sloglint // the callers' texts are constants
	}
}

// neededScope is the scope that Slack misses, as it says itself.
func neededScope(err error) string {
	refused, _ := errors.AsType[slackapi.SlackErrorResponse](err)
	return refused.Needed
}

func (p *people) open() {
	p.known, p.groups, p.said = map[string]knownPerson{}, map[string]knownGroup{}, map[string]bool{}
}

func (p *people) person(id string) (knownPerson, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, known := p.known[id]
	return k, known
}

func (p *people) group(id string) (knownGroup, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, known := p.groups[id]
	return k, known
}

// learn remembers a person, and forgets whoever was learnt first when there are
// too many.
func (p *people) learn(id string, who bot.Person, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.known[id]; !known && len(p.known) >= maxPeople {
		oldest := ""
		for other, k := range p.known {
			if oldest == "" || k.until.Before(p.known[oldest].until) {
				oldest = other
			}
		}
		delete(p.known, oldest)
	}
	p.known[id] = knownPerson{Person: who, until: now.Add(knowPerson)}
}

func (p *people) learnGroup(id string, members []string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups[id] = knownGroup{members: members, until: now.Add(knowGroup)}
}
