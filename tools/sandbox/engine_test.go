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
	got := containerArguments("deckhand-x", s.withDefaults())
	user := strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())
	want := []string{"run", "--name", "deckhand-x", "--label", "deckhand=sandbox", "--interactive", "--init", "--network", "none",
		"--memory", "536870912", "--memory-swap", "536870912", "--cpus", "1.5", "--pids-limit", "66", "--ulimit", "fsize=1048576", "--ulimit", "core=0",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user, "--hostname", "sandbox",
		"--tmpfs", "/tmp:rw,nosuid,nodev,mode=1777,size=1048576", "--mount", "type=bind,source=/srv/files,target=/srv/files,readonly",
		"--tmpfs", hide + ":ro,size=4096", "--mount", "type=bind,source=/srv/out,target=/work",
		"--env", "HOME=/tmp", "--env", "LANG=C.UTF-8", "--env", "MODE=fast", "--env", "OUT=/work", "--env", "TMPDIR=/tmp",
		"--workdir", "/srv/files", "--entrypoint", "python3", "python:3.13-slim", "sum.py", "a b"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
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
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(client), 0o755); err != nil { //nolint:gosec // a program
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
