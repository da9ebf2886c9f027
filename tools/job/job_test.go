package job_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/job"
)

func TestThrough(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("LANG", "C.UTF-8")
	r := newRig(t, job.Config{})
	id, dir := r.start("pwd; env | cut -d= -f1 | sort | tr '\\n' ' ' > names; echo trouble >&2; [ \"$HOME\" != \"$PWD\" ] && touch \"$HOME/x\" \"$TMPDIR/x\" && exit 3")
	text := r.ended(id, dir)
	r.has(text, "job "+id+": exited 3, runtime ", "\nstdout: ", filepath.Join(r.root, "files"), "\nstderr: 8 bytes:\ntrouble")
	names := strings.Fields(readFile(t, filepath.Join(r.root, "files", "names")))
	for _, shells := range []string{"PWD", "OLDPWD", "SHLVL", "_"} { // what a shell makes by itself
		names = slices.DeleteFunc(names, func(n string) bool { return n == shells })
	}
	if want := []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "HOME", "LANG", "PATH", "TMPDIR"}; !slices.Equal(names, want) {
		t.Errorf("the environment has %q, want %q", names, want)
	}
	if there(dir, "tmp") || there(dir, "home") {
		t.Error("the folders for temporary files and settings are left")
	}
	r.until("the supervisor's end", func() bool { return !locked(dir) })
	if words := readFile(t, filepath.Join(dir, "supervisor.log")); words != "" {
		t.Errorf("the supervisor complained: %s", words)
	}
}

