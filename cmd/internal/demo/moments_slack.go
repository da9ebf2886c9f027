package demo

// This file shows moments on a local Slack.

import (
	"context"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/moments"
)

// People of the moments whom slacktest does not have.
const (
	slackAlice = "U21"
	slackDana  = "U22"
)

// SlackStage is a local Slack for moments.
func SlackStage() (Stage, error) {
	s := slacktest.New(slacktest.Config{Limits: slacktest.Limits{Off: true}, Mentions: slacktest.OnlyAppMention})
	s.AddUser(slacktest.User{ID: slackAlice, Name: "alice", RealName: "Alice"})
	s.AddUser(slacktest.User{ID: slackDana, Name: "dana", RealName: "Dana"})
	s.AddChannel(slacktest.Channel{ID: slacktest.General, Name: "general",
		Members: []string{slacktest.Ann, slacktest.Ben, slackAlice, slackDana, slacktest.BotUser}})
	return &slackStage{s}, nil
}

type slackStage struct{ *slacktest.Server }

func (s *slackStage) world() moments.World {
	person := func(id, name string) bot.Person {
		return bot.Person{ID: slack.Platform + ":" + id, Name: name, Full: true, Zone: "Europe/Berlin"}
	}
	return moments.World{Place: bot.Address{Platform: slack.Platform, Workspace: slacktest.Team, Channel: slacktest.General},
		Ann: person(slacktest.Ann, "Ann"), Ben: person(slacktest.Ben, "Ben"), Alice: person(slackAlice, "Alice"), Dana: person(slackDana, "Dana"), Home: true}
}

func (s *slackStage) connect(ctx context.Context) (bot.Platform, error) {
	return slack.New(ctx, slack.Config{BotToken: s.BotToken, AppToken: s.AppToken, APIURL: s.URL() + "/api/"})
}

func (s *slackStage) wait(ctx context.Context, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	return s.Wait(ctx, cond)
}

func (s *slackStage) begin(t *theatre, _ string) {
	t.thread = s.world().Place.At(s.Say(slacktest.Ann, slacktest.General, "", openingWords))
	t.newest = bot.Address{}
}

func (s *slackStage) show(ctx context.Context, t *theatre, step moments.Step) (string, error) {
	switch a := step.(type) {
	case moments.Posted:
		at, err := t.post(ctx, a.Card, false)
		if a.Known {
			return "", err
		}
		return s.RenderMessage(at.Channel, at.ID), err
	case moments.Edited:
		at, err := t.post(ctx, a.Card, true)
		return onceMore + s.RenderMessage(at.Channel, at.ID), err
	case moments.Said:
		return s.said(ctx, t, a)
	case moments.Pressed:
		t.next(a.By, kind[bot.Pressed], a.Answer)
		seen := s.look(userOf(a.By))
		label := a.Label
		if thumb := map[string]string{"Good": "positive", "Bad": "negative"}[label]; thumb != "" {
			label = thumb // Slack's own
		}
		if err := s.Click(userOf(a.By), slacktest.General, t.newest.ID, label); err != nil { //nolint:contextcheck // the local Slack delivers in a time of its own
			return "", err
		}
		return fmt.Sprintf(">>> %s presses [%s]\n", a.By.Name, a.Label) + s.seen(ctx, seen, a.Answer), nil
	case moments.Filled:
		t.next(a.By, kind[bot.Filled], a.Answer)
		seen := s.look(userOf(a.By))
		form, _ := s.Modal(userOf(a.By))
		if _, err := s.Submit(form.ID, userOf(a.By), a.Values); err != nil { //nolint:contextcheck // as above
			return "", err
		}
		return fmt.Sprintf(">>> %s sends the form: %s\n", a.By.Name, written(a.Values)) + s.seen(ctx, seen, a.Answer), nil
	case moments.Visited:
		t.next(a.By, kind[bot.Visited], a.Answer)
		s.OpenHome(userOf(a.By)) //nolint:contextcheck // as above
		err := s.wait(ctx, func() bool { v, there := s.Home(userOf(a.By)); return there && v.ID != "" })
		v, _ := s.Home(userOf(a.By))
		return s.RenderView(v.ID), err
	case moments.Told:
	}
	return "", nil
}

// said is a message of somebody, and what it is answered with.
func (s *slackStage) said(ctx context.Context, t *theatre, a moments.Said) (string, error) {
	t.next(a.By, words(a.Text), a.Answer)
	seen := s.look(userOf(a.By))
	name, say := "@Deckhand ", s.Mention
	if a.Aloud {
		name, say = "", s.Say
	}
	ts := say(userOf(a.By), slacktest.General, t.thread.ID, a.Text)
	text := strings.TrimRight(fmt.Sprintf("%s: %s%s", a.By.Name, name, a.Text), " ") + "\n"
	if a.Answer.Mark != "" {
		marked := func() bool { m, _ := s.Message(slacktest.General, ts); return len(m.Reactions) > 0 }
		if err := s.wait(ctx, marked); err != nil {
			return text, err
		}
		text += "  :" + string(a.Answer.Mark) + ":\n"
	}
	return text + s.seen(ctx, seen, a.Answer), nil
}

// sight is how much was seen before.
type sight struct {
	user      string
	aside, in int
}

func (s *slackStage) look(user string) sight {
	return sight{user: user, aside: len(s.Ephemerals(user)), in: len(s.FromBot())}
}

// seen waits for an answer and returns it as it is seen.
func (s *slackStage) seen(ctx context.Context, before sight, a bot.Answer) string {
	switch {
	case a.Form != nil:
		if s.wait(ctx, func() bool { v, open := s.Modal(before.user); return open && v.Title == a.Form.Title }) != nil {
			return "(no form was opened)\n"
		}
		v, _ := s.Modal(before.user)
		return s.RenderView(v.ID)
	case a.Private != "":
		if s.wait(ctx, func() bool { return len(s.Ephemerals(before.user)) > before.aside }) != nil {
			return "(nothing was answered)\n"
		}
		return s.RenderEphemeral(before.user)
	case a.Public != nil:
		if s.wait(ctx, func() bool { return len(s.FromBot()) > before.in }) != nil {
			return "(nothing was answered)\n"
		}
		list := s.FromBot()
		return s.RenderMessage(slacktest.General, list[len(list)-1].TS)
	}
	return ""
}

// userOf is a person's id on the platform.
func userOf(p bot.Person) string {
	_, id, _ := strings.Cut(p.ID, ":")
	return id
}

// written is what was typed into a form.
func written(values map[string]string) string {
	var list []string
	for _, text := range values {
		list = append(list, "“"+text+"”")
	}
	return strings.Join(list, ", ")
}
