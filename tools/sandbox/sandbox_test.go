package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// patient bounds what is waited for on a busy machine.
const patient = 30 * time.Second

func TestResult(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		spec := shell(`cat; echo "$WORD" >&2; mkdir -p out/deep; cp in/a out/deep/b; ln -s /etc/passwd out/link; exit 7`)
		spec.Stdin, spec.Env = []byte("read\n"), map[string]string{"WORD": "said"}
		spec.Files = []sandbox.File{{Path: "in/a", Data: []byte("content")}}
		spec.Keep = []string{"out", "missing"}
		r := run(t, s, spec)
		if r.Code != 7 || string(r.Stdout) != "read\n" || string(r.Stderr) != "said\n" || r.Limit != "" {
			t.Errorf("%+v %q %q", r, r.Stdout, r.Stderr)
		}
		if len(r.Files) != 1 || r.Files[0].Path != "out/deep/b" || string(r.Files[0].Data) != "content" {
			t.Errorf("files: %+v", r.Files)
		}
	})
}

func TestWrongSpecifications(t *testing.T) {
	s := newSandbox(t, sandbox.Child)
	for name, spec := range map[string]sandbox.Spec{
		"no command":      {},
		"NUL":             {Command: []string{"a\x00b"}},
		"relative folder": {Command: []string{"true"}, Dir: "here"},
		"variable":        {Command: []string{"true"}, Env: map[string]string{"A=B": "c"}},
		"file outside":    {Command: []string{"true"}, Files: []sandbox.File{{Path: "../a"}}},
		"kept outside":    {Command: []string{"true"}, Keep: []string{"/etc/passwd"}},
	} {
		if _, err := s.Run(t.Context(), spec); !errors.Is(err, sandbox.ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sandbox.New(sandbox.Config{Self: []string{"x"}, Driver: "wasm"}); !errors.Is(err, sandbox.ErrSpec) {
		t.Errorf("unknown driver: %v", err)
	}
}

func TestMissingProgram(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		r, err := s.Run(t.Context(), sandbox.Spec{Command: []string{"no-such-program"}})
		if err != nil || r.Code == 0 || !strings.Contains(string(r.Stderr), "no-such-program") {
			t.Errorf("%+v %q, %v", r, r.Stderr, err)
		}
	})
}

// bombs are programs that take more than they may, with the words that say so.
var bombs = []struct {
	name, script, words string
	spec                func(s *sandbox.Spec)
}{
	// It doubles nine times at most: where nothing ended it, this machine would live.
	{"fork bomb", `b() { [ $1 -gt 8 ] && sleep 20 || { b $(($1+1)) & b $(($1+1)) & wait; }; }; b 0`, "processes at once", func(s *sandbox.Spec) { s.Processes = 40 }},
	{"memory bomb", `x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; while :; do x=$x$x; done`, "memory", func(s *sandbox.Spec) { s.Memory = 96 << 20 }},
	{"memory of many", `for i in 1 2 3 4 5 6; do dd if=/dev/zero of=/dev/null bs=40M count=100000 & done; wait`, "memory", func(s *sandbox.Spec) { s.Memory = 128 << 20 }},
	{"endless loop", `while :; do :; done`, "longer than 1s", func(s *sandbox.Spec) { s.Wall = time.Second }},
	{"endless sleep", `sleep 1000`, "longer than 1s", func(s *sandbox.Spec) { s.Wall = time.Second }},
	{"ten gigabytes of output", `yes`, "put out more than 64 KiB", func(*sandbox.Spec) {}},
	{"ten gigabytes in files", `for i in 1 2 3 4 5 6 7 8 9 10; do head -c 1000000000 /dev/zero >file$i || true; done`, "", func(s *sandbox.Spec) { s.Disk = 8 << 20 }},
	{"many files", `i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero >file$i || exit 9; done`, "", func(s *sandbox.Spec) { s.Disk = 8 << 20 }},
}

