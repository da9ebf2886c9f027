package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// scrape is what /metrics says, by series.
func scrape(t *testing.T, m meter) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", got)
	}
	all := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if ok {
			name += "}"
		} else if name, value, ok = strings.Cut(name, " "); !ok {
			t.Errorf("line %q", line)
		}
		all[name] = value
	}
	return all
}

var errAway = errors.New("the model is away")

type awayModel struct{}

func (awayModel) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, errAway
}

func TestMeterCounts(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	m := newMeter("test")
	before := scrape(t, m)
	for _, series := range []string{`deckhand_alerts_total{kind="lost"}`, `deckhand_alerts_total{kind="schedule"}`, `deckhand_check_ins_total{verdict="stop"}`, "deckhand_strands_worked_total"} {
		if before[series] != "0" {
			t.Errorf("%s is %q at first, want 0", series, before[series])
		}
	}
	m.alert(watchdog.AlertLost, 2)
	if _, err := m.model(awayModel{}).Complete(t.Context(), llm.Request{Purpose: llm.Judge}); !errors.Is(err, errAway) {
		t.Error(err)
	}
	store := m.store(s)
	c := agent.Commit{ID: agent.NewID(), Run: "run", Wake: map[agent.StrandID]time.Time{"task/a": agent.AtOnce, agent.Main: agent.AtOnce},
		Events: []agent.Event{
			{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "terminal"}},
			{Strand: "task/a", Body: agent.CheckInMade{Verdict: agent.CheckInNudge}},
		}}
	if _, err := store.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	refused := c
	refused.ID, refused.Strict = agent.NewID(), true
	if _, err := store.Commit(t.Context(), refused); !errors.Is(err, agent.ErrStale) {
		t.Fatal(err)
	}
	if leases, err := store.Claim(t.Context(), 5, 0, ""); err != nil || len(leases) != 2 {
		t.Fatalf("%+v, %v", leases, err)
	}
	got := scrape(t, m)
	for series, want := range map[string]string{
		`deckhand_alerts_total{kind="lost"}`:          "2",
		`deckhand_alerts_total{kind="stalled"}`:       "0",
		`deckhand_model_calls_total{purpose="judge"}`: "1",
		`deckhand_check_ins_total{verdict="nudge"}`:   "1",
		"deckhand_strands_worked_total":               "2",
	} {
		if got[series] != want {
			t.Errorf("%s is %q, want %s", series, got[series], want)
		}
	}
}
