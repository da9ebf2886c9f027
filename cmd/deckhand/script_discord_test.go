package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
)

// discordUsage are the words of the command `discord`, beside those of chatUsage:
//
//	discord start [signed]            a server, and the variables that lead to it; with "signed" the public key too
//	discord types NAME COMMAND [OPTION=TEXT...]  /deckhand COMMAND in #general
//	discord completes NAME COMMAND OPTION REGEXP  what is suggested for the option has that; prints it
//	discord goal NAME THREAD          "Make this a goal" on the message
//	discord drops                     every socket is cut
//	discord leaves                    the bot is removed from all servers
//	discord revoked                   its token is worth nothing any more
//
// A reply is a mention as well: nothing else is shown to a bot that may not
// read everything.
const discordUsage = "discord " + chatUsage + "|types|completes|goal|drops|leaves|revoked"

var discordDeeds = map[string]deed[*hall]{
	"types": {2, discordTypes}, "completes": {4, discordCompletes}, "goal": {2, discordGoal},
	"drops": {0, discordDrops}, "leaves": {0, discordLeaves}, "revoked": {0, discordRevoked},
}

func discordCommand(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, args, 1, discordUsage)
	r := rigOf(ts)
	switch {
	case neg || (args[0] != "start" && r.discord == nil):
		ts.Fatalf("usage: %s", discordUsage)
	case args[0] == "start":
		r.discord = discordStart(ts, args[1:])
	default:
		perform(ts, r.discord, discordDeeds, args, discordUsage)
	}
}

func discordStart(ts *testscript.TestScript, options []string) *hall {
	if r := rigOf(ts); r.discord != nil {
		r.discord.Close()
	}
	s := discordtest.New(discordtest.Config{})
	ts.Setenv("DISCORD_API_URL", s.URL()+"/api")
	ts.Setenv("DISCORD_TOKEN", s.Token)
	ts.Setenv("DISCORD_PUBLIC_KEY", "")
	if slices.Contains(options, "signed") {
		ts.Setenv("DISCORD_PUBLIC_KEY", s.PublicKey)
	}
	return &hall{s}
}

// hall is a script's Discord. A thread has the id of the message that it
// begins at.
type hall struct{ *discordtest.Server }

func (w *hall) called() map[string]string {
	return map[string]string{"ann": discordtest.Ann, "ben": discordtest.Ben, "gus": discordtest.Gus}
}

func (w *hall) challenge(ctx context.Context) error { return w.Ping(ctx) }

func (w *hall) mention(by, text string) string { return w.Mention(by, discordtest.General, text) }

func (w *hall) reply(by, thread, text string) { w.Mention(by, thread, text) }

// channel is #general for no thread.
func channel(thread string) string {
	if thread == "" {
		return discordtest.General
	}
	return thread
}

func (w *hall) text(thread string) string {
	var b bytes.Buffer
	if err := w.Render(&b, channel(thread)); err != nil {
		return err.Error()
	}
	return b.String()
}

func (w *hall) click(by, thread, button string) error {
	err := fmt.Errorf("no message has the button %q", button)
	for _, m := range slices.Backward(w.Messages(thread)) {
		if !slices.ContainsFunc(m.Buttons(), func(label string) bool { return label == button || strings.HasSuffix(label, " "+button) }) {
			continue
		}
		if err = w.Click(by, thread, m.ID, button); err == nil {
			return nil
		}
	}
	return err
}

func (w *hall) form(by string) (id, text string, open bool) {
	form, open := w.Modal(by)
	return form.ID, w.RenderModal(form.ID), open
}

func (w *hall) submit(id, by string, values map[string]string) error {
	return w.Submit(id, by, values)
}

func (w *hall) posts(thread, kind string) int {
	n := 0
	if m, there := w.Message(discordtest.General, thread); there && kind == "seen" {
		for _, r := range m.Reactions {
			if r.Name == "👀" {
				n += len(r.Users)
			}
		}
	}
	letter := map[string]string{"card": "c", "checkpoint": "k", "report": "r", "answer": "a"}[kind]
	for _, m := range w.Messages(channel(thread)) {
		if letter != "" && strings.HasPrefix(m.Nonce, letter) && m.Author == discordtest.BotUser {
			n++
		}
	}
	return n
}

func (w *hall) deliveries() []delivered {
	var list []delivered
	for _, i := range w.Interactions() {
		list = append(list, delivered{fmt.Sprintf("%+v", i), !i.Acked.IsZero(), i.Latency, i.Error != ""})
	}
	return list
}

func discordTypes(ts *testscript.TestScript, w *hall, args []string) {
	ts.Check(w.Slash(idOf(ts, w, args[0]), discordtest.General, "deckhand "+args[1], fields(args[2:])))
}

func discordCompletes(ts *testscript.TestScript, w *hall, args []string) {
	re := pattern(ts, args[3])
	list, err := w.Autocomplete(idOf(ts, w, args[0]), discordtest.General, "deckhand "+args[1], discordtest.Options{args[2]: ""}, args[2])
	ts.Check(err)
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.Name + " = " + c.Value + "\n")
	}
	fmt.Fprint(ts.Stdout(), b.String())
	if !re.MatchString(b.String()) {
		ts.Fatalf("%q is not suggested, but %d others:\n%s", args[3], len(list), b.String())
	}
}

func discordGoal(ts *testscript.TestScript, w *hall, args []string) {
	ts.Check(w.MessageCommand(idOf(ts, w, args[0]), discordtest.General, args[1], "Make this a goal"))
}

func discordDrops(_ *testscript.TestScript, w *hall, _ []string) { w.DropSockets() }

func discordLeaves(ts *testscript.TestScript, w *hall, _ []string) {
	for _, guild := range []string{discordtest.Guild, discordtest.OtherGuild} {
		ts.Check(w.RemoveBot(guild))
	}
}

func discordRevoked(_ *testscript.TestScript, w *hall, _ []string) { w.Revoke() }
