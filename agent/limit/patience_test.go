package limit_test

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestPausesGrowAndStayApart(t *testing.T) {
	p := limit.Patience{Wait: time.Hour, Longest: 20 * time.Second}
	for tries, top := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 6: 20 * time.Second, 100: 20 * time.Second} {
		seen := map[time.Duration]bool{}
		for range 500 {
			choice, at := p.Next(agent.Retry{Tries: tries - 1, Since: noon}, &llm.Error{Fault: llm.Away}, false, noon)
			pause := at.Sub(noon)
			if choice != limit.Again || pause < top/2 || pause > top {
				t.Fatalf("try %d: %v after %s, want %s to %s", tries, choice, pause, top/2, top)
			}
			seen[pause] = true
		}
		if len(seen) < 450 {
			t.Errorf("try %d: %d different pauses of 500", tries, len(seen))
		}
	}
}

func TestWhatTheEndpointAsksForIsHonoured(t *testing.T) {
	p := limit.Patience{Wait: time.Hour, Longest: time.Second}
	for range 500 {
		_, at := p.Next(agent.Retry{}, &llm.Error{Fault: llm.Limited, RetryAfter: 20 * time.Second}, false, noon)
		if pause := at.Sub(noon); pause < 20*time.Second || pause > 25*time.Second {
			t.Fatalf("a pause of %s, want 20 s and a quarter at most", pause)
		}
	}
	_, at := p.Next(agent.Retry{}, &llm.Error{Fault: llm.Limited, RetryAfter: 10 * time.Hour}, false, noon)
	if at.Sub(noon) != time.Hour {
		t.Errorf("a pause of %s, which outlasts the patience", at.Sub(noon))
	}
}

func TestPatienceEnds(t *testing.T) {
	since := func(tries int, ago time.Duration) agent.Retry {
		return agent.Retry{Tries: tries, Since: noon.Add(-ago)}
	}
	for name, tt := range map[string]struct {
		patience limit.Patience
		before   agent.Retry
		unheard  bool
		want     limit.Choice
	}{
		"the first try":                    {limit.Patience{Wait: time.Hour}, agent.Retry{}, false, limit.Again},
		"within it":                        {limit.Patience{Wait: time.Hour}, since(900, 59*time.Minute), false, limit.Again},
		"over":                             {limit.Patience{Wait: time.Hour}, since(3, time.Hour), false, limit.Pause},
		"no patience":                      {limit.Patience{}, agent.Retry{}, false, limit.Fail},
		"no patience, the last retry":      {limit.Patience{Retries: 2}, since(1, time.Second), false, limit.Again},
		"no patience, and retries ran out": {limit.Patience{Retries: 2}, since(2, time.Second), false, limit.Fail},
		"nobody was ever heard":            {limit.Patience{Wait: time.Hour, Retries: 2}, since(1, time.Second), true, limit.Again},
		"nobody was ever heard, and retries ran out": {limit.Patience{Wait: time.Hour, Retries: 2}, since(2, time.Second), true, limit.Pause},
	} {
		if got, _ := tt.patience.Next(tt.before, &llm.Error{Fault: llm.Away}, tt.unheard, noon); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// An endpoint that waits for a person is tried again, too, where that is wanted:
// seldom, and no longer than the patience lasts.
func TestRefusals(t *testing.T) {
	refusal := &llm.Error{Fault: llm.Unauthorised, Status: 401, Reached: true}
	if p := (limit.Patience{Wait: time.Hour}); p.Waits(refusal) || !p.Waits(&llm.Error{Fault: llm.Away}) {
		t.Error("a refusal is met with patience that nobody asked for")
	}
	p := limit.Patience{Wait: time.Hour, Longest: 20 * time.Second, Refusals: 15 * time.Minute}
	if !p.Waits(refusal) || p.Waits(&llm.Error{Fault: llm.Invalid}) {
		t.Error("what is tried again is not what a person can mend")
	}
	for tries, top := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 5: 15 * time.Minute, 100: 15 * time.Minute} {
		choice, at := p.Next(agent.Retry{Tries: tries - 1, Since: noon}, refusal, false, noon)
		if pause := at.Sub(noon); choice != limit.Again || pause < top/2 || pause > top {
			t.Errorf("try %d: %v after %s, want %s to %s", tries, choice, pause, top/2, top)
		}
	}
	if choice, _ := p.Next(agent.Retry{Tries: 9, Since: noon.Add(-time.Hour)}, refusal, false, noon); choice != limit.Pause {
		t.Errorf("after an hour: %v", choice)
	}
}
