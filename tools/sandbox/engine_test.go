package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The arguments of a container are held word for word: each is a wall.
func TestContainerArguments(t *testing.T) {
	hide := filepath.Join(t.TempDir(), ".deckhand")
	if err := os.Mkdir(hide, 0o700); err != nil {
		t.Fatal(err)
	}
	s := Spec{
		Command: []string{"python3", "sum.py", "a b"}, Image: "python:3.13-slim", Dir: "/srv/files", ReadOnly: true, Hide: []string{hide},
		Scratch: "/srv/out", Env: map[string]string{"MODE": "fast"}, Memory: 512 << 20, Processor: 1.5, Processes: 64, Disk: 1 << 20, Wall: time.Minute,
	}
	got := containerArguments(Docker, "deckhand-x", "", s.withDefaults())
	user := strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())
	want := []string{"run", "--name", "deckhand-x", "--label", "deckhand=sandbox", "--interactive", "--network", "none",
		"--memory", "536870912", "--memory-swap", "536870912", "--cpus", "1.5", "--pids-limit", "66", "--ulimit", "fsize=1048576", "--ulimit", "core=0",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user, "--hostname", "sandbox",
		"--tmpfs", "/tmp:rw,nosuid,nodev,mode=1777,size=1048576", "--init", "--mount", "type=bind,source=/srv/files,target=/srv/files,readonly",
		"--tmpfs", hide + ":ro,size=4096", "--mount", "type=bind,source=/srv/out,target=/work",
		"--env", "HOME=/tmp", "--env", "LANG=C.UTF-8", "--env", "MODE=fast", "--env", "OUT=/work", "--env", "TMPDIR=/tmp",
		"--workdir", "/srv/files", "--entrypoint", "python3", "python:3.13-slim", "sum.py", "a b"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	proxied := strings.Join(containerArguments(Podman, "deckhand-x", "/tmp/proxy", s.withDefaults()), " ")
	for _, words := range []string{"--network none", "--mount type=bind,source=/tmp/proxy,target=/run/deckhand,readonly", "--pids-limit 98"} {
		if !strings.Contains(proxied, words) {
			t.Errorf("%q is missing: %s", words, proxied)
		}
	}
}

// client is a stand-in for the engine's client: it runs what the container
// would, on this host, and writes down what it is asked.
const client = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/asked"
case $1 in
version) echo 28.2.2 ;;
run)
	while [ "$1" != --entrypoint ]; do shift; done
	program=$2; shift 3
	exec "$program" "$@" ;;
inspect) echo true ;;
kill) kill -9 $(cat "$(dirname "$0")/pid") ;;
esac
`

func TestEngineLife(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(client), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s, err := New(Config{Self: []string{os.Args[0], "sandbox-of-test"}, Driver: Docker, Image: "alpine"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), Spec{Command: []string{"/bin/sh", "-c", "cat; echo oh >&2; exit 3"}, Stdin: []byte("in")})
	if err != nil || r.Code != 3 || string(r.Stdout) != "in" || string(r.Stderr) != "oh\n" || !strings.Contains(r.Limit, MemoryWords) {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = s.Run(t.Context(), Spec{Command: []string{"/bin/sh", "-c", "echo $$ >" + dir + "/pid; exec sleep 100"}, Wall: 500 * time.Millisecond})
	if err != nil || r.Limit != "it took longer than 500ms" {
		t.Errorf("%+v, %v", r, err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || strings.Count(string(asked), "rm --force --volumes deckhand-") != 2 || !strings.Contains(string(asked), "kill deckhand-") {
		t.Errorf("%s, %v", asked, err)
	}
	if s, err = New(Config{Self: []string{os.Args[0], "sandbox-of-test"}, Driver: Docker}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Run(t.Context(), Spec{Command: []string{"true"}}); err == nil || !strings.Contains(err.Error(), "set sandbox.image") {
		t.Errorf("without an image: %v", err)
	}
}

// With a real engine: DECKHAND_TEST_ENGINE=podman DECKHAND_TEST_IMAGE=busybox.
func TestRealEngine(t *testing.T) {
	driver, image := Driver(os.Getenv("DECKHAND_TEST_ENGINE")), os.Getenv("DECKHAND_TEST_IMAGE")
	if driver == "" || image == "" {
		t.Skip("no engine is named: DECKHAND_TEST_ENGINE=podman DECKHAND_TEST_IMAGE=busybox")
	}
	s, err := New(Config{Self: []string{os.Args[0], "sandbox-of-test"}, Driver: driver, Image: image})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("seen"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		script, out, limit string
		code               int
		spec               Spec
	}{
		"result":     {script: "cat; echo hi >$OUT/f; exit 3", out: "in", code: 3, spec: Spec{Stdin: []byte("in"), Keep: []string{"f"}}},
		"folder":     {script: "cat a; echo x >b", out: "seen", code: 1, spec: Spec{Dir: dir, ReadOnly: true}},
		"host":       {script: "ls /root /home; cat /etc/shadow; env | grep -c OPENAI", out: "0\n", code: 1},
		"loop":       {script: "while :; do :; done", limit: "it took longer than 2s", code: 137, spec: Spec{Wall: 2 * time.Second}},
		"memory":     {script: "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", limit: "memory", code: 137, spec: Spec{Memory: 64 << 20}},
		"processes":  {script: "i=0; while [ $i -lt 100 ]; do sleep 2 & i=$((i+1)); done; wait", code: 2, spec: Spec{Processes: 16}},
		"disk":       {script: "dd if=/dev/zero of=/tmp/x bs=1M count=64", code: 1, spec: Spec{Disk: 4 << 20}},
		"output":     {script: "yes", limit: "put out more", code: 137},
		"background": {script: "sleep 1000 & echo on", out: "on\n"},
	} {
		c.spec.Command = []string{"/bin/sh", "-c", c.script}
		if c.spec.Wall == 0 {
			c.spec.Wall = time.Minute
		}
		r, err := s.Run(t.Context(), c.spec)
		t.Logf("%s: %d %q %.80q %.200q %v", name, r.Code, r.Limit, r.Stdout, r.Stderr, err)
		if err != nil || !strings.Contains(r.Limit, c.limit) || (c.out != "" && string(r.Stdout) != c.out) || (r.Code == 0) != (c.code == 0) {
			t.Errorf("%s: %+v, %v", name, r.Code, err)
		}
		if len(c.spec.Keep) != len(r.Files) {
			t.Errorf("%s: files %v", name, r.Files)
		}
	}
}