func TestBombs(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		for _, b := range bombs {
			t.Run(b.name, func(t *testing.T) {
				if raced && b.words == "memory" {
					t.Skip("the race detector takes more memory than the sandbox gives")
				}
				before := freeDisk(t)
				spec := shell(b.script)
				spec.Wall = patient
				b.spec(&spec)
				r := run(t, s, spec)
				if r.Code == 0 && r.Limit == "" && len(r.Stderr) == 0 {
					t.Errorf("nothing ended it: %+v", r)
				}
				if b.words != "" && !strings.Contains(r.Limit+string(r.Stderr), b.words) {
					t.Errorf("the words %q are missing: %d %q; %.200q", b.words, r.Code, r.Limit, r.Stderr)
				}
				if len(r.Stdout) > 64<<10 {
					t.Errorf("%d bytes of output", len(r.Stdout))
				}
				if gone := before - freeDisk(t); gone > 512<<20 {
					t.Errorf("%d bytes of the disk are gone", gone)
				}
			})
		}
		// The sandbox still works.
		if r := run(t, s, shell("echo on")); string(r.Stdout) != "on\n" {
			t.Errorf("afterwards: %+v", r)
		}
	})
}

func freeDisk(t *testing.T) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(t.TempDir(), &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * int64(s.Bsize) //nolint:unconvert // other systems count in other types
}

// What a command can see of the machine and of this process.
func TestHostIsOutOfReach(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("top-secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DECKHAND_TEST_KEY", "top-secret")
	server := listen(t)
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		var all strings.Builder
		for name, script := range map[string]string{
			"a file":          "cat " + secret,
			"a file's folder": "cat " + filepath.Dir(secret) + "/*",
			"by the root":     "cat /proc/1/root" + secret + " /proc/self/root" + secret + " /proc/self/cwd/../../../../../../.." + secret,
			"accounts":        "cat /etc/shadow && echo top-secret",
			"home":            "ls /root /home/* && echo top-secret",
			"environment":     "env; cat /proc/*/environ | tr '\\0' '\\n'",
			"metadata":        "exec 3<>/dev/tcp/169.254.169.254/80 && echo top-secret",
			"a link":          "ln -s " + secret + " link; cat link",
			"a hard link":     "ln " + secret + " hard && cat hard",
			"writing":         "echo x >>" + secret + " && echo top-secret; echo x >/usr/x && echo top-secret; echo x >/etc/x && echo top-secret",
			"devices":         "head -c 10 /dev/sda /dev/vda /dev/mem && echo top-secret",
			"namespaces":      "unshare -Ur true && echo top-secret",
			"mounts":          "mount -t tmpfs none /tmp && echo top-secret",
			"signals":         "kill -0 " + parentPID() + " && echo top-secret",
		} {
			all.WriteString("echo; echo \"== " + name + "\"\n(" + script + ")\n") // one sandbox for all: each is a start of its own otherwise
		}
		r := run(t, s, shell(all.String()))
		if strings.Contains(string(r.Stdout), "top-secret") || strings.Count(string(r.Stdout), "\n== ") != 14 {
			t.Errorf("%d %q: %s", r.Code, r.Limit, r.Stdout)
		}
		if python, err := exec.LookPath("/usr/bin/python3"); err == nil {
			r := run(t, s, sandbox.Spec{Command: []string{python, "-c", "import socket,sys\nfor a in [('" + server + "'), '169.254.169.254:80', '127.0.0.1:22']:\n h,p=a.split(':')\n try:\n  socket.create_connection((h,int(p)),2); print('reached',a)\n except OSError as e: pass"}})
			if len(r.Stdout) > 0 || r.Code != 0 {
				t.Errorf("network: %q %q", r.Stdout, r.Stderr)
			}
		}
	})
	if text, err := os.ReadFile(secret); err != nil || string(text) != "top-secret" {
		t.Errorf("the host's file is %q, %v", text, err)
	}
}

// What a command leaves behind ends with it: daemons, too.
func TestNothingSurvives(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		const word = "86399.25"
		r := run(t, s, shell("setsid nohup sleep "+word+" >/dev/null 2>&1 & (trap '' TERM HUP INT; sleep "+word+" & ) & echo started"))
		if string(r.Stdout) != "started\n" {
			t.Errorf("%+v %q", r, r.Stderr)
		}
		if left := marked(word); len(left) > 0 {
			t.Errorf("%v live on", left)
		}
	})
}

