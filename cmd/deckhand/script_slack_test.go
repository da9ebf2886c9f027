package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
)

// slackUsage are the words of the command `slack`, beside those of chatUsage:
//
//	slack start [socket|signed] [without=SCOPE]  a workspace, and the variables that lead to it
//	slack refuses CODE N              so many calls, of any method, are answered with that error
//	slack group ID NAME...            a user group
//	slack writes NAME TEXT            a direct message, and waits for something of Deckhand's there
//	slack shortcut NAME THREAD        "Make this a goal" on the message
//	slack types NAME TEXT             /deckhand TEXT
//	slack home NAME REGEXP            opens the app's home and waits until it has that
const slackUsage = "slack " + chatUsage + "|refuses|group|writes|shortcut|types|home"

var slackDeeds = map[string]deed[*team]{
	"refuses": {2, slackRefuses}, "group": {2, slackGroup}, "writes": {2, slackWrites}, "shortcut": {2, slackShortcut},
	"types": {2, slackTypes}, "home": {2, slackHome},
}

func slackCommand(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, args, 1, slackUsage)
	r := rigOf(ts)
	switch {
	case neg || (args[0] != "start" && r.slack == nil):
		ts.Fatalf("usage: %s", slackUsage)
	case args[0] == "start":
		r.slack = slackStart(ts, args[1:])
	default:
		perform(ts, r.slack, slackDeeds, args, slackUsage)
	}
}

func slackStart(ts *testscript.TestScript, options []string) *team {
	cfg := slacktest.Config{Scopes: slack.Scopes()}
	signed := false
	for _, option := range options {
		lacking, is := strings.CutPrefix(option, "without=")
		if is {
			cfg.Scopes = slices.DeleteFunc(cfg.Scopes, func(scope string) bool { return scope == lacking })
		}
		signed = signed || option == "signed"
	}
	if r := rigOf(ts); r.slack != nil {
		r.slack.Close()
	}
	s := slacktest.New(cfg)
	ts.Setenv("SLACK_API_URL", s.URL()+"/api")
	ts.Setenv("SLACK_BOT_TOKEN", s.BotToken)
	ts.Setenv("SLACK_APP_TOKEN", "")
	ts.Setenv("SLACK_SIGNING_SECRET", "")
	if signed {
		ts.Setenv("SLACK_SIGNING_SECRET", s.SigningSecret)
	} else {
		ts.Setenv("SLACK_APP_TOKEN", s.AppToken)
	}
	return &team{s}
}

// team is a script's Slack.
type team struct{ *slacktest.Server }

func (w *team) called() map[string]string {
	return map[string]string{"ann": slacktest.Ann, "ben": slacktest.Ben, "gus": slacktest.Guest, "stella": slacktest.Stranger}
}

func (w *team) challenge(ctx context.Context) error { return w.Challenge(ctx) }

func (w *team) mention(by, text string) string { return w.Mention(by, slacktest.General, "", text) }

func (w *team) reply(by, thread, text string) { w.Say(by, slacktest.General, thread, text) }

func (w *team) text(thread string) string {
	var b bytes.Buffer
	if err := w.Render(&b, slacktest.General, thread); err != nil {
		return err.Error()
	}
	return b.String()
}

func (w *team) click(by, thread, button string) error {
	err := fmt.Errorf("no message has the button %q", button)
	for _, m := range slices.Backward(w.Thread(slacktest.General, thread)) {
		if !bytes.Contains(m.Blocks, []byte(button)) {
			continue
		}
		if err = w.Click(by, slacktest.General, m.TS, button); err == nil {
			return nil
		}
	}
	return err
}

func (w *team) form(by string) (id, text string, open bool) {
	form, open := w.Modal(by)
	return form.ID, w.RenderView(form.ID), open
}

func (w *team) submit(id, by string, values map[string]string) error {
	sent, err := w.Submit(id, by, values)
	if err == nil && len(sent.Errors) > 0 {
		err = fmt.Errorf("the form is refused: %v\n%s", sent.Errors, w.RenderView(id))
	}
	return err
}

func (w *team) posts(thread, kind string) int {
	n := 0
	for _, m := range w.Thread(slacktest.General, thread) {
		for _, r := range m.Reactions {
			if kind == "seen" && r.Name == "eyes" {
				n++
			}
		}
		if is := kindOf(m); is != "" && is == agent.PostKind(kind) {
			n++
		}
	}
	return n
}

func (w *team) deliveries() []delivered {
	var list []delivered
	for _, d := range w.Deliveries() {
		list = append(list, delivered{fmt.Sprintf("%+v", d), !d.Acked.IsZero(), d.Latency, d.Error != ""})
	}
	return list
}

func slackRefuses(ts *testscript.TestScript, w *team, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	w.Fail("*", n, slacktest.APIError(args[0]))
}

func slackGroup(ts *testscript.TestScript, w *team, args []string) {
	g := slacktest.UserGroup{ID: args[0], Handle: strings.ToLower(args[0]), Name: args[0]}
	for _, name := range args[1:] {
		g.Users = append(g.Users, idOf(ts, w, name))
	}
	w.AddGroup(g)
}

func slackTypes(ts *testscript.TestScript, w *team, args []string) {
	ts.Check(w.Slash(idOf(ts, w, args[0]), slacktest.General, args[1]))
}

func slackWrites(ts *testscript.TestScript, w *team, args []string) {
	by := idOf(ts, w, args[0])
	at := w.DM(by, args[1])
	if !comes(w, func() bool {
		return slices.ContainsFunc(w.Thread(w.IM(by), at), func(m slacktest.Message) bool { return kindOf(m) == agent.PostCard })
	}) {
		ts.Fatalf("%q in a direct message is not answered", args[1])
	}
}

func slackShortcut(ts *testscript.TestScript, w *team, args []string) {
	ts.Check(w.MessageShortcut(idOf(ts, w, args[0]), slacktest.General, args[1], "goal_from_message"))
}

func slackHome(ts *testscript.TestScript, w *team, args []string) {
	by, re := idOf(ts, w, args[0]), pattern(ts, args[1])
	w.OpenHome(by)
	text := ""
	shown := comes(w, func() bool {
		home, there := w.Home(by)
		text = w.RenderView(home.ID)
		return there && re.MatchString(text)
	})
	if !shown {
		ts.Fatalf("the home of %s never shows %q:\n%s", args[0], args[1], text)
	}
}

// kindOf is what a message of Deckhand's is, empty for those of others.
func kindOf(m slacktest.Message) agent.PostKind {
	var key struct {
		Kind agent.PostKind `json:"kind"`
	}
	if m.Metadata == nil || json.Unmarshal(m.Metadata.EventPayload, &key) != nil {
		return ""
	}
	return key.Kind
}
