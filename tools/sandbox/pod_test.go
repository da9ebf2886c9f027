package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/sandbox/kubernetes/kubernetestest"
)

// node runs a pod's container as a kubelet would, in namespaces that bubblewrap
// makes: the folders that it mounts are empty, the image is this host's /usr.
func node(t *testing.T) func(ctx context.Context, c kubernetestest.Container) kubernetestest.Ended {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err == nil {
		err = exec.Command(bwrap, "--unshare-all", "--ro-bind", "/", "/", "true").Run()
	}
	if err != nil {
		t.Skip("this machine has no bubblewrap that works: ", err)
	}
	return func(ctx context.Context, c kubernetestest.Container) kubernetestest.Ended {
		args := []string{"--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev", "--clearenv"}
		for _, p := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"} {
			args = append(args, "--ro-bind-try", p, p)
		}
		for _, m := range c.VolumeMounts {
			args = append(args, "--tmpfs", m.MountPath)
		}
		args = append(args, "--ro-bind", os.Args[0], c.Command[0], "--chdir", c.WorkingDir)
		for _, e := range c.Env {
			args = append(args, "--setenv", e.Name, e.Value)
		}
		cmd := exec.CommandContext(ctx, bwrap, append(args, c.Command...)...)
		var log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &log, &log
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Error(err)
			return kubernetestest.Ended{Code: 128}
		}
		return kubernetestest.Ended{Log: log.Bytes(), Code: max(0, cmd.ProcessState.ExitCode())}
	}
}

func inCluster(t *testing.T, c sandbox.Cluster) *sandbox.Sandbox {
	t.Helper()
	c.Runner, c.Program = "deckhand:test", "/usr/local/bin/deckhand"
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], selfWord}, Driver: sandbox.Kubernetes, Image: "python:3.13-slim", Cluster: c})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same specification that other drivers run: output, exit code, files in and
// back, the folder, the bounds.
func TestCluster(t *testing.T) {
	server := kubernetestest.Start(t, node(t))
	s := inCluster(t, sandbox.Cluster{})
	if d, err := s.Driver(t.Context()); d != sandbox.Kubernetes || err != nil {
		t.Fatalf("%s, %v", d, err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"seen": "folder\n", "hidden/key": "top-secret", "unneeded": "top-secret"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	spec := shell(`cat seen; cat; cat $OUT/in; echo made >$OUT/out; echo oh >&2; cat hidden/key unneeded; exit 3`)
	spec.Dir, spec.ReadOnly, spec.Hide, spec.Need = dir, true, []string{filepath.Join(dir, "hidden")}, []string{"seen", "hidden"}
	spec.Stdin, spec.Keep, spec.Files, spec.Memory = []byte("read\n"), []string{"out"}, []sandbox.File{{Path: "in", Data: []byte("file\n")}}, 1<<30
	r := run(t, s, spec)
	if r.Code != 3 || string(r.Stdout) != "folder\nread\nfile\n" || !strings.HasPrefix(string(r.Stderr), "oh\n") || r.Limit != "" {
		t.Errorf("%+v: %q %q", r, r.Stdout, r.Stderr)
	}
	if len(r.Files) != 1 || r.Files[0].Path != "out" || string(r.Files[0].Data) != "made\n" {
		t.Errorf("files: %+v", r.Files)
	}
	late := shell("sleep 1000")
	late.Wall, late.Memory = time.Second, 1<<30
	if r := run(t, s, late); r.Limit != "it took longer than 1s" {
		t.Errorf("%+v", r)
	}
	many := shell("yes")
	many.Memory = 1 << 30
	if r := run(t, s, many); !strings.Contains(r.Limit, "put out more than 64 KiB") || len(r.Stdout) > 64<<10 {
		t.Errorf("%s, %d bytes", r.Limit, len(r.Stdout))
	}
	if server.Left() > 0 {
		t.Errorf("%d jobs are left", server.Left())
	}
}

// In its pod a command is held as by the driver child, whatever the node holds.
func TestBombsInPod(t *testing.T) {
	kubernetestest.Start(t, node(t))
	s := inCluster(t, sandbox.Cluster{})
	for _, b := range bombs {
		if b.name != "fork bomb" && b.name != "memory bomb" && b.name != "ten gigabytes in files" {
			continue // TestBombs has them for the same walls
		}
		if raced {
			t.Skip("the race detector takes more memory than the sandbox gives")
		}
		spec := shell(b.script)
		spec.Wall = patient
		b.spec(&spec)
		r := run(t, s, spec)
		if r.Code == 0 && r.Limit == "" && len(r.Stderr) == 0 || !strings.Contains(r.Limit+string(r.Stderr), b.words) {
			t.Errorf("%s: %d %q; %.200q", b.name, r.Code, r.Limit, r.Stderr)
		}
	}
}

// What a cluster ends by itself is told as elsewhere; what it cannot do is refused in words.
func TestClusterSaysWhy(t *testing.T) {
	for words, ended := range map[string]kubernetestest.Ended{
		"of memory":          {Code: 137, Reason: "OOMKilled"},
		"256 MiB to disk":    {Evicted: true},
		"took longer than":   {Late: true},
		"0 of the 0 lines":   {Log: []byte("killed\n"), Code: 137},
		"InvalidImageName":   {Waiting: "InvalidImageName"},
		"its pod was remove": {Gone: true},
	} {
		kubernetestest.Start(t, func(context.Context, kubernetestest.Container) kubernetestest.Ended { return ended })
		r, err := inCluster(t, sandbox.Cluster{}).Run(t.Context(), shell("true"))
		said := r.Limit
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in %q", words, said)
		}
	}
	s := inCluster(t, sandbox.Cluster{Claim: "files", Root: "/srv/files"})
	for words, change := range map[string]func(s *sandbox.Spec){
		"reach some hosts only":     func(s *sandbox.Spec) { s.Network = []string{"pypi.org"} },
		"can change no folder":      func(s *sandbox.Spec) { s.Dir = "/srv" },
		"cannot change this host's": func(s *sandbox.Spec) { s.Write = []string{"/srv"} },
		"a Job holds 720 KiB":       func(s *sandbox.Spec) { s.Stdin = noise(1 << 20) },
		"could not be packed":       func(s *sandbox.Spec) { s.Dir, s.ReadOnly, s.Need = t.TempDir(), true, []string{"../.."} },
	} {
		spec := shell("true")
		change(&spec)
		if _, err := s.Run(t.Context(), spec); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if _, err := s.Command(t.Context(), shell("true")); err == nil || !strings.Contains(err.Error(), "none that is talked to") {
		t.Errorf("a command that is talked to: %v", err)
	}
}

// noise is data that nothing makes smaller.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}
