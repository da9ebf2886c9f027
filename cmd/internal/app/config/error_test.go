package config

import (
	"errors"
	"strings"
	"testing"
)

func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "http: off\n\nbugdet: {run: {usd: 1}}\n", []string{
			`deckhand.yaml:3: unknown key "bugdet" (did you mean "budget"?)`,
		}},
		{"unknown key below", "engine:\n  leese: 3s\n", []string{
			`deckhand.yaml:2: unknown key "engine.leese" (did you mean "lease"?)`,
		}},
		{"unknown key without a neighbour", "engine: {zebra: 1}\n", []string{
			`deckhand.yaml:1: unknown key "engine.zebra" (known: lease, slots, workers)`,
		}},
		{"secret in the file", "slack:\n  bot_token: xoxb-very-secret\n", []string{
			`deckhand.yaml:2: unknown key "slack.bot_token" (did you mean "bot_token_file"?)`,
		}},
		{"all at once, in order", "model:\n  mode: tols\n  stream: yes\nengine: 3\nengine: {}\nvoice: [1]\n", []string{
			`deckhand.yaml:2: model.mode: "tols" is not one of tools, json (did you mean "tools"?)`,
			`deckhand.yaml:3: model.stream: "yes" is not true or false`,
			`deckhand.yaml:4: engine: expected keys with values below it, found "3"`,
			`deckhand.yaml:5: key "engine" is there twice: the first is in line 4`,
			`deckhand.yaml:6: voice: expected keys with values below it, found a list`,
		}},
		{"scalars", "budget:\n  run:\n    usd: a lot\n    tokens: 5e5\n    time: 2 hours\n    steps: [1]\ntools: {run_code: {memory: 256MB2, output: -1}}\n", []string{
			`deckhand.yaml:3: budget.run.usd: "a lot" is not an amount of US dollars such as 2.50`,
			`deckhand.yaml:4: budget.run.tokens: "5e5" is not a whole number`,
			`deckhand.yaml:5: budget.run.time: "2 hours" is not a duration such as 500ms, 10s or 2h30m`,
			`deckhand.yaml:6: budget.run.steps: expected a whole number, found a list`,
			`deckhand.yaml:7: tools.run_code.memory: "256MB2" is not a size such as 65536, 64KiB or 256MiB`,
			`deckhand.yaml:7: tools.run_code.output: -1 is too small: at least 1`,
		}},
		{"bounds", "engine: {lease: 99ms, workers: 0}\nvoice: {post_timeout: 0s}\nbudget: {month: {usd: -1}, run: {usd: 1e-10}}\n", []string{
			`deckhand.yaml:1: engine.lease: 99ms is too small: at least 100ms`,
			`deckhand.yaml:1: engine.workers: 0 is too small: at least 1`,
			`deckhand.yaml:2: voice.post_timeout: 0s is too small: at least 1ms`,
			`deckhand.yaml:3: budget.month.usd: -1 is too small: at least 0`,
			`deckhand.yaml:3: budget.run.usd: "1e-10" is not an amount of US dollars such as 2.50`,
		}},
		{"prices", "model:\n  prices:\n    m: {input: 2.5}\n    m: {}\n    n: 3\n", []string{
			`deckhand.yaml:3: model.prices["m"]: "output" is missing`,
			`deckhand.yaml:4: key "model.prices.m" is there twice: the first is in line 3`,
			`deckhand.yaml:5: model.prices["n"]: expected keys with values below it, found "3"`,
		}},
		{"schedules", `schedules:
  - {name: a, report: workspace, goal: g, when: "61 * * * *", to: slack}
  - {name: b c, report: all, when: "@every -3s", zone: Berlin, to: "slack:T:C:1.2"}
  - {when: "0 0 30 2 *", zone: Local, to: "irc:T:C"}
  - {name: d, goal: g, when: "CRON_TZ=UTC 0 0 1 1 *", to: "discord:1:2"}
`, []string{
			`deckhand.yaml:2: schedules[0].when: the cron line "61 * * * *" cannot be read: end of range (61) above maximum (59): 61; write for example "0 9 * * 1-5" (minute, hour, date, month, weekday)`,
			`deckhand.yaml:2: schedules[0].to: "slack" is not an address: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE:CHANNEL:THREAD, such as slack:T1:C1`,
			`deckhand.yaml:3: schedules[1].name: "b c" is not a name of letters, digits, -, _ and .`,
			`deckhand.yaml:3: schedules[1].report: "all" is not one of workspace, channel`,
			`deckhand.yaml:3: schedules[1].when: "@every -3s" is not possible, it takes whole seconds, at least one and at most ten years: write for example "@every 90m"`,
			`deckhand.yaml:3: schedules[1].zone: "Berlin" is not a time zone such as UTC or Europe/Berlin`,
			`deckhand.yaml:4: schedules[2].when: the cron line "0 0 30 2 *" never comes: there is no such date; write for example "0 9 * * 1-5" (minute, hour, date, month, weekday)`,
			`deckhand.yaml:4: schedules[2].zone: "Local" is not a time zone such as UTC or Europe/Berlin`,
			`deckhand.yaml:4: schedules[2].to: "irc:T:C" is not an address: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE:CHANNEL:THREAD, such as slack:T1:C1`,
			`deckhand.yaml:4: schedules[2]: "name" is missing`,
			`deckhand.yaml:5: schedules[3].when: "CRON_TZ=UTC 0 0 1 1 *" names a time zone: write it under the key "zone"`,
		}},
		{"schedules together", `schedules:
  - {name: a, report: workspace, goal: g, when: "@daily", to: "slack:T:C"}
  - {name: a, goal: g, when: "*/5 0 9 * * 1-5", to: "slack:T:C"}
`, []string{
			`deckhand.yaml:2: schedules[0]: one of "report" and "goal" is needed, and only one`,
			`deckhand.yaml:3: schedules[1].name: "a" is taken: the first is at deckhand.yaml:2`,
		}},
		{"people", "authority:\n  operators: [\"slack:X1\", \"discord:&7\", \"slack:S1\", terminal, U1, 123]\n  allow_bots: [B1]\nchannels:\n  slack: {}\n", []string{
			`deckhand.yaml:2: authority.operators[0]: "slack:X1" is not a principal: slack:U… (person), slack:S… (user group), discord:ID, discord:&ID (role), mcp:NAME (another agent), terminal, or a bare id`,
			`deckhand.yaml:3: authority.allow_bots[0]: "B1" is not a bot: slack:B… or discord:ID`,
			`deckhand.yaml:5: channels: "slack" is not a channel or a whole workspace: PLATFORM:WORKSPACE:CHANNEL or PLATFORM:WORKSPACE, such as slack:T1:C1`,
		}},
		{"network", "http: localhost\nmodel:\n  base_url: https://me:pw@example.com\ntools: {hosts: [\"https://x\"]}\n", []string{
			`deckhand.yaml:1: http: "localhost" is not an address to listen on such as 127.0.0.1:8080, :0 or off`,
			`deckhand.yaml:3: model.base_url: not a URL such as https://example.com/v1 (http or https, without a user)`,
			`deckhand.yaml:4: tools.hosts[0]: "https://x" is not a host such as example.com, *.example.com or localhost:8080`,
		}},
		{"nothing", "http:\nvoice:\nworkspace: ''\n", []string{
			`deckhand.yaml:1: http: expected a text, found nothing`,
			`deckhand.yaml:3: workspace: "" is not a path`,
		}},
		{"not YAML, first line", "a: b: c\n", []string{
			`deckhand.yaml:1: not YAML: mapping values are not allowed in this context`,
		}},
		{"not YAML, at the end", "http: off\nmodel: {\n", []string{
			`deckhand.yaml:3: not YAML: did not find expected node content`,
		}},
		{"not a mapping", "- http\n", []string{`deckhand.yaml:1: expected keys with values below it, found a list`}},
		{"two documents", "http: off\n---\nhttp: off\n", []string{
			`deckhand.yaml:2: a second document starts here: a configuration file has one`,
		}},
		{"references and tags", "http: &a off\nworkspace: *a\ndata_dir: !!str x\nmodel: {<<: {}}\n", []string{
			`deckhand.yaml:2: workspace: *a is a reference: write the value out`,
			`deckhand.yaml:3: data_dir: !!str is a tag: write the value without one`,
			`deckhand.yaml:4: unknown key "model.<<" (known: api_key_file, base_url, embedding, fast, hear, max_answer_tokens, mode, name, patience, prices, requests_per_minute, retries, retry_max_wait, stream, thought, timeout, tokens_per_minute, window)`,
		}},
		{"too large", "# " + strings.Repeat("x", maxConfig), []string{
			`deckhand.yaml: is too large for a configuration file (above 1 MiB)`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFolder(t, test.text)
			_, err := Load(Flags{}, environ())
			wantError(t, err, strings.Join(test.want, "\n"))
		})
	}
}

func TestEnvironmentAndFlagErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		flags Flags
		env   []string
		want  string
	}{
		{Flags{}, []string{"DECKHAND_HTTP_ADDR", "8080"}, `DECKHAND_HTTP_ADDR: "8080" is not an address to listen on such as 127.0.0.1:8080, :0 or off`},
		{Flags{}, []string{"DISCORD_APP_ID", "x"}, `DISCORD_APP_ID: "x" is not a Discord id (digits only)`},
		{Flags{Budget: "uds=1"}, nil, `--budget: unknown limit "uds" (did you mean "usd"?)`},
		{Flags{Budget: "usd"}, nil, `--budget: "usd" is not LIMIT=VALUE, such as usd=1 or time=10m`},
		{Flags{Budget: "usd=1,usd=2"}, nil, `--budget: "usd" is there twice`},
		{Flags{Budget: "time=5"}, nil, `--budget time: "5" is not a duration such as 500ms, 10s or 2h30m`},
		{Flags{Budget: "steps=-1"}, nil, `--budget steps: -1 is too small: at least 0`},
	} {
		_, err := Load(test.flags, environ(test.env...))
		wantError(t, err, test.want)
		if e := (*Error)(nil); !errors.As(err, &e) {
			t.Errorf("%T is no *Error", err)
		}
	}
}

func TestSyntaxErrorsNameTheirLine(t *testing.T) {
	for text, line := range map[string]int{
		"a: 1\nb: [1,\nc: 2\n": 2,
		"a:\n\t- x\n":          2,
		"a: 1\nb\nc: 2":        2,
		"\x00":                 1,
	} {
		r := &reader{file: File, origin: origins{}}
		r.load([]byte(text), Flags{}, environ())
		if len(r.problems) != 1 || r.problems[0].at.line != line {
			t.Errorf("%q: %v, want line %d", text, r.problems, line)
		}
	}
}
