package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// contract is the file of the documentation, with every default written out.
const contract = `workspace: work
data_dir: data
http: 127.0.0.1:8080
model:
  mode: tools
  stream: true
  timeout: 120s
  retries: 5
  retry_max_wait: 60s
  max_answer_tokens: 4096
  prices: {gpt-5: {input: 2.50, cached: 1.25, output: 10.00}}
engine: {lease: 3s, workers: 16, slots: 4}
budget:
  run: {usd: 5, tokens: 500000, time: 2h, steps: 300}
  person_month: {usd: 100}
  channel_month: {}
  month: {}
plan_approval: effects
autonomy: ask-risky
authority:
  start: []
  operators: []
  approvers: []
  requester_may_approve: true
  quorum: 1
  expires: 24h
  allow_bots: []
  admins: []
check_ins: {every: 10m, steps: 30}
voice: {card_every: 3s, heartbeat: 60s, post_timeout: 3s, edits_per_minute: 50}
retention: {runs: 2160h, catch_up: 24h}
schedules:
  - {name: daily, report: workspace, when: "0 9 * * 1-5", zone: Europe/Berlin, to: "slack:T1:C1", quiet: true, missed: late}
tools:
  run_code: {memory: 256MiB, cpu: 5s, wall: 10s, output: 64KiB}
  jobs: {enabled: false, max: 4, wall: 2h, output: 16MiB}
  hosts: []
channels: {"slack:T1:C1": {autonomy: ask-each, budget: {run: {usd: 1}}}}
`

// environ is an environment with these variables only.
func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// inFolder makes a fresh folder with a deckhand.yaml the working directory.
func inFolder(t *testing.T, text string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestContractFileGivesTheDefaults(t *testing.T) {
	t.Chdir(t.TempDir())
	want, err := Load(Flags{}, environ())
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, contract)
	got, err := Load(Flags{}, environ())
	if err != nil {
		t.Fatal(err)
	}
	want.File, want.Workspace, want.DataDir = "deckhand.yaml", "work", "data"
	want.Model.Prices = map[string]Price{"gpt-5": {Input: 2_500_000_000, Cached: 1_250_000_000, Output: 10 * agent.Dollar}}
	want.Budget.PersonMonth.USD = 100 * agent.Dollar
	want.PlanApproval = agent.ApprovePlanEffects
	want.Schedules = []Schedule{{
		Name: "daily", Report: "workspace", When: "0 9 * * 1-5", Zone: "Europe/Berlin", To: "slack:T1:C1", Quiet: true, Missed: "late", Overlap: "skip",
	}}
	own := Channel{Autonomy: agent.AskEach}
	own.Budget.Run.USD = agent.Dollar
	want.Channels = map[string]Channel{"slack:T1:C1": own}
	empty := []string{}
	want.Authority.Start, want.Authority.Operators, want.Authority.Approvers = empty, empty, empty
	want.Authority.AllowBots, want.Authority.Admins, want.Tools.Hosts = empty, empty, empty
	sameSecret := cmp.Comparer(func(a, b Secret) bool { return a.Reveal() == b.Reveal() })
	ignoreOrigin := cmp.Comparer(func(origins, origins) bool { return true })
	if diff := cmp.Diff(want, got, sameSecret, ignoreOrigin, cmp.AllowUnexported(Config{}, Value{})); diff != "" {
		t.Error(diff)
	}
}

func TestDefaults(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := Load(Flags{}, environ())
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Limits{USD: 5 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 300}
	if l, at := c.LimitsIn(""); l != want || at != "" {
		t.Errorf("limits = %+v, given at %q; want %+v, not given", l, at, want)
	}
	if c.Engine != (Engine{3 * time.Second, 16, 4}) || c.Tools.RunCode.Memory != 256<<20 || !c.Discord.Gateway {
		t.Errorf("engine %+v, run_code %+v, gateway %v", c.Engine, c.Tools.RunCode, c.Discord.Gateway)
	}
	if c.PlanApprovalIn("") != agent.ApprovePlanNever || c.PlanApprovalIn("slack:T1:C1") != agent.ApprovePlanEffects {
		t.Error("plans must be approved by effects in chat and never in the terminal")
	}
	if c.At("http") != "" || c.Given("http") {
		t.Errorf("a default has an origin: %q", c.At("http"))
	}
}

func TestChannelsFollowTheRestOfTheFile(t *testing.T) {
	inFolder(t, `
budget: {run: {usd: 3, steps: 20}}
plan_approval: never
channels:
  "slack:T1:C1": {autonomy: suggest, plan_approval: always, budget: {run: {usd: 0, time: 5m}}}
  "discord:1:2":
  "slack:T2": {autonomy: ask-each, budget: {run: {usd: 2, steps: 10}}}
  "slack:T2:C1": {budget: {run: {steps: 5}}}
`)
	c, err := Load(Flags{}, environ())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		channel  string
		limits   agent.Limits
		autonomy agent.Autonomy
		plans    agent.PlanApproval
	}{
		{"slack:T1:C1", agent.Limits{Tokens: 500_000, Time: 5 * time.Minute, Steps: 20}, agent.Suggest, agent.ApprovePlanAlways},
		{"discord:1:2", agent.Limits{USD: 3 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 20}, agent.AskRisky, agent.ApprovePlanNever},
		{"slack:T2:C1", agent.Limits{USD: 2 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 5}, agent.AskEach, agent.ApprovePlanNever},
		{"slack:T2:C9", agent.Limits{USD: 2 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 10}, agent.AskEach, agent.ApprovePlanNever},
		{"", agent.Limits{USD: 3 * agent.Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 20}, agent.AskRisky, agent.ApprovePlanNever},
	} {
		limits, at := c.LimitsIn(test.channel)
		if limits != test.limits || !strings.HasPrefix(at, "deckhand.yaml:") {
			t.Errorf("%q: limits %+v, given at %q; want %+v, given", test.channel, limits, at, test.limits)
		}
		if a, p := c.AutonomyIn(test.channel), c.PlanApprovalIn(test.channel); a != test.autonomy || p != test.plans {
			t.Errorf("%q: %s, plans %s; want %s, plans %s", test.channel, a, p, test.autonomy, test.plans)
		}
	}
}

