package job_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/deckhand-bot/deckhand/tools/job"
)

// sit is a process with a secret that waits until nobody reads from it.
func sit(conceals string) {
	if conceals == "yes" {
		if err := job.Conceal(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// ordinary are the attributes of a process without the rights of root, which
// nothing is hidden from.
func ordinary() *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func TestConceal(t *testing.T) {
	t.Parallel()
	for _, conceals := range []string{"no", "yes"} {
		t.Run(conceals, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("/proc/self/exe", sitting, conceals)
			cmd.Env, cmd.Stderr, cmd.SysProcAttr = []string{"TOKEN=secret"}, os.Stderr, ordinary()
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
				t.Fatalf("%q: %v", line, err)
			}
			look := exec.Command("/bin/cat", fmt.Sprintf("/proc/%d/environ", cmd.Process.Pid))
			look.SysProcAttr = ordinary()
			seen, err := look.Output()
			if found := err == nil && strings.Contains(string(seen), "secret"); found != (conceals == "no") {
				t.Errorf("another process of the user finds the secret: %v (%v)", found, err)
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
