package memory_test

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCheck(t *testing.T) {
	lease := agent.Lease{Run: "other-run", Strand: agent.Main}
	own := agent.Lease{Run: "run", Strand: agent.Main}
	event := []agent.Event{{Strand: agent.Main, Body: agent.TimePassed{}}}
	for name, tc := range map[string]struct {
		commit agent.Commit
		good   bool
	}{
		"whole":             {agent.Commit{ID: "a", Run: "run", Lease: &own, Events: event}, true},
		"only a once-key":   {agent.Commit{ID: "a", Once: []string{"message"}}, true},
		"no attempt id":     {agent.Commit{Run: "run", Events: event}, false},
		"events, no run":    {agent.Commit{ID: "a", Events: event}, false},
		"wake, no run":      {agent.Commit{ID: "a", Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}, false},
		"ends, no run":      {agent.Commit{ID: "a", Ends: true}, false},
		"lease of another":  {agent.Commit{ID: "a", Run: "run", Lease: &lease}, false},
		"event, no strand":  {agent.Commit{ID: "a", Run: "run", Events: []agent.Event{{Body: agent.TimePassed{}}}}, false},
		"event, no body":    {agent.Commit{ID: "a", Run: "run", Events: []agent.Event{{Strand: agent.Main}}}, false},
		"sets a name":       {agent.Commit{ID: "a", Set: map[string]string{"thread/a": "run"}}, true},
		"removes a name":    {agent.Commit{ID: "a", Set: map[string]string{"thread/a": ""}}, true},
		"sets no name":      {agent.Commit{ID: "a", Set: map[string]string{"": "run"}}, false},
		"zero byte in name": {agent.Commit{ID: "a", Set: map[string]string{"thread\x00a": "run"}}, false},
		"wakes the unnamed": {agent.Commit{ID: "a", Run: "run", Wake: map[agent.StrandID]time.Time{"": agent.Parked}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := memory.Check(tc.commit)
			if tc.good && err != nil || !tc.good && !errors.Is(err, memory.ErrMalformed) {
				t.Errorf("Check = %v, want good: %v", err, tc.good)
			}
		})
	}
}

func TestNames(t *testing.T) {
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // printf hello | sha256sum
	if got := memory.BlobHash([]byte("hello")); got != sum {
		t.Errorf("BlobHash = %s, want %s", got, sum)
	}
	if got := memory.RunCounters("abc"); got != "run/abc/" {
		t.Errorf("RunCounters = %q", got)
	}
}
