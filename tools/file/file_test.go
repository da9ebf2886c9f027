package file_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == smallDisk {
		os.Exit(writeOnSmallDisk(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// desk is a workspace with the file tools.
type desk struct {
	t     testing.TB
	dir   string
	tools *tools.Box
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	return deskAt(t, t.TempDir(), t.TempDir())
}

func deskAt(t testing.TB, dir, locks string) *desk {
	t.Helper()
	w, err := workspace.New(workspace.Config{Dir: dir, Locks: locks, Wait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tools.New(file.New(file.Config{Workspace: w})...)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, dir, b}
}

func (d *desk) put(path, text string) {
	d.t.Helper()
	p := filepath.Join(d.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// content is a file's text, "absent" where there is none.
func (d *desk) content(path string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(path)))
	if os.IsNotExist(err) {
		return "absent"
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

// call is a call with arguments that the schema allows.
func (d *desk) call(tool string, args any) agent.Call {
	d.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.tools.Check(tool, b); err != nil {
		d.t.Fatal(err)
	}
	return agent.Call{Run: "r", Effect: agent.EffectID(agent.NewID()), Tool: tool, Arguments: b}
}

func (d *desk) run(c agent.Call) agent.Result {
	d.t.Helper()
	tool, found := d.tools.Tool(c.Tool)
	if !found {
		d.t.Fatalf("there is no tool %s", c.Tool)
	}
	return tool.Run(context.Background(), c)
}

func (d *desk) prepare(c agent.Call) (agent.Prepared, error) {
	d.t.Helper()
	tool, _ := d.tools.Tool(c.Tool)
	p, ok := tool.(agent.Preparer)
	if !ok {
		d.t.Fatalf("%s cannot prepare", c.Tool)
	}
	return p.Prepare(context.Background(), c)
}

// prepared is the call with its mark.
func (d *desk) prepared(tool string, args any) agent.Call {
	d.t.Helper()
	c := d.call(tool, args)
	p, err := d.prepare(c)
	if err != nil {
		d.t.Fatal(err)
	}
	c.Mark = p.Mark
	return c
}

func (d *desk) probe(c agent.Call) (bool, agent.Result, error) {
	d.t.Helper()
	tool, _ := d.tools.Tool(c.Tool)
	p, ok := tool.(agent.Prober)
	if !ok {
		d.t.Fatalf("%s cannot be asked", c.Tool)
	}
	return p.Probe(context.Background(), c)
}

// do runs a tool as the engine does and wants it to work.
func (d *desk) do(tool string, args any) agent.Result {
	d.t.Helper()
	c := d.call(tool, args)
	if t, _ := d.tools.Tool(tool); t.Spec().Repeat == agent.RepeatProbeable {
		c = d.prepared(tool, args)
	}
	r := d.run(c)
	if r.State != agent.OutcomeOK {
		d.t.Fatalf("%s %v: %s", tool, args, r.Text)
	}
	return r
}

// refused runs a tool as the engine does and wants a refusal with the words.
func (d *desk) refused(tool string, args any, words ...string) {
	d.t.Helper()
	c := d.call(tool, args)
	text := ""
	if t, _ := d.tools.Tool(tool); t.Spec().Repeat == agent.RepeatProbeable {
		if p, err := d.prepare(c); err != nil {
			text = "error: " + err.Error()
		} else {
			c.Mark = p.Mark
		}
	}
	if text == "" {
		r := d.run(c)
		if r.State != agent.OutcomeError {
			d.t.Fatalf("%s %v: want an error, got %s: %s", tool, args, r.State, r.Text)
		}
		text = r.Text
	}
	for _, w := range append(words, "error: ") {
		if !strings.Contains(text, w) {
			d.t.Errorf("%s %v: the error %q does not say %q", tool, args, text, w)
		}
	}
	if strings.Contains(text, d.dir) {
		d.t.Errorf("%s %v: the error %q shows a path of the machine", tool, args, text)
	}
}

type m map[string]any
