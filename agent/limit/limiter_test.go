package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/memory"
)

// lines is a store of one process.
type lines struct {
	memory.Lines
	asked atomic.Int64
	fails bool
}

func (l *lines) Admit(_ context.Context, a agent.Admission) (time.Duration, error) {
	l.asked.Add(1)
	if l.fails {
		return 0, errors.New("away")
	}
	return l.Lines.Admit(a, func() int64 { return time.Now().UnixNano() }), nil
}

func ask(run string, tokens int) limit.Question {
	return limit.Question{Model: "m", Run: agent.RunID(run), Strand: agent.Main, Tokens: tokens}
}

// drive asks an endpoint by so many runs at once for a time, as the loop does.
func drive(t *testing.T, endpoint *llmtest.Limited, limiters []*limit.Limiter, runs, tokens int, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	done := make(chan struct{})
	for i := range runs {
		go func() {
			defer func() { done <- struct{}{} }()
			q := ask(fmt.Sprint("run", i), tokens)
			for ctx.Err() == nil {
				l := limiters[i%len(limiters)]
				wait, err := l.Ask(ctx, q)
				if err != nil {
					t.Error(err)
					return
				}
				if wait > 0 {
					pause(ctx, wait)
					continue
				}
				reply := endpoint.Script(llmtest.Request{Model: q.Model, MaxTokens: q.Tokens})
				pause(ctx, 300*time.Millisecond) // what the model takes
				quota := heard(reply)
				if reply.Status == 429 {
					if err := l.Refused(ctx, q, quota, 500*time.Millisecond); err != nil {
						t.Error(err)
					}
					pause(ctx, 600*time.Millisecond)
					continue
				}
				l.Answered(q, quota, q.Tokens/2)
			}
		}()
	}
	for range runs {
		<-done
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func heard(r llmtest.Reply) (q llm.Quota) {
	_, _ = fmt.Sscan(r.Header.Get("X-Ratelimit-Limit-Requests"), &q.Requests)
	_, _ = fmt.Sscan(r.Header.Get("X-Ratelimit-Limit-Tokens"), &q.Tokens)
	q.OutOfTokens = r.Header.Get("X-Ratelimit-Remaining-Tokens") == "0"
	return q
}

// The whole limit is used and next to nothing is refused, whoever told the limit,
// by one process and by three.
func TestTheWholeLimitIsUsed(t *testing.T) {
	for _, tt := range []struct {
		name      string
		told      limit.Config
		limits    llmtest.Limits
		processes int
		refused   float64
	}{
		{"told", limit.Config{Requests: 600}, llmtest.Limits{Requests: 600, Burst: 0.05, Silent: true}, 1, 0.001},
		{"told, three processes", limit.Config{Requests: 600}, llmtest.Limits{Requests: 600, Burst: 0.05, Silent: true}, 3, 0.001},
		{"told, by the clock's minute", limit.Config{Requests: 600}, llmtest.Limits{Requests: 600, Fixed: true}, 1, 0.001},
		{"heard", limit.Config{}, llmtest.Limits{Requests: 600}, 1, 0.001},
		{"heard, three processes", limit.Config{}, llmtest.Limits{Requests: 600}, 3, 0.001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				endpoint := llmtest.NewLimited(tt.limits, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
				tt.told.Store = &lines{}
				var limiters []*limit.Limiter
				for range tt.processes {
					limiters = append(limiters, limit.New(tt.told))
				}
				began := time.Now()
				drive(t, endpoint, limiters, 200, 100, 70*time.Second)
				late := 0
				for _, at := range endpoint.Times() {
					if at.Sub(began) >= 10*time.Second {
						late++
					}
				}
				c := endpoint.Count()
				if used, refused := float64(late)/600, float64(c.Limited)/float64(c.Answered+c.Limited); used < 0.97 || refused > tt.refused {
					t.Errorf("%.3f of the limit was used, %.2f %% were refused: %+v", used, 100*refused, c)
				}
			})
		})
	}
}

// A limit that nobody tells is learnt from refusals.
func TestRefusalsTeach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoint := llmtest.NewLimited(llmtest.Limits{Requests: 600, Burst: 0.1, Silent: true}, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
		drive(t, endpoint, []*limit.Limiter{limit.New(limit.Config{Store: &lines{}})}, 50, 100, 5*time.Minute)
		c := endpoint.Count()
		if used, refused := float64(c.Answered)/3000, float64(c.Limited)/float64(c.Answered+c.Limited); used < 0.8 || refused > 0.1 {
			t.Errorf("%.3f of the limit was used, %.2f %% were refused: %+v", used, 100*refused, c)
		}
	})
}

// Tokens that were reserved and not used are given back.
func TestTokensAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Config{Store: &lines{}, Tokens: 60_000})
		n := 0
		for began := time.Now(); time.Since(began) < time.Minute; {
			wait, err := l.Ask(t.Context(), ask("r", 5000))
			if err != nil {
				t.Fatal(err)
			}
			if wait > 0 {
				pause(t.Context(), wait)
				continue
			}
			n++
			l.Answered(ask("r", 5000), llm.Quota{}, 1000)
		}
		if n < 55 || n > 62 {
			t.Errorf("%d questions of 1,000 tokens in a minute of 60,000", n)
		}
	})
}

// What nobody limits is not asked about, and what was given back is not lost
// where the store is away.
func TestNoLimitCostsNothing(t *testing.T) {
	store := &lines{}
	l := limit.New(limit.Config{Store: store})
	for range 100 {
		if wait, err := l.Ask(t.Context(), ask("r", 100)); wait != 0 || err != nil {
			t.Fatal(wait, err)
		}
		l.Answered(ask("r", 100), llm.Quota{}, 10)
	}
	if store.asked.Load() != 0 {
		t.Errorf("the store was asked %d times", store.asked.Load())
	}
	l = limit.New(limit.Config{Store: store, Requests: 1})
	store.fails = true
	l.Return(ask("r", 100))
	if _, err := l.Ask(t.Context(), ask("r", 100)); err == nil {
		t.Error("the store is away and nobody hears of it")
	}
	store.fails = false
	for i := range 2 {
		if wait, err := l.Ask(t.Context(), ask("r", 100)); (wait != 0) != (i == 1) || err != nil {
			t.Errorf("question %d waits %s: %v", i, wait, err)
		}
	}
}
