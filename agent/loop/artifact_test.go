package loop_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
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

// A call whose outcome was lost together with the lease, and then the artifact
// that its arguments name, is not tried for ever: a read has failed, and of
// anything else a person says whether it happened.
func TestARepeatedCallWithoutItsArtifactComesToAnEnd(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`\$\{artifact:[0-9a-f]{64}\}`)
	for _, repeat := range []agent.Repeat{agent.RepeatRead, agent.RepeatIdempotent, agent.RepeatOnce} {
		t.Run(string(repeat), func(t *testing.T) {
			t.Parallel() // each waits for a lease to run out
			long := newFar(agent.RepeatRead, 0, func(context.Context, int) agent.Result {
				return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("long ", 10_000), Trust: agent.Trusted}
			})
			long.spec.Class = agent.ClassRead
			act := newFar(repeat, 0, func(context.Context, int) agent.Result { return of(agent.OutcomeError) })
			act.spec.Name = "act"
			done := noter("act", task("a", "act", map[string]any{"tools": []string{"act", "far"}}))
			model := scripted(func(r llm.Request) llm.Message {
				last := r.Messages[len(r.Messages)-1].Content
				switch {
				case r.Purpose == llm.Work && turns(r) == 0:
					return call("far", map[string]any{"text": "read"})
				case r.Purpose == llm.Work && turns(r) == 1:
					return call("act", map[string]any{"text": name.FindString(last)})
				case r.Purpose == llm.Work && strings.Contains(last, "not kept any more"):
					return call("fail_task", map[string]any{"reason": "the text is gone"})
				}
				return done(r)
			})
			h := open(t, model, func(c *loop.Config) {
				c.Blobs = &forgetful{Blobs: c.Blobs}
				c.Store = &losing{Store: c.Store, state: agent.OutcomeError}
			}, act, long)
			run := h.start(writesFree())
			r := h.until(run, "it comes to an end", func(r agent.Run) bool { return r.Ended != nil || r.OpenCheckpoint() != nil })
			asked := r.OpenCheckpoint()
			gone := slices.ContainsFunc(h.journal(run), func(e agent.Event) bool {
				switch b := e.Body.(type) {
				case agent.ToolOutcome:
					return strings.Contains(b.Text, "not kept any more")
				case agent.CallReplied: // a read whose answer was lost with its outcome
					return strings.Contains(b.Text, "not kept any more")
				}
				return false
			})
			if read := repeat == agent.RepeatRead; gone != read || read == (asked != nil && asked.Ask == agent.CheckUncertain) {
				t.Errorf("failed: %v, asked: %+v", gone, asked)
			}
		})
	}
}

// forgetful is a store that hands an artifact out once.
type forgetful struct {
	loop.Blobs
	reads atomic.Int32
}

func (f *forgetful) Blob(ctx context.Context, run agent.RunID, hash string) ([]byte, error) {
	if f.reads.Add(1) > 1 {
		return nil, agent.ErrNoBlob
	}
	return f.Blobs.Blob(ctx, run, hash)
}
