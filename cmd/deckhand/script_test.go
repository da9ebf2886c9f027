package main

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain makes `deckhand` a program that scripts start: this test binary,
// which then runs main and nothing else.
func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){"deckhand": main})
}

// leakless fails a test run that leaves goroutines behind.
type leakless struct{ m *testing.M }

func (l leakless) Run() int {
	code := l.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "leaked:", err)
			return 1
		}
	}
	return code
}

// scriptTime bounds all scripts together: what hangs fails with its log.
const scriptTime = 15 * time.Minute

// patience bounds each wait for a process, on a machine that is busy.
const patience = time.Minute

// TestScript runs the scripts in testdata/script. Beside the commands of
// testscript they have these:
//
//	exits CODE deckhand ARG...       runs it and expects the exit code
//	start NAME deckhand ARG...       starts it beside the script; NAME.out and NAME.err grow, $NAME_pid is set
//	types NAME TEXT                  one line on its standard input
//	eof NAME                         ends its standard input
//	shows NAME out|err REGEXP [VAR]  waits until it has printed that; VAR is the first group
//	signal NAME INT|TERM|HUP|KILL|STOP|CONT
//	ends NAME CODE [DURATION]        waits for its end, so long at most; CODE is "killed" after a KILL
//	await RUN REGEXP [VAR]           waits until the run's journal has that, and `deckhand journal RUN` prints it
//	soon RUN KIND KIND DURATION      the second kind follows the first within so long, by the journal's clock
//	wellformed FILE                  the journal's lines have the contract's shape, and their figures add up
//	find FILE REGEXP VAR             VAR is the first group of the first match
//	model NAME [OPTION...]           an endpoint that answers by a script of script_model_test.go; again: changes it
//	held PURPOSE/TURN                waits until the request has come that the endpoint holds
//	asked PURPOSE what REGEXP        some request of the purpose ("any") has that in its text, body or header;
//	                                 -every: all of them have, -count=N: so many have
//	redis start|kill|restart|freeze|thaw|ask COMMAND  a Redis for this script
//	sql STATEMENT                    on the embedded store's file; prints rows
//	get URL CODE                     fetches and expects the status
//	slack WORD ARG...                a Slack workspace and the people in it: see chatUsage and slackUsage
//	discord WORD ARG...              a Discord server and the people in it: see chatUsage and discordUsage
//	becomes URL CODE REGEXP          fetches until it has the status and that in its text
//	thicket DIR                      a tree with everything that is hard to count
//	surveyed DIR                     DIR/REPORT.md counts what is there
//
// and the condition [tmpfs]: this system lets anybody mount one for themselves.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              setup,
		RequireUniqueNames: true,
		Condition:          condition,
		Deadline:           time.Now().Add(scriptTime),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "start": start, "types": types, "eof": eof, "shows": shows, "signal": sendSignal, "ends": ends,
			"await": await, "soon": soon, "wellformed": wellformed, "find": find,
			"model": model, "held": held, "asked": asked, "redis": redisCommand, "sql": sqlCommand, "get": get, "becomes": becomes,
			"slack": slackCommand, "discord": discordCommand,
			"thicket": thicket, "surveyed": surveyed,
		},
	})
}

func condition(name string) (bool, error) {
	if name != "tmpfs" {
		return false, fmt.Errorf("no condition is called %s", name)
	}
	return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", os.TempDir()).Run() == nil, nil
}

// rigKey is the key of a script's rig among its values.
type rigKey struct{}

// rig is what a script has started.
type rig struct {
	tb        testing.TB
	processes map[string]*process
	endpoint  *endpoint
	redis     redisServer
	slack     *team
	discord   *hall
}

func rigOf(ts *testscript.TestScript) *rig {
	r, ok := ts.Value(rigKey{}).(*rig)
	if !ok {
		ts.Fatalf("the script has no rig")
	}
	return r
}

// passed are the variables that processes beside the script get.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "DECKHAND_CONFIG", "DECKHAND_REDIS_URL", "DECKHAND_DATA_DIR", "DECKHAND_WORKSPACE",
	"DECKHAND_HTTP_ADDR", "DECKHAND_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "NO_COLOR", "GORACE",
	"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_API_URL",
	"DISCORD_TOKEN", "DISCORD_PUBLIC_KEY", "DISCORD_API_URL", "DISCORD_APP_ID", "DISCORD_GUILD_ID",
}

// setup gives a script a store, a folder to work in, and ends what it started.
func setup(env *testscript.Env) error {
	tb, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("%T is no testing.TB", env.T())
	}
	r := &rig{tb: tb, processes: map[string]*process{}}
	env.Values[rigKey{}] = r
	for _, name := range passed {
		if env.Getenv(name) == "" {
			env.Setenv(name, "")
		}
	}
	env.Setenv("DECKHAND_DATA_DIR", env.WorkDir+"/data")
	env.Setenv("DECKHAND_WORKSPACE", env.WorkDir+"/files")
	env.Setenv("DECKHAND_HTTP_ADDR", "127.0.0.1:0")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // a second at the end of each process otherwise
	env.Defer(func() {
		for _, p := range r.processes {
			p.kill()
		}
		if r.endpoint != nil {
			r.endpoint.close()
		}
		if r.slack != nil {
			r.slack.Close()
		}
		if r.discord != nil {
			r.discord.Close()
		}
	})
	return os.Mkdir(env.WorkDir+"/files", 0o755)
}
