package digest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/text"
)

const hostileText = "# Done\n\n- x `run` **all** | a | <b>@here</b> <!channel> [x](http://e.org) ~~no~~ \\ \ue000slack:U9\ue001 \u202e```\n## Spend\r\n&lt;script&gt;"

func TestDigests(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	ok := func(headline string) []agent.Event { return closing(headline, agent.RunDone, "") }
	busy := []agent.Run{
		finished("doneaaaaaaaaaaaa", 2*time.Hour, "Count the lines of our services\nand write a report", cents(124), ok("12 services, 84,000 lines")),
		finished("donebbbbbbbbbbbb", 20*time.Hour, "What is 2+2?", cents(1), ok("It is 4")),
		finished("oldaaaaaaaaaaaaa", 25*time.Hour, "Older than this report", cents(700), ok("Old")),
		finished("canceldddddddddd", 3*time.Hour, "Delete the old branches", cents(2), append([]agent.Event{bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U5", Reason: "not now"})},
			closing("Cancelled", agent.RunCancelled, "cancelled by slack:U5: not now")...)),
		moving("movingeeeeeeeeee", agent.RunStarted{Limits: agent.Limits{USD: 14 * agent.Dollar / 100, Tokens: 100_000}}),
		asking("askfffffffffffff", 3*time.Hour, "Publish the notes", bottest.AskPlan),
	}
	held := []agent.Run{
		pausedRun("pausedgggggggggg"), stuckBeside("stuckhhhhhhhhhhh"),
		lived("silentiiiiiiiiii", ago(5*time.Hour), agent.RunStarted{Goal: "Read the logs"}, paid(1, cents(8))...),
		asking("askjjjjjjjjjjjjj", 30*time.Minute, "Draw a logo", bottest.AskOne), asking("askkkkkkkkkkkkkk", 23*time.Hour, "Draw two logos", bottest.AskMany),
		asking("asklllllllllllll", 2*time.Hour, "A private goal", bottest.AskStuck),
	}
	secret := func(r agent.Run) bool { return r.ID == "asklllllllllllll" }
	undelivered := lived("reportmmmmmmmmmm", ago(4*time.Hour), agent.RunStarted{Goal: "report", Tick: &agent.Tick{Schedule: "daily", At: ago(4 * time.Hour), Report: true}},
		bottest.On(agent.Main, agent.Reported{Headline: "h", Body: "b"}), bottest.On(agent.Voice, agent.ToolOutcome{Effect: "post/card", State: agent.OutcomeError, Text: "error: channel_not_found"}))
	failures := []agent.Run{
		finished("failednnnnnnnnnn", time.Hour, "Send the mail", cents(5), closing("0 of 1 tasks done", agent.RunFailed, "not delivered: Send")),
		finished("failedoooooooooo", 26*time.Hour, "Failed the day before", cents(900), closing("x", agent.RunFailed, "old")), undelivered,
	}
	unpriced := []agent.Run{
		finished("donepppppppppppp", time.Hour, "Ask the local model", nil, ok("Asked")),
		after(lived("workqqqqqqqqqqqq", ago(10*time.Minute), agent.RunStarted{Goal: "Ask both"}, paid(1, cents(50))...), time.Second, paid(2, nil)...),
	}
	var many []agent.Run
	for i := range 13 {
		many = append(many, finished(agent.RunID(fmt.Sprintf("many%012d", i)), time.Duration(i)*time.Hour, fmt.Sprint("Goal ", i), cents(10), ok("Fine")))
	}
	late := Lateness{Due: ago(3 * time.Hour), Now: digestNoon, Missed: []time.Time{ago(99 * time.Hour), ago(75 * time.Hour)}, Zone: berlin}
	for name, d := range map[string]Digest{
		"nothing": New(Source{Period: yesterday, Runs: busy[2:3]}),
		"first":   New(Source{Period: Period{Until: digestNoon, Zone: berlin}, Runs: busy[:1]}),
		"busy": New(Source{Period: Period{yesterday.Since, yesterday.Until, berlin}, Runs: busy, Audience: digestApprovers.Audience,
			Counters: []Counter{{"This channel in March", 85 * agent.Dollar, 100 * agent.Dollar}, {"Everybody in March", 1200 * agent.Dollar, 0}}}),
		"held":     New(Source{Period: yesterday, Runs: held, Audience: digestApprovers.Audience, Private: secret}),
		"failures": New(Source{Period: yesterday, Runs: failures, Unread: []card.Status{{Run: "brokenrrrrrrrrrr", Problem: "entry 2 is damaged"}}}),
		"unpriced": New(Source{Period: yesterday, Runs: unpriced}),
		"many":     New(Source{Period: yesterday, Runs: many, Omitted: 1}),
		"late":     New(Source{Period: yesterday, Runs: busy[:1]}).Late(late),
		"hostile":  New(Source{Period: yesterday, Runs: hostile(hostileText), Audience: digestApprovers.Audience}),
	} {
		t.Run(name, func(t *testing.T) { goldenDigest(t, name, d) })
	}
	t.Run("in any order", func(t *testing.T) {
		want := New(Source{Period: yesterday, Runs: slices.Concat(busy, held)})
		turned := slices.Concat(busy, held)
		slices.Reverse(turned)
		if got := New(Source{Period: yesterday, Runs: turned}); got.Body != want.Body || got.Mark != want.Mark {
			t.Errorf("the runs turned around give another report:\n%s", got.Body)
		}
	})
}

// hostile are runs in every section in which everything says the text.
func hostile(text string) []agent.Run {
	ask := agent.CheckpointOpened{Ask: agent.CheckStuck, Title: text, Choices: []string{text}}
	plan := agent.Plan{Name: text, Tasks: []agent.Task{{ID: "a", Title: text}}}
	return []agent.Run{
		finished("hostileaaaaaaaaa", time.Hour, text, cents(1), closing(text, agent.RunDone, "")),
		finished("hostilebbbbbbbbb", 2*time.Hour, text, cents(1), closing(text, agent.RunFailed, text)),
		finished("hostileccccccccc", 3*time.Hour, text, cents(1), closing(text, agent.RunCancelled, text)),
		lived("hostileddddddddd", ago(5*time.Minute), agent.RunStarted{Goal: text}, bottest.On(agent.Main, agent.PlanAccepted{Plan: plan}), bottest.Starts("a")),
		asking("hostileeeeeeeeee", time.Hour, text, ask),
		lived("hostilefffffffff", ago(5*time.Minute), agent.RunStarted{Goal: text}, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: text})),
	}
}

