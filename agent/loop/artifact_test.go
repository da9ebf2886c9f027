package loop_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// leaky is a store whose artifacts cannot be read, some of the time.
type leaky struct {
	loop.Blobs
	reads atomic.Int32
	fails int32 // so many reads
	err   error
}

func (l *leaky) Blob(ctx context.Context, run agent.RunID, hash string) ([]byte, error) {
	if l.reads.Add(1) <= l.fails {
		return nil, l.err
	}
	return l.Blobs.Blob(ctx, run, hash)
}

func TestAnArtifactThatCannotBeReadCostsNoCallTwice(t *testing.T) {
	name := regexp.MustCompile(`\$\{artifact:[0-9a-f]{64}\}`)
	for _, tt := range []struct {
		what  string
		leak  *leaky
		noted int
	}{
		{"the store is away for a moment", &leaky{fails: 2, err: errors.New("connection refused")}, 1},
		{"the artifact is gone", &leaky{fails: 1 << 20, err: agent.ErrNoBlob}, 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			tool := newNote("note", agent.ClassWrite, agent.RepeatIdempotent)
			long := newFar(agent.RepeatRead, 0, func(context.Context, int) agent.Result {
				return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("long ", 10_000), Trust: agent.Trusted}
			})
			long.spec.Class = agent.ClassRead
			obedient := noter("note", task("a", "note", map[string]any{"tools": []string{"note", "far"}}))
			model := scripted(func(r llm.Request) llm.Message {
				if r.Purpose == llm.Work && turns(r) == 0 {
					return call("far", map[string]any{"text": "read"})
				}
				if r.Purpose == llm.Work && turns(r) == 1 {
					return call("note", map[string]any{"text": name.FindString(r.Messages[len(r.Messages)-1].Content)})
				}
				return obedient(r)
			})
			h := open(t, model, func(c *loop.Config) {
				tt.leak.Blobs = c.Blobs
				c.Blobs = tt.leak
			}, tool, long)
			r := h.ended(h.start(writesFree()))
			if r.Ended.State != agent.RunDone || r.Ended.ModelCalls != 6 || len(tool.seen()) != tt.noted {
				t.Errorf("ended %+v after %d notes, want 6 calls and %d", r.Ended, len(tool.seen()), tt.noted)
			}
		})
	}
}
