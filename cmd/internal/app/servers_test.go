package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// twoServers is a configuration with different rules in two servers of Discord.
const twoServers = `
channels:
  "discord:1": {autonomy: suggest, budget: {run: {steps: 50}}, authority: {start: ["discord:&11"], operators: ["discord:101"]}}
  "discord:1:5": {autonomy: ask-each, budget: {run: {steps: 10}}, authority: {approvers: ["discord:102"]}}
  "discord:2": {autonomy: within-budget, budget: {run: {steps: 70}}, authority: {operators: ["discord:201"]}}
model: {name: x, prices: {x: {input: 1, output: 1}}}
`

// servers is a chat that serves two servers.
type servers struct {
	*testing.T
	config config.Config
	store  OpenedStore
	desk   *runs.Client
	chat   *intake.Chat
	n      int
}

func serving(t *testing.T) *servers {
	t.Helper()
	inFolder(t, twoServers)
	cfg, err := config.Load(config.Flags{}, nobody)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DataDir, cfg.HTTP = filepath.Join(t.TempDir(), "data"), "off"
	s, err := OpenStore(t.Context(), cfg, sqlite.Worker, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := New(t.Context(), Options{Config: cfg, Store: s, Model: awayModel{}})
	if err != nil {
		t.Fatal(err)
	}
	return &servers{T: t, config: cfg, store: s, desk: a.Client(), chat: a.talk.chat}
}

// says gives a command at a place.
func (s *servers) says(by bot.Person, at bot.Address, text string) bot.Answer {
	s.Helper()
	s.n++
	a, err := s.chat.Receive(s.Context(), bot.Inbound{Keys: []string{fmt.Sprint("key/", s.n)}, At: time.Now(), By: by, Where: at, Act: bot.Commanded{Text: text}})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// The places and people of two servers. Nobody is in both.
var (
	first  = bot.Address{Platform: "discord", Workspace: "1", Channel: "5"}
	aside  = bot.Address{Platform: "discord", Workspace: "1", Channel: "6"}
	second = bot.Address{Platform: "discord", Workspace: "2", Channel: "7"}

	ann  = bot.Person{ID: "discord:100", Name: "Ann", Full: true, Also: []string{"discord:&1", "discord:&11"}}
	eve  = bot.Person{ID: "discord:200", Name: "Eve", Full: true, Also: []string{"discord:&2", "discord:&22"}}
	oda  = bot.Person{ID: "discord:101", Name: "Oda", Full: true, Also: []string{"discord:&1"}}  // operates the first
	otto = bot.Person{ID: "discord:201", Name: "Otto", Full: true, Also: []string{"discord:&2"}} // operates the second
)

func TestServersHaveTheirOwnRules(t *testing.T) {
	s := serving(t)
	for at, want := range map[bot.Address]agent.RunStarted{
		first: {Autonomy: agent.AskEach, Limits: agent.Limits{Steps: 10}}, aside: {Autonomy: agent.Suggest, Limits: agent.Limits{Steps: 50}},
		second: {Autonomy: agent.WithinBudget, Limits: agent.Limits{Steps: 70}},
		{Platform: "discord", Workspace: "3", Channel: "5"}: {Autonomy: agent.AskRisky, Limits: agent.Limits{Steps: 300}},
	} {
		b, err := briefOf(s.config, at.Place())
		if err != nil || b.Autonomy != want.Autonomy || b.Limits.Steps != want.Limits.Steps {
			t.Errorf("in %s a run is begun with %s and %d steps, %v", at, b.Autonomy, b.Limits.Steps, err)
		}
	}
	for _, c := range []struct {
		by    bot.Person
		at    bot.Address
		begun bool
	}{{ann, first, true}, {ann, aside, true}, {ann, second, true}, {eve, first, false}, {eve, aside, false}, {eve, second, true}, {otto, first, false}, {oda, first, true}} {
		if a := s.says(c.by, c.at, "run count the lines"); a.Started != c.begun {
			t.Errorf("%s in %s: %+v", c.by.Name, c.at, a)
		}
	}
}

// What happens in one server is nobody's business in the other one.
func TestServersDoNotSeeEachOther(t *testing.T) {
	s := serving(t)
	const secret = "sink the flagship"
	run := s.says(ann, first, "run "+secret).Run
	other := s.says(eve, second, "run count the gulls").Run
	made := s.says(ann, first, "schedule every monday 8:00: "+secret).Private
	_, name, _ := strings.Cut(made, "`")
	name, _, _ = strings.Cut(name, "`")
	if run == "" || other == "" || !strings.HasPrefix(name, "goal-") {
		t.Fatalf("runs %q and %q, %q", run, other, made)
	}
	for _, by := range []bot.Person{eve, otto} {
		for _, text := range []string{
			"runs", "report list", "schedule list", "status " + string(run), "plan " + string(run), "budget " + string(run), "permissions " + string(run),
			"watch " + string(run), "pause " + string(run), "cancel " + string(run), "schedule pause " + name, "schedule change " + name + " daily 9:00",
			"schedule remove " + name, "status",
		} {
			if a := s.says(by, second, text); a.Private == "" || strings.Contains(a.Private, secret) || a.Run == run || a.Public != nil {
				t.Errorf("%s is answered to %s: %+v", by.Name, text, a)
			}
		}
		for _, what := range []discord.Suggested{discord.SuggestRuns, discord.SuggestLive, discord.SuggestQuestions, discord.SuggestReports, discord.SuggestGoals} {
			list, err := suggest(s.chat)(t.Context(), what, by, second)
			if got := fmt.Sprint(list); err != nil || strings.Contains(got, secret) || strings.Contains(got, string(run)) || strings.Contains(got, name) {
				t.Errorf("%s is suggested of the %s: %s, %v", by.Name, what, got, err)
			}
		}
	}
	if r, err := s.desk.Load(t.Context(), run); err != nil || r.Cancelled != nil || r.State() != agent.RunRunning || len(r.Watched) > 0 {
		t.Errorf("the run is %s, %v", r.State(), err)
	}
	if list, err := suggest(s.chat)(t.Context(), discord.SuggestLive, oda, aside); err != nil || len(list) != 1 || list[0].ID != string(run) {
		t.Errorf("its operator is suggested %v, %v", list, err)
	}
	s.reports(otto, second, "count the gulls", secret)
	s.reports(oda, aside, secret, "count the gulls")
}

// reports wants a report of the whole workspace to tell of one thing and not of
// another.
func (s *servers) reports(by bot.Person, at bot.Address, with, without string) {
	s.Helper()
	before := s.newest()
	if a := s.says(by, at, "report now workspace"); a.Private != "The report is on its way." {
		s.Fatalf("%s is told %+v", by.Name, a)
	}
	id := s.newest()
	r, err := s.desk.Load(s.Context(), id)
	if err != nil || id == before || r.Report == nil {
		s.Fatalf("no report: %+v, %v", r, err)
	}
	if text := r.Report.Headline + r.Report.Body; !strings.Contains(text, with) || strings.Contains(text, without) || r.Brief.ReplyTo != at.String() {
		s.Errorf("in %s is reported:\n%s", r.Brief.ReplyTo, text)
	}
}

func (s *servers) newest() agent.RunID {
	s.Helper()
	infos, err := s.store.Runs(s.Context(), agent.RunFilter{})
	if err != nil || len(infos) == 0 {
		s.Fatal(err)
	}
	newest := infos[0]
	for _, i := range infos {
		if i.Started.After(newest.Started) {
			newest = i
		}
	}
	return newest.Run
}