func TestLaterSourcesWin(t *testing.T) {
	inFolder(t, "workspace: a\nhttp: \":1\"\nmodel: {name: file, prices: {m: {input: 1, output: 2}}}\n")
	c, err := Load(
		Flags{Model: "flag", DataDir: "there", Budget: "usd=0.25, time=90s"},
		environ("DECKHAND_HTTP_ADDR", "off", "DECKHAND_MODEL", "variable", "DISCORD_GUILD_ID", "42", "SLACK_BOT_TOKEN", " xoxb-1\n"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if c.Workspace != "a" || c.HTTP != "off" || c.Model.Name != "flag" || c.Model.Fast != "flag" || c.DataDir != "there" ||
		c.Discord.GuildID != "42" || c.Slack.BotToken.Reveal() != "xoxb-1" {
		t.Errorf("got %+v", c)
	}
	if p := c.Model.Prices["m"]; p.Cached != agent.Dollar {
		t.Errorf("cached tokens cost %s, want the price of input", p.Cached)
	}
	want := agent.Limits{USD: agent.Dollar / 4, Tokens: 500_000, Time: 90 * time.Second, Steps: 300}
	if l, at := c.LimitsIn("slack:T1:C9"); l != want || at != "--budget usd" {
		t.Errorf("limits %+v, given at %q; want %+v, given", l, at, want)
	}
	for key, at := range map[string]string{
		"workspace":                "deckhand.yaml:1",
		"http":                     "DECKHAND_HTTP_ADDR",
		`model.prices["m"].output`: "deckhand.yaml:3",
		"model.name":               "--model",
		"budget.run.usd":           "--budget usd",
		"budget.run.steps":         "",
		"slack.bot_token_file":     "SLACK_BOT_TOKEN",
	} {
		if got := c.At(key); got != at {
			t.Errorf("%s comes from %q, want %q", key, got, at)
		}
	}
}

func TestPlainYAMLIsEnough(t *testing.T) {
	for text, want := range map[string]string{
		"http: :0":                    ":0",
		"http: off":                   "off",
		"http: \"[::1]:80\"":          "[::1]:80",
		"# nothing yet\n":             "127.0.0.1:8080",
		"---\n":                       "127.0.0.1:8080",
		"\uFEFFhttp: off # a BOM\r\n": "off",
		"{http: 'localhost:9'}":       "localhost:9",
	} {
		inFolder(t, text)
		if c, err := Load(Flags{}, environ()); err != nil || c.HTTP != want {
			t.Errorf("%q: http %q, %v; want %q", text, c.HTTP, err, want)
		}
	}
}

func TestFileIsNamedByFlagOrVariable(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("etc", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"one.yaml": "workspace: w\nslack: {bot_token_file: token}\n",
		"two.yaml": "workspace: /w\n",
		"token":    "xoxb-2\n",
	} {
		if err := os.WriteFile(filepath.Join("etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join("etc", "one.yaml"), filepath.Join("etc", "two.yaml")
	c, err := Load(Flags{Config: one}, environ("DECKHAND_CONFIG", two))
	if err != nil || c.Workspace != filepath.Join("etc", "w") || c.Slack.BotToken.Reveal() != "xoxb-2" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = Load(Flags{}, environ("DECKHAND_CONFIG", two))
	if err != nil || c.Workspace != "/w" {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = Load(Flags{}, environ("DECKHAND_CONFIG", "none.yaml"))
	wantError(t, err, "none.yaml: there is no such configuration file (named by DECKHAND_CONFIG)")
	_, err = Load(Flags{Config: "etc"}, environ())
	wantError(t, err, "etc: cannot read the configuration: read etc: is a directory")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}

func FuzzLoadConfig(f *testing.F) {
	f.Add(contract, "usd=1,time=10m")
	f.Add("a: &x [*x]\n", "usd=")
	f.Add("model: {prices: {? [a] : b}}\n--- \n", "=,=")
	f.Add("x: |2\n a", "steps=9e9")
	f.Add("schedules: [{when: 'TZ=', zone: Local}, , 1]", "usd=1e-300")
	f.Fuzz(func(t *testing.T, text, budget string) {
		r := &reader{file: File, origin: origins{}}
		c := r.load([]byte(text), Flags{Budget: budget}, environ())
		for _, p := range r.problems {
			if strings.Contains(p.text, "\n") || p.text == "" || p.at.name == "" {
				t.Errorf("a complaint is one line with a place: %q", p)
			}
		}
		l, _ := c.LimitsIn("")
		if len(r.problems) == 0 && (l.USD < 0 || l.Tokens < 0 || l.Time < 0 || l.Steps < 0 || c.Engine.Workers < 1) {
			t.Errorf("accepted %+v", c)
		}
	})
}