// What an agent may write into the workspace does not change what an approved
// command runs.
func TestSettingsInTheWorkspaceCountForNothing(t *testing.T) {
	r := newRig(t, job.Config{})
	files := filepath.Join(r.root, "files")
	if err := os.MkdirAll(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, ".gitconfig"), []byte("[core]\n\tfsmonitor = \"touch PWNED; :\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, dir := r.start("git init -q . && git status --short")
	r.has(r.ended(id, dir), "exited 0")
	if there(files, "PWNED") {
		t.Error("git obeyed a .gitconfig of the workspace")
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	c := r.call("start_job", object{"command": "pwd > here", "name": "  where\nam I "})
	c.Folder = "slack-C1"
	r.has(r.do(c).Text, "(where am I)")
	if got := r.file("slack-C1/here"); !strings.HasSuffix(got, "files/slack-C1") {
		t.Errorf("ran in %s", got)
	}
}

// The looks of one call are spread over the wait, and the last answers.
func TestWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	id, dir := r.start("echo begun; echo x > begun; until [ -e go ]; do sleep 0.02; done")
	r.file("begun")
	r.until("output", func() bool { return strings.Contains(r.status(id), "begun") })
	tool, _ := r.box.Tool("job_status")
	for wait, want := range map[int][]int{0: nil, 1: {1}, 2: {1, 1}, 5: {1, 2, 2}, 30: {1, 2, 4, 8, 15}, 60: {1, 2, 4, 8, 15, 30}} {
		c := r.call("job_status", object{"id": id, "wait": wait})
		var rests []int
		result := tool.Run(t.Context(), c)
		for ; result.Again > 0; result = tool.Run(t.Context(), c) {
			rests = append(rests, int(result.Again/time.Second))
			c.Deferred++
		}
		if !slices.Equal(rests, want) {
			t.Errorf("a wait of %d rests %v, want %v", wait, rests, want)
		}
		r.has(result.Text, "running", "begun")
		if result.Trust != agent.Untrusted {
			t.Errorf("what a command puts out is %s", result.Trust)
		}
	}
	if err := os.WriteFile(filepath.Join(r.root, "files", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the end", func() bool { return there(dir, "end.json") })
	if result := tool.Run(t.Context(), r.call("job_status", object{"id": id, "wait": 60})); result.Again != 0 {
		t.Error("waits for what is over")
	}
}

func TestKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command string
		grace         time.Duration
		want          string
	}{
		{"obeys", "echo $$ > pid; exec sleep 300", time.Minute, "killed (terminated): kill_job was called"},
		{"tidies up", "trap 'exit 0' TERM; echo $$ > pid; while :; do sleep 0.02; done", time.Minute, "killed: kill_job was called"},
		{"does not listen", "trap '' TERM; echo $$ > pid; while :; do sleep 0.02; done", 200 * time.Millisecond, "killed (killed): kill_job was called"},
		{"has children", "sh -c 'echo $$ > pid; exec sleep 300' & wait", time.Minute, "killed (terminated): kill_job was called"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, job.Config{Grace: c.grace})
			id, dir := r.start(c.command)
			pid, err := strconv.Atoi(r.file("pid"))
			if err != nil {
				t.Fatal(err)
			}
			kill, _ := r.box.Tool("kill_job")
			result := kill.Run(t.Context(), r.call("kill_job", object{"id": id}))
			if result.State != agent.OutcomeOK || result.Again > time.Second {
				t.Fatalf("%+v", result)
			}
			r.has(r.ended(id, dir), c.want)
			if alive(pid) {
				t.Errorf("process %d is left", pid)
			}
			again := r.do(r.call("kill_job", object{"id": id}))
			r.has(again.Text, c.want)
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command string
		c             job.Config
		want          []string
	}{
		{"time", "echo $$ > pid; sleep 300", job.Config{Wall: 300 * time.Millisecond}, []string{"killed", "it ran longer than 300ms"}},
		{"output", "echo $$ > pid; yes", job.Config{Output: 100_000}, []string{"killed", "more than 100000 bytes", "stdout: 100000 bytes, cut to the last 4096:"}},
		{"both outputs", "echo $$ > pid; yes >&2", job.Config{Output: 5000}, []string{"killed", "more than 5000 bytes", "stderr: 5000 bytes"}},
		{"just enough output", "echo $$ > pid; head -c 5000 /dev/zero | tr '\\0' x", job.Config{Output: 5000}, []string{"exited 0", "stdout: 5000 bytes"}},
		{"what cannot start", "echo $$ > pid; exec /nowhere/at-all", job.Config{}, []string{"exited 127", "/nowhere/at-all"}},
		{"died of a signal", "echo $$ > pid; kill -SEGV $$", job.Config{}, []string{"exited 139 (segmentation fault)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.c)
			id, dir := r.start(c.command)
			r.has(r.ended(id, dir), c.want...)
			if pid, err := strconv.Atoi(r.file("pid")); err != nil || alive(pid) {
				t.Errorf("process %d is left: %v", pid, err)
			}
		})
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{Max: 2})
	one, dir := r.start("sleep 300")
	two, _ := r.start("sleep 300")
	third := r.call("start_job", object{"command": "echo third"})
	if result := r.do(third); result.State != agent.OutcomeError {
		t.Fatalf("a third job runs: %s", result.Text)
	} else {
		r.has(result.Text, "2 jobs of this run are running", one, two)
	}
	if len(r.dirs()) != 2 {
		t.Errorf("a refused start left something: %q", r.dirs())
	}
	other := r.call("start_job", object{"command": "sleep 300"})
	other.Run = "run2"
	if result := r.do(other); result.State != agent.OutcomeOK {
		t.Errorf("another run counts: %s", result.Text)
	}
	r.do(r.call("kill_job", object{"id": one}))
	r.ended(one, dir)
	r.has(r.do(third).Text, "job_")
	lines := strings.Split(r.do(r.call("list_jobs", object{})).Text, "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	r.has(lines[0], one+": killed", ": sleep 300")
	r.has(lines[1], two+": running", ": sleep 300")
	r.has(lines[2], ": echo third")
	theirs := r.call("job_status", object{"id": one})
	theirs.Run = "run2"
	if result := r.do(theirs); result.State != agent.OutcomeError {
		t.Error("a job of another run can be looked at")
	}
}

func TestNoSupervisor(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{Command: []string{"/nowhere/deckhand", "x"}})
	c := r.call("start_job", object{"command": "echo"})
	result := r.do(c)
	if result.State != agent.OutcomeError {
		t.Fatal(result.Text)
	}
	r.has(result.Text, "/nowhere/deckhand")
	right := rigIn(t, r.root, job.Config{}) // does not make up for it behind the model's back
	result = right.do(c)
	if result.State != agent.OutcomeError {
		t.Error(result.Text)
	}
	r.has(result.Text, "lost")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	for tool, cases := range map[string]map[string]string{
		"start_job": {
			`{}`: "`command` is missing", `{"command":""}`: "must not be empty", `{"command":"x","shell":"zsh"}`: "unknown",
			fmt.Sprintf(`{"command":%q}`, strings.Repeat("x", 2001)): "2000",
		},
		"job_status": {`{}`: "`id` is missing", `{"id":"job_1","wait":61}`: "at most 60", `{"id":"job_1","wait":-1}`: "at least 0"},
		"kill_job":   {`{}`: "`id` is missing"},
	} {
		for args, want := range cases {
			if err := r.box.Check(tool, []byte(args)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v", tool, args, err)
			}
		}
	}
	for _, id := range []string{"", "../../etc", "job_0123456789abcdef", "job_0123456789ABCDEF"} {
		for _, tool := range []string{"job_status", "kill_job"} {
			result := r.do(r.call(tool, object{"id": id}))
			if result.State != agent.OutcomeError || !strings.Contains(result.Text, "list_jobs") {
				t.Errorf("%s %q: %+v", tool, id, result)
			}
		}
	}
	stray := r.call("start_job", object{"command": "echo"})
	stray.Run = "../x"
	if result := r.do(stray); result.State != agent.OutcomeError {
		t.Error("a run's id left the folder")
	}
	if _, err := job.New(job.Config{}); err == nil {
		t.Error("no configuration is enough")
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{Wall: time.Hour})
	tool, _ := r.box.Tool("start_job")
	preparer, is := tool.(agent.Preparer)
	if !is {
		t.Fatal("start_job shows nothing")
	}
	c := r.call("start_job", object{"command": "echo \u202egnp.exe\u202c \u200b```\nrm -rf x"})
	c.Folder = "slack-C1"
	p, err := preparer.Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r.has(p.Preview, "in the folder `slack-C1`", "1h0m0s", "````sh\necho ⟨U+202E⟩gnp.exe⟨U+202C⟩ ⟨U+200B⟩```\nrm -rf x\n````", "hidden characters")
	if _, err := preparer.Prepare(t.Context(), r.call("start_job", object{"command": "echo \x00"})); err == nil {
		t.Error("a NUL is shown")
	}
	if spec := tool.Spec(); spec.Class != agent.ClassCommand || spec.Repeat != agent.RepeatProbeable {
		t.Errorf("%+v", spec)
	}
	if len(r.dirs()) != 0 {
		t.Error("looking made a folder")
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	id, dir := r.start("sleep 300")
	live := r.call("start_job", object{"command": "sleep 300"})
	live.Run = "live"
	r.do(live)
	unknown := r.call("start_job", object{"command": "sleep 300"})
	unknown.Run = "unknown"
	r.do(unknown)
	now := time.Now()
	ended := func(id agent.RunID) (time.Time, bool, error) {
		return map[agent.RunID]time.Time{run: now.Add(-time.Hour)}[id], id != "unknown", nil
	}
	sweep := func(before time.Time) int {
		n, err := r.jobs.Sweep(t.Context(), ended, before)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := sweep(now.Add(-2 * time.Hour)); n != 0 {
		t.Errorf("%d runs were removed, whose time has not come", n)
	}
	r.has(r.ended(id, dir), "killed (terminated): its run has ended")
	if n := sweep(now.Add(time.Hour)); n != 1 || there(dir, "") {
		t.Errorf("%d runs were removed, want the ended one", n)
	}
	for _, dir := range r.dirs() {
		if there(dir, "kill") {
			t.Errorf("the job in %s is to be ended, its run lives or is unknown", dir)
		}
	}
	if err := r.jobs.End("unknown"); err != nil {
		t.Fatal(err)
	}
	r.until("its end", func() bool {
		ended, _ := filepath.Glob(filepath.Join(r.root, "jobs", "unknown", "*", "end.json"))
		return len(ended) == 1
	})
	if n := sweep(now.Add(time.Hour)); n != 1 || len(r.dirs()) != 1 {
		t.Errorf("%d runs were removed, want the unknown one: %q", n, r.dirs())
	}
}
