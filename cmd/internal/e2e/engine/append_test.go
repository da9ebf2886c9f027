package engine

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// appended is the call of append_to_file by which a worker dies, and the note
// that it left in its intent.
func appended(ctx context.Context, dir string, effect agent.EffectID, l string) (tool agent.Tool, c agent.Call, err error) {
	space, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		return nil, c, err
	}
	w := add(l)
	c = agent.Call{Run: "run", Strand: agent.Main, Effect: effect, Tool: w.name, Arguments: encode(w.args)}
	for _, tool := range file.New(file.Config{Workspace: space}) {
		if p, is := tool.(agent.Preparer); is && tool.Spec().Name == w.name {
			prepared, err := p.Prepare(ctx, c)
			c.Mark = prepared.Mark
			return tool, c, err
		}
	}
	return nil, c, errors.New("there is no " + w.name)
}

// dieAppending is a worker whose only work is one append, in which it dies.
func dieAppending(o orders, record *crash.Record) error {
	tool, c, err := appended(context.Background(), o.Workspace, "first", lines[0])
	if err != nil {
		return err
	}
	e := &effects{killer: crash.NewKiller(crash.Boundary{What: "effect", When: o.At.When, N: o.At.N}, record), run: o.Run}
	deadlyTool{Tool: tool, effects: e, workspace: o.Workspace}.Run(context.Background(), c)
	return errors.New("it survived")
}

// A worker dies when its line is in the file and nobody was told. Another task
// adds a line before the first one is recovered: its probe must still find it.
func TestDeathInAnAppendIsFoundAfterAnother(t *testing.T) {
	const deaths = 10 // each falls somewhere into the few milliseconds that count
	out := openOutside(t, orderly)
	s := build(t, crash.SQLite, out, 0, 0)
	for range deaths {
		s.root = t.TempDir()
		tool, first, err := appended(t.Context(), s.workspace(), "first", lines[0])
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.spawn("run", crash.Boundary{What: "append", When: "during", N: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		<-c.Done
		died, err := crash.ReadRecord(s.record())
		if err != nil || len(died) != 1 {
			t.Fatalf("the worker did not die in its append: %v, %v", died, err)
		}
		_, second, err := appended(t.Context(), s.workspace(), "second", lines[1])
		if err != nil {
			t.Fatal(err)
		}
		if r := tool.Run(t.Context(), second); r.State != agent.OutcomeOK {
			t.Fatalf("the second append: %+v", r)
		}
		if done, r, err := (deadlyTool{Tool: tool}).Probe(t.Context(), first); !done || err != nil {
			t.Fatalf("%s has the line, and its probe says %v, %+v, %v", filepath.Join(s.workspace(), logFile), done, r, err)
		}
	}
}