// A run is named by its thread where the reader can be led there, else by its id.
func TestRunsAreNamedByTheirThreads(t *testing.T) {
	tell := func(reader string, private bool) string {
		r := agent.Run{ID: "aaaaaaaaaaaaaaaa", Started: ago(time.Hour), Last: digestNoon}
		r.Brief = agent.RunStarted{Goal: "count the files", ReplyTo: "slack:T1:C1:17.1", Limits: agent.Limits{USD: agent.Dollar}}
		r.Spent.Cost, r.Spent.Calls = 900_000_000, 1
		return New(Source{Period: Period{Until: digestNoon}, Runs: []agent.Run{r}, Reader: reader, Private: func(agent.Run) bool { return private }}).Body
	}
	if got := tell("slack", false); strings.Contains(got, "aaaaaaaaaaaaaaaa") || !strings.Contains(got, text.Place("slack:T1:C1:17.1")) || !strings.Contains(got, "“count the files” has used 90 %") {
		t.Errorf("in Slack:\n%s", got)
	}
	for name, got := range map[string]string{"elsewhere": tell("discord", false), "nowhere": tell("", false), "in private": tell("slack", true)} {
		if !strings.Contains(got, "`aaaaaaaaaaaaaaaa`") || strings.Contains(got, "17.1") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestScopeCovers(t *testing.T) {
	here := lived("r", digestNoon, agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C1:17.1"})
	watched := after(lived("r", digestNoon, agent.RunStarted{Requester: "slack:U2", ReplyTo: "slack:T1:C2:18.1"}), 0, bottest.On(agent.Main, agent.RunWatched{Where: "slack:T1:C1:19.1", By: "slack:U1"}))
	console := agent.Run{}.Apply(agent.Event{Run: "r", Strand: agent.Main, Seq: 1, Body: agent.RunStarted{Requester: bot.Terminal}})
	report := lived("r", digestNoon, agent.RunStarted{Requester: "slack:U1", Tick: &agent.Tick{Schedule: "daily", Report: true}})
	unposted := after(report, 0, bottest.On(agent.Main, agent.Reported{Headline: "h"}), bottest.On(agent.Voice, agent.ToolOutcome{Effect: "post/card", State: agent.OutcomeError, Text: "error: gone"}))
	goal := lived("r", digestNoon, agent.RunStarted{Requester: "slack:U1", Tick: &agent.Tick{Schedule: "daily"}})
	for _, tt := range []struct {
		name  string
		scope Scope
		run   agent.Run
		want  bool
	}{
		{"everything", Scope{}, here, true},
		{"everything, of the terminal", Scope{}, console, true},
		{"its platform", Scope{Platform: "slack"}, here, true},
		{"another platform", Scope{Platform: "discord"}, here, false},
		{"its workspace", Scope{Platform: "slack", Workspace: "T1"}, here, true},
		{"another workspace", Scope{Platform: "slack", Workspace: "T2"}, here, false},
		{"its channel", Scope{"slack", "T1", "C1", ""}, here, true},
		{"another channel", Scope{"slack", "T1", "C2", ""}, here, false},
		{"a channel that watches it", Scope{"slack", "T1", "C1", ""}, watched, true},
		{"a workspace, of the terminal", Scope{Platform: "slack", Workspace: "T1"}, console, false},
		{"its person", Scope{Person: "slack:U1"}, here, true},
		{"its person in the workspace", Scope{"slack", "T1", "", "slack:U1"}, here, true},
		{"its person elsewhere", Scope{"slack", "T2", "", "slack:U1"}, here, false},
		{"its person by a bare id", Scope{Platform: "slack", Person: "U1"}, here, true},
		{"a bare id of another platform", Scope{Platform: "discord", Person: "U1"}, here, false},
		{"another person", Scope{Person: "slack:U2"}, here, false},
		{"a person who watches it", Scope{Person: "slack:U1"}, watched, false},
		{"the terminal", Scope{Person: bot.Terminal}, console, true},
		{"a report", Scope{}, report, false},
		{"a report that could not be posted", Scope{Person: "slack:U1"}, unposted, true},
		{"such a report elsewhere", Scope{Platform: "slack", Workspace: "T2"}, unposted, false},
		{"a recurring goal", Scope{}, goal, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.scope.Covers(tt.run); got != tt.want {
				t.Errorf("%+v covers it: %t", tt.scope, got)
			}
		})
	}
}

func TestPeriod(t *testing.T) {
	for _, tt := range []struct {
		name        string
		since, want time.Time
	}{
		{"a day", ago(24 * time.Hour), ago(chartDays * 24 * time.Hour)},
		{"a quarter", ago(90 * 24 * time.Hour), ago(90 * 24 * time.Hour)},
	} {
		if got := (Period{Since: tt.since, Until: digestNoon}).From(); !got.Equal(tt.want) {
			t.Errorf("%s needs runs from %s, want %s", tt.name, got, tt.want)
		}
	}
	late := Period{Since: ago(time.Hour), Until: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
	if got, want := late.From(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC); got.After(want) {
		t.Errorf("the month begins at %s, want %s", got, want)
	}
}

// No run is told of twice in reports that follow each other, and each month
// has its own money.
func TestDigestEdges(t *testing.T) {
	end := over("edge", digestNoon, cents(10))
	for _, tt := range []struct {
		name   string
		period Period
		want   string
	}{
		{"ended with the period", Period{Since: ago(time.Hour), Until: digestNoon}, "1 done · $0.10"},
		{"ended as the period began", Period{Since: digestNoon, Until: digestNoon.Add(time.Hour)}, "Nothing happened, nothing is open"},
	} {
		if got := New(Source{Period: tt.period, Runs: []agent.Run{end}}).Headline; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	march, runs := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), []agent.Run{end}
	runs = append(runs, over("first", march, cents(100)), over("before", march.Add(-time.Second), cents(5000)))
	d := New(Source{Period: yesterday, Runs: runs})
	if want := "March so far, 2 runs: $1.10"; !strings.Contains(d.Body, want) {
		t.Errorf("want %q in\n%s", want, d.Body)
	}
}
