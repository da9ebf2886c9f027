package kit

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// A server in the sandbox is talked to as outside, and sees what it is given.
func TestServerInSandbox(t *testing.T) {
	c, err := config.Load(config.Flags{}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"given/a": "given", "kept/a": "top-secret"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	start, err := serverSandbox(c, config.MCPServer{Command: "/bin/sh", Sandbox: true, Read: []string{filepath.Join(dir, "given")}})
	if err != nil {
		t.Fatal(err)
	}
	script := "while read line; do echo heard $line; cat " + dir + "/given/a " + dir + "/kept/a 2>/dev/null; echo; env | grep -c DECKHAND; done"
	cmd, err := start(t.Context(), exec.Command("/bin/sh", "-c", script))
	if err != nil {
		t.Skip("this machine has no sandbox that isolates: ", err)
	}
	in, e1 := cmd.StdinPipe()
	out, e2 := cmd.StdoutPipe()
	if err := errors.Join(e1, e2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []string
	for range 3 {
		lines.Scan()
		said = append(said, lines.Text())
	}
	if got := strings.Join(said, "|"); got != "heard hello|given|0" {
		t.Errorf("%q", got)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil && cmd.ProcessState.ExitCode() > 1 {
		t.Error(err)
	}
	if _, err := serverSandbox(c, config.MCPServer{URL: "https://mcp.example", Sandbox: true}); err == nil {
		t.Error("a server elsewhere is taken into the sandbox")
	}
}
