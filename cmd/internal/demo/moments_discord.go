package demo

// This file shows moments on a local Discord.

import (
	"context"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/moments"
)

// People of the moments whom discordtest does not have.
const (
	discordAlice = "120000000000000021"
	discordDana  = "120000000000000022"
)

// DiscordStage is a local Discord for moments.
func DiscordStage() (Stage, error) {
	s := discordtest.New(discordtest.Config{Limits: discordtest.Limits{Off: true}})
	for id, name := range map[string]string{discordAlice: "Alice", discordDana: "Dana"} {
		s.AddUser(discordtest.User{ID: id, Name: strings.ToLower(name), GlobalName: name})
		if err := s.AddMember(discordtest.Guild, discordtest.Member{User: id}); err != nil {
			return nil, err
		}
	}
	return &discordStage{Server: s}, nil
}

type discordStage struct {
	*discordtest.Server

	channel string // that the moment is in: the thread, once a post opened it
}

func (s *discordStage) world() moments.World {
	person := func(id, name string) bot.Person {
		return bot.Person{ID: discord.Platform + ":" + id, Name: name, Full: true}
	}
	return moments.World{Place: bot.Address{Platform: discord.Platform, Workspace: discordtest.Guild, Channel: discordtest.General},
		Ann: person(discordtest.Ann, "Ann"), Ben: person(discordtest.Ben, "Ben"), Alice: person(discordAlice, "Alice"), Dana: person(discordDana, "Dana"), Steer: true}
}

func (s *discordStage) connect(ctx context.Context) (bot.Platform, error) {
	return discord.New(ctx, discord.Config{Token: s.Token, APIURL: s.URL() + "/api", Gateway: true})
}

func (s *discordStage) wait(ctx context.Context, cond func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	return s.Wait(ctx, cond)
}

func (s *discordStage) begin(t *theatre, _ string) {
	t.thread = s.world().Place.At(s.Say(discordtest.Ann, discordtest.General, openingWords))
	t.newest, s.channel = bot.Address{}, discordtest.General
}

func (s *discordStage) show(ctx context.Context, t *theatre, step moments.Step) (string, error) {
	switch a := step.(type) {
	case moments.Posted:
		at, err := t.post(ctx, a.Card, false)
		s.channel = t.thread.ID
		if a.Known {
			return "", err
		}
		return s.RenderMessage(s.channel, at.ID), err
	case moments.Edited:
		at, err := t.post(ctx, a.Card, true)
		return onceMore + s.RenderMessage(s.channel, at.ID), err
	case moments.Said:
		return s.said(ctx, t, a)
	case moments.Pressed:
		t.next(a.By, kind[bot.Pressed], a.Answer)
		seen := s.look(userOf(a.By))
		if err := s.Click(userOf(a.By), s.channel, t.newest.ID, a.Label); err != nil { //nolint:contextcheck // the local Discord delivers in a time of its own
			return "", err
		}
		return fmt.Sprintf(">>> %s presses [%s]\n", a.By.Name, a.Label) + s.seen(ctx, seen, a.Answer, true), nil
	case moments.Filled:
		t.next(a.By, kind[bot.Filled], a.Answer)
		seen := s.look(userOf(a.By))
		form, _ := s.Modal(userOf(a.By))
		if err := s.Submit(form.ID, userOf(a.By), a.Values); err != nil { //nolint:contextcheck // as above
			return "", err
		}
		return fmt.Sprintf(">>> %s sends the form: %s\n", a.By.Name, written(a.Values)) + s.seen(ctx, seen, a.Answer, true), nil
	case moments.Visited, moments.Told: // Discord has no such page
	}
	return "", nil
}

// said is a message of somebody, and what it is answered with.
func (s *discordStage) said(ctx context.Context, t *theatre, a moments.Said) (string, error) {
	t.next(a.By, words(a.Text), a.Answer)
	seen := s.look(userOf(a.By))
	name, say := "@Deckhand ", s.Mention
	if a.Aloud {
		name, say = "", s.Say
	}
	id := say(userOf(a.By), s.channel, a.Text)
	text := strings.TrimRight(fmt.Sprintf("%s: %s%s", a.By.Name, name, a.Text), " ") + "\n"
	if a.Answer.Mark != "" {
		marked := func() bool { m, _ := s.Message(s.channel, id); return len(m.Reactions) > 0 }
		if err := s.wait(ctx, marked); err != nil {
			return text, err
		}
		text += "  :" + string(a.Answer.Mark) + ":\n"
	}
	return text + s.seen(ctx, seen, a.Answer, false), nil
}

func (s *discordStage) look(user string) sight {
	return sight{user: user, aside: len(s.Ephemerals(user)), in: len(s.FromBot())}
}

// seen waits for an answer and returns it as it is seen. What a click is
// answered with is seen by one person alone, what a message is answered with by all.
func (s *discordStage) seen(ctx context.Context, before sight, a bot.Answer, clicked bool) string {
	switch {
	case a.Form != nil:
		if s.wait(ctx, func() bool { m, open := s.Modal(before.user); return open && m.Title == a.Form.Title }) != nil {
			return "(no form was opened)\n"
		}
		m, _ := s.Modal(before.user)
		return s.RenderModal(m.ID)
	case a.Private != "" && clicked:
		if s.wait(ctx, func() bool { return len(s.Ephemerals(before.user)) > before.aside }) != nil {
			return "(nothing was answered)\n"
		}
		list := s.Ephemerals(before.user)
		newest := list[len(list)-1]
		return s.RenderMessage(newest.Channel, newest.ID)
	case a.Private != "" || a.Public != nil:
		if s.wait(ctx, func() bool { return len(s.FromBot()) > before.in }) != nil {
			return "(nothing was answered)\n"
		}
		list := s.FromBot()
		newest := list[len(list)-1]
		return s.RenderMessage(newest.Channel, newest.ID)
	}
	return ""
}