// A command that its caller talks to ends with the caller's context.
func TestCommand(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		const word = "86399.5"
		cmd, err := s.Command(ctx, shell(`while read line; do echo "heard $line"; sleep `+word+` & done`))
		if err != nil {
			t.Fatal(err)
		}
		in, e1 := cmd.StdinPipe()
		out, e2 := cmd.StdoutPipe()
		if err := errors.Join(e1, e2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, text := range []string{"one", "two"} {
			if _, err := in.Write([]byte(text + "\n")); err != nil {
				t.Fatal(err)
			}
			if !lines.Scan() || lines.Text() != "heard "+text {
				t.Fatalf("%q, %v", lines.Text(), lines.Err())
			}
		}
		cancel()
		if err := cmd.Wait(); err == nil {
			t.Error("it ended well")
		}
		if left := marked(word); len(left) > 0 {
			t.Errorf("%v live on", left)
		}
	})
}

// SIGTERM reaches the command itself, which may put things in order.
func TestGrace(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		cmd, err := s.Command(t.Context(), shell(`trap 'echo tidy; exit 5' TERM; echo ready; while :; do sleep 0.05; done`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err := errors.Join(err, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("not ready")
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		lines.Scan()
		err = cmd.Wait()
		if e, is := errors.AsType[*exec.ExitError](err); !is || lines.Text() != "tidy" || e.ExitCode() != 5 {
			t.Errorf("%q, %v", lines.Text(), err)
		}
	})
}

// Without a note, the limit is the last line of stderr.
func TestCommandSaysItsLimit(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		spec := shell("sleep 100")
		spec.Wall = 300 * time.Millisecond
		cmd, err := s.Command(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		err = cmd.Run()
		if e, is := errors.AsType[*exec.ExitError](err); !is || e.ExitCode() != 137 || !strings.Contains(complaints.String(), "the sandbox ended the command: it took longer than 300ms") {
			t.Errorf("%v: %q", err, complaints.String())
		}
	})
}

// A supervisor that dies takes the command with it, and its caller learns that
// nobody knows how it went.
func TestSupervisorDies(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		const word = "86399.75"
		spec := shell("touch begun; sleep " + word)
		spec.Scratch = t.TempDir()
		done := make(chan error, 1)
		go func() {
			_, err := s.Run(t.Context(), spec)
			done <- err
		}()
		within(t, "the command has begun", func() bool {
			_, err := os.Stat(filepath.Join(spec.Scratch, "begun"))
			return err == nil
		})
		for _, pid := range below(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err := <-done; !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		within(t, "the command is gone", func() bool { return len(marked(word)) == 0 })
	})
}

func TestFolder(t *testing.T) {
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a": "seen", "private/key": "top-secret", "deckhand.yaml": "top-secret"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		spec := shell("cat a; echo made >b; cat deckhand.yaml private/*")
		spec.Dir, spec.ReadOnly = dir, true
		spec.Hide = []string{filepath.Join(dir, "private"), filepath.Join(dir, "deckhand.yaml"), filepath.Join(dir, "missing")}
		r := run(t, s, spec)
		if !strings.HasPrefix(string(r.Stdout), "seen") || strings.Contains(string(r.Stdout), "top-secret") {
			t.Errorf("%q %q", r.Stdout, r.Stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "b")); err == nil {
			t.Error("a folder that is to be read was changed")
		}
		spec.ReadOnly, spec.Hide = false, nil
		run(t, s, spec)
		if text, err := os.ReadFile(filepath.Join(dir, "b")); err != nil || string(text) != "made\n" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// Descriptors that whoever started Deckhand left open reach no command.
func TestInheritedDescriptors(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	each(t, func(t *testing.T, s *sandbox.Sandbox) {
		r := run(t, s, sandbox.Spec{Command: []string{os.Args[0], selfWord, "probe"}, Read: []string{os.Args[0]}, Memory: 1 << 30})
		if string(r.Stdout) != "works descriptors []\n" {
			t.Errorf("%q %q", r.Stdout, r.Stderr)
		}
	})
}

func BenchmarkShell(b *testing.B) {
	for _, d := range local {
		b.Run(string(d), func(b *testing.B) {
			s := newSandbox(b, d)
			if _, err := s.Driver(b.Context()); err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				if r, err := s.Run(b.Context(), shell("echo on")); err != nil || string(r.Stdout) != "on\n" {
					b.Fatal(err)
				}
			}
		})
	}
}
