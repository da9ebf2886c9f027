package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
)

// team is a script's Slack.
type team struct{ *slacktest.Server }

// members are the people of the workspace by the names that scripts use.
var members = map[string]string{"ann": slacktest.Ann, "ben": slacktest.Ben, "gus": slacktest.Guest, "stella": slacktest.Stranger}

// slackUsage are the words of the command `slack`:
//
//	slack start [socket|signed] [without=SCOPE]  a workspace, and the variables that lead to it
//	slack reach http://HOST:PORT      signed requests go there; the address is challenged first
//	slack outage on|off               nothing is answered
//	slack refuses CODE N              so many calls, of any method, are answered with that error
//	slack heals                       and no more
//	slack group ID NAME...            a user group
//	slack says NAME TEXT [VAR]        a mention in #general, which begins the thread VAR
//	slack replies NAME THREAD TEXT    a message in a thread, without a mention
//	slack writes NAME TEXT            a direct message, and waits for something of Deckhand's there
//	slack shortcut NAME THREAD        "Make this a goal" on the message
//	slack types NAME TEXT             /deckhand TEXT
//	slack clicks NAME THREAD BUTTON   the newest message with that button, when it is there
//	slack fills NAME [FIELD=TEXT...]  the form that lies before them, and sends it
//	slack shows THREAD REGEXP [VAR]   waits until the thread, as people read it, has that; prints it
//	slack home NAME REGEXP            opens the app's home and waits until it has that
//	slack posts THREAD KIND N         so many posts of a kind are in the thread; "seen" counts the eyes
//	slack prompt                      every event and click was acknowledged within a second
const slackUsage = "slack start|reach|outage|refuses|heals|group|says|replies|writes|shortcut|types|clicks|fills|shows|home|posts|prompt"

// deeds are the words of the command `slack`, with the number of their arguments.
var deeds = map[string]struct {
	least int
	do    func(*testscript.TestScript, *team, []string)
}{
	"reach": {1, slackReach}, "outage": {1, slackOutage},
	"refuses": {2, slackRefuses}, "heals": {0, slackHeals}, "group": {2, slackGroup}, "says": {2, slackSays}, "replies": {3, slackReplies},
	"writes": {2, slackWrites}, "shortcut": {2, slackShortcut}, "types": {2, slackTypes},
	"clicks": {3, slackClicks}, "fills": {1, slackFills}, "shows": {2, slackShows}, "home": {2, slackHome}, "posts": {3, slackPosts}, "prompt": {0, slackPrompt},
}

func slackCommand(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, args, 1, slackUsage)
	r := rigOf(ts)
	if args[0] == "start" {
		r.slack = slackStart(ts, args[1:])
		return
	}
	deed, known := deeds[args[0]]
	if !known || neg || r.slack == nil || len(args[1:]) < deed.least {
		ts.Fatalf("usage: %s", slackUsage)
	}
	deed.do(ts, r.slack, args[1:])
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

func slackReach(ts *testscript.TestScript, w *team, args []string) {
	w.DeliverTo(args[0])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ts.Check(w.Challenge(ctx))
}

func slackOutage(ts *testscript.TestScript, w *team, args []string) {
	if args[0] != "on" && args[0] != "off" {
		ts.Fatalf("an outage is on or off, not %s", args[0])
	}
	w.Outage(args[0] == "on")
}

func slackRefuses(ts *testscript.TestScript, w *team, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	w.Fail("*", n, slacktest.APIError(args[0]))
}

func slackHeals(_ *testscript.TestScript, w *team, _ []string) { w.Heal() }

func idOf(ts *testscript.TestScript, name string) string {
	id, known := members[name]
	if !known {
		ts.Fatalf("nobody is called %s", name)
	}
	return id
}

func slackGroup(ts *testscript.TestScript, w *team, args []string) {
	g := slacktest.UserGroup{ID: args[0], Handle: strings.ToLower(args[0]), Name: args[0]}
	for _, name := range args[1:] {
		g.Users = append(g.Users, idOf(ts, name))
	}
	w.AddGroup(g)
}

func slackSays(ts *testscript.TestScript, w *team, args []string) {
	at := w.Mention(idOf(ts, args[0]), slacktest.General, "", args[1])
	if len(args) > 2 {
		ts.Setenv(args[2], at)
	}
}

func slackReplies(ts *testscript.TestScript, w *team, args []string) {
	w.Say(idOf(ts, args[0]), slacktest.General, args[1], args[2])
}

