package llmtest

import (
	"strconv"
	"testing"
	"time"
)

// at is a limited endpoint with a clock of the test's own.
func at(l Limits) (*Limited, *time.Time) {
	clock := time.Date(2026, 3, 2, 12, 0, 30, 0, time.UTC)
	e := NewLimited(l, func(Request) Reply { return Say("ok") })
	e.now = func() time.Time { return clock }
	return e, &clock
}

func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		limits Limits
		first  int           // let through at once
		pass   time.Duration // then
		more   int           // let through
	}{
		"a full bucket":      {Limits{Requests: 60}, 60, 10 * time.Second, 10},
		"a small bucket":     {Limits{Requests: 60, Burst: 0.1}, 6, 30 * time.Second, 6},
		"a fixed minute":     {Limits{Requests: 60, Fixed: true}, 60, 29 * time.Second, 0},
		"the next minute":    {Limits{Requests: 60, Fixed: true}, 60, 30 * time.Second, 60},
		"a shorter minute":   {Limits{Requests: 60, Minute: 6 * time.Second}, 60, time.Second, 10},
		"tokens, not counts": {Limits{Requests: 60, Tokens: 1000}, 10, 6 * time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e, clock := at(tt.limits)
			ask := func() (n int) {
				for range 100 {
					r := e.Script(Request{MaxTokens: 100})
					if r.Status == 429 {
						if ms, err := strconv.Atoi(r.Header.Get("Retry-After-Ms")); err != nil || ms <= 0 {
							t.Fatalf("a refusal says %v", r.Header)
						}
						continue
					}
					if r.Header.Get("X-Ratelimit-Limit-Requests") != strconv.Itoa(tt.limits.Requests) {
						t.Fatalf("an answer says %v", r.Header)
					}
					n++
				}
				return n
			}
			if n := ask(); n != tt.first {
				t.Errorf("%d at once, want %d", n, tt.first)
			}
			*clock = clock.Add(tt.pass)
			if n := ask(); n != tt.more {
				t.Errorf("%d after %s, want %d", n, tt.pass, tt.more)
			}
			if c := e.Count(); c.Answered != tt.first+tt.more || c.Limited != 200-c.Answered || len(e.Times()) != c.Answered {
				t.Errorf("counted %+v", c)
			}
		})
	}
}

func TestOutage(t *testing.T) {
	e, _ := at(Limits{})
	e.Away(func(Request) Reply { return Overloaded() })
	if r := e.Script(Request{}); r.Status != 529 {
		t.Errorf("away, it answers %+v", r)
	}
	e.Back()
	if r := e.Script(Request{}); r.Text != "ok" || e.Count() != (Count{Answered: 1, Away: 1}) {
		t.Errorf("back, it answers %+v and counts %+v", r, e.Count())
	}
}
