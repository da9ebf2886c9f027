package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/tools/sandbox/kubernetes"
	"github.com/deckhand-bot/deckhand/tools/sandbox/kubernetes/kubernetestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write golden files anew")

func example() kubernetes.Job {
	return kubernetes.Job{
		Name: "deckhand-x", Image: "python:3.13-slim", Runner: "ghcr.io/deckhand-bot/deckhand:1.0", Program: "/usr/local/bin/deckhand",
		Install: []string{"sandbox-exec", "install", kubernetes.InstallTarget()}, Words: []string{"sandbox-exec", "pod"}, Order: []byte("order"),
		Work: "/work", Folder: "/workspace", Memory: 512 << 20, Disk: 256 << 20, Processor: 1.5, Wall: time.Minute,
	}
}

func open(t *testing.T) *kubernetes.Cluster {
	t.Helper()
	c, err := kubernetes.Open(kubernetes.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The manifests word for word, as the published schema takes them.
func TestManifest(t *testing.T) {
	claimed := example()
	claimed.Claim, claimed.ReadOnly, claimed.RuntimeClass, claimed.PullSecrets = "deckhand-workspace", true, "gvisor", []string{"registry"}
	for name, j := range map[string]kubernetes.Job{"job": example(), "claim": claimed} {
		text, err := json.MarshalIndent(j.Manifest("agents"), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := kubernetestest.Valid(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		golden := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != string(text)+"\n" {
			t.Errorf("%s is not as in %s (-update writes it): %v\n%s", name, golden, err, text)
		}
	}
	if err := kubernetestest.Valid([]byte(`{"apiVersion":"batch/v1","kind":"Job","spec":{"template":{"spec":{"containers":[{"name":"a","imagee":"b"}]}}}}`)); err == nil {
		t.Error("the schema takes a field that there is not")
	}
}

// How a job can end, and what is told of it.
func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		ended  kubernetestest.Ended
		code   int
		reason string
		words  string // of the error
	}{
		"well":        {ended: kubernetestest.Ended{Log: []byte("said\n")}},
		"badly":       {ended: kubernetestest.Ended{Log: []byte("said\n"), Code: 3, Reason: "Error"}, code: 3},
		"memory":      {ended: kubernetestest.Ended{Code: 137, Reason: "OOMKilled"}, code: 137, reason: kubernetes.OutOfMemory},
		"disk":        {ended: kubernetestest.Ended{Evicted: true}, code: 137, reason: kubernetes.Evicted},
		"time":        {ended: kubernetestest.Ended{Late: true}, code: 137, reason: kubernetes.TooLong},
		"no image":    {ended: kubernetestest.Ended{Waiting: "ImagePullBackOff"}, words: "ImagePullBackOff: Back-off pulling image"},
		"pod removed": {ended: kubernetestest.Ended{Gone: true}, words: "its pod was removed while it ran"},
	} {
		t.Run(name, func(t *testing.T) {
			s := kubernetestest.Start(t, func(context.Context, kubernetestest.Container) kubernetestest.Ended { return c.ended })
			e, err := open(t).Run(t.Context(), example())
			if c.words != "" {
				if !errors.Is(err, kubernetes.ErrUnavailable) || !strings.Contains(err.Error(), c.words) {
					t.Errorf("%v", err)
				}
			} else if err != nil || e.Code != c.code || e.Reason != c.reason || string(e.Log) != string(c.ended.Log) {
				t.Errorf("%+v, %v", e, err)
			}
			if s.Left() > 0 {
				t.Error("the job was not removed")
			}
		})
	}
}

// Who gives up takes the job along.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := kubernetestest.Start(t, func(inner context.Context, _ kubernetestest.Container) kubernetestest.Ended {
		cancel()
		<-inner.Done()
		return kubernetestest.Ended{Code: 137}
	})
	if _, err := open(t).Run(ctx, example()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if s.Left() > 0 || !slices.ContainsFunc(s.Seen, func(line string) bool { return strings.HasPrefix(line, "DELETE ") }) {
		t.Errorf("the job was not removed: %q", s.Seen)
	}
}

// What is missing is named: rights, the token, the server.
func TestRefusals(t *testing.T) {
	s := kubernetestest.Start(t, nil)
	c := open(t)
	if v, err := c.Version(t.Context()); v != "v1.35.0" || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	if err := errors.Join(c.MayRun(t.Context()), c.DryRun(t.Context(), example())); err != nil {
		t.Error(err)
	}
	s.Forbid = []string{"create jobs", "list pods"}
	if err := c.MayRun(t.Context()); err == nil || !strings.Contains(err.Error(), "may not create jobs, list pods") {
		t.Errorf("%v", err)
	}
	if _, err := c.Run(t.Context(), example()); err == nil || !strings.Contains(err.Error(), "403 Forbidden: /apis/batch/v1/namespaces/agents/jobs is forbidden") {
		t.Errorf("%v", err)
	}
	wrong := example()
	wrong.Order = make([]byte, kubernetes.LargestOrder+1)
	if _, err := c.Run(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "a Job holds") {
		t.Errorf("%v", err)
	}
	s.Token = "another"
	if _, err := c.Version(t.Context()); err == nil || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("%v", err)
	}
}

func TestOpen(t *testing.T) {
	kubernetestest.Start(t, nil)
	if _, err := kubernetes.Open(kubernetes.Access{Context: "other"}); err == nil || !strings.Contains(err.Error(), `no context "other"`) {
		t.Errorf("%v", err)
	}
	c, err := kubernetes.Open(kubernetes.Access{Namespace: "mine"})
	if err != nil || c.Namespace() != "mine" {
		t.Errorf("%v", err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if _, err := kubernetes.Open(kubernetes.Access{}); !errors.Is(err, kubernetes.ErrNoCluster) {
		t.Errorf("%v", err)
	}
}

// A program that gives tokens is asked once while the token is good.
func TestTokenOfProgram(t *testing.T) {
	s := kubernetestest.Start(t, nil)
	dir := t.TempDir()
	program := filepath.Join(dir, "give")
	script := "#!/bin/sh\necho x >>" + dir + "/asked\necho '{\"status\":{\"token\":\"token-of-test\"}}'\n"
	config := strings.Replace(s.Kubeconfig(), "{token: token-of-test}", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: "+program+"}}", 1)
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(dir, "config"))
	c := open(t)
	for range 2 {
		if _, err := c.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || string(asked) != "x\n" {
		t.Errorf("%q, %v", asked, err)
	}
}