func slackTypes(ts *testscript.TestScript, w *team, args []string) {
	ts.Check(w.Slash(idOf(ts, args[0]), slacktest.General, args[1]))
}

func slackWrites(ts *testscript.TestScript, w *team, args []string) {
	by := idOf(ts, args[0])
	at := w.DM(by, args[1])
	if !w.until(func() bool {
		return slices.ContainsFunc(w.Thread(w.IM(by), at), func(m slacktest.Message) bool { return kindOf(m) == agent.PostCard })
	}) {
		ts.Fatalf("%q in a direct message is not answered", args[1])
	}
}

func slackShortcut(ts *testscript.TestScript, w *team, args []string) {
	ts.Check(w.MessageShortcut(idOf(ts, args[0]), slacktest.General, args[1], "goal_from_message"))
}

// until waits until the workspace is so.
func (w *team) until(so func() bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.Wait(ctx, so) == nil
}

func (w *team) text(thread string) string {
	var b bytes.Buffer
	if err := w.Render(&b, slacktest.General, thread); err != nil {
		return err.Error()
	}
	return b.String()
}

func slackClicks(ts *testscript.TestScript, w *team, args []string) {
	by := idOf(ts, args[0])
	var err error
	clicked := w.until(func() bool {
		for _, m := range slices.Backward(w.Thread(slacktest.General, args[1])) {
			if !bytes.Contains(m.Blocks, []byte(args[2])) {
				continue
			}
			if err = w.Click(by, slacktest.General, m.TS, args[2]); err == nil {
				return true
			}
		}
		return false
	})
	if !clicked {
		ts.Fatalf("%s never finds %q to click (%v):\n%s", args[0], args[2], err, w.text(args[1]))
	}
}

func slackFills(ts *testscript.TestScript, w *team, args []string) {
	by := idOf(ts, args[0])
	var form slacktest.View
	if !w.until(func() (open bool) { form, open = w.Modal(by); return open }) {
		ts.Fatalf("no form lies before %s", args[0])
	}
	fmt.Fprint(ts.Stdout(), w.RenderView(form.ID))
	values := map[string]string{}
	for _, arg := range args[1:] {
		field, text, _ := strings.Cut(arg, "=")
		values[field] = text
	}
	sent, err := w.Submit(form.ID, by, values)
	ts.Check(err)
	if len(sent.Errors) > 0 {
		ts.Fatalf("the form is refused: %v\n%s", sent.Errors, w.RenderView(form.ID))
	}
}

func slackShows(ts *testscript.TestScript, w *team, args []string) {
	re := pattern(ts, args[1])
	if !w.until(func() bool { return matches(ts, re, w.text(args[0]), args[2:]) }) {
		ts.Fatalf("the thread never shows %q:\n%s", args[1], w.text(args[0]))
	}
	fmt.Fprint(ts.Stdout(), w.text(args[0]))
}

func slackHome(ts *testscript.TestScript, w *team, args []string) {
	by, re := idOf(ts, args[0]), pattern(ts, args[1])
	w.OpenHome(by)
	text := ""
	shown := w.until(func() bool {
		home, there := w.Home(by)
		text = w.RenderView(home.ID)
		return there && re.MatchString(text)
	})
	if !shown {
		ts.Fatalf("the home of %s never shows %q:\n%s", args[0], args[1], text)
	}
}

func slackPosts(ts *testscript.TestScript, w *team, args []string) {
	got := 0
	for _, m := range w.Thread(slacktest.General, args[0]) {
		for _, r := range m.Reactions {
			if args[1] == "seen" && r.Name == "eyes" {
				got++
			}
		}
		if kind := kindOf(m); kind != "" && kind == agent.PostKind(args[1]) {
			got++
		}
	}
	if strconv.Itoa(got) != args[2] {
		ts.Fatalf("%d posts of the kind %s, want %s:\n%s", got, args[1], args[2], w.text(args[0]))
	}
}

// slackPrompt also prints what the slowest took.
func slackPrompt(ts *testscript.TestScript, w *team, _ []string) {
	w.until(func() bool {
		return !slices.ContainsFunc(w.Deliveries(), func(d slacktest.Delivery) bool { return d.Acked.IsZero() && d.Error == "" })
	})
	slowest := time.Duration(0)
	for _, d := range w.Deliveries() {
		slowest = max(slowest, d.Latency)
		if d.Acked.IsZero() || d.Latency > time.Second {
			ts.Fatalf("not acknowledged within a second: %+v", d)
		}
	}
	fmt.Fprintln(ts.Stdout(), "acknowledged within", slowest)
}
