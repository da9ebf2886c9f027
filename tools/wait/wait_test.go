package wait_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWait(t *testing.T) {
	for _, c := range []struct {
		args     string
		deferred int
		again    time.Duration
		text     string
	}{
		{`{"seconds":90}`, 0, 90 * time.Second, ""},
		{`{"seconds":90}`, 1, 0, "waited 90 s"},
		{`{"seconds":90}`, 2, 0, "waited 90 s"},
		{`{"seconds":0.25}`, 0, 250 * time.Millisecond, ""},
		{`{"seconds":0.25}`, 1, 0, "waited 0.25 s"},
		{`{"seconds":3600}`, 0, time.Hour, ""},
		{`{"seconds":0}`, 0, 0, "waited 0 s"},
	} {
		start := time.Now()
		r := wait.Tool{}.Run(t.Context(), agent.Call{Arguments: json.RawMessage(c.args), Deferred: c.deferred})
		if r.State != agent.OutcomeOK || r.Again != c.again || r.Text != c.text {
			t.Errorf("%s, deferred %d: %+v", c.args, c.deferred, r)
		}
		if time.Since(start) > 20*time.Second {
			t.Errorf("%s slept", c.args)
		}
	}
}

func TestRefused(t *testing.T) {
	b, err := tools.New(wait.Tool{})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"seconds":3601}`:   "at most 3600",
		`{"seconds":-1}`:     "at least 0",
		`{"seconds":"soon"}`: "must be a number",
		`{}`:                 "`seconds` is missing",
	} {
		if err := b.Check("wait", json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range []string{`{"seconds":3601}`, `{"seconds":-1}`, `{"seconds":"soon"}`} {
		r := wait.Tool{}.Run(t.Context(), agent.Call{Arguments: json.RawMessage(args)})
		if r.State != agent.OutcomeError || r.Again != 0 {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
