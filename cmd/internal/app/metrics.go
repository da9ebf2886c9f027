package app

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/reach"
)

// meter counts what a serving process does and shows it in Prometheus' text
// format. Several replicas' counts are to be added up.
type meter struct{ set *metrics.Set }

func newMeter(version string) meter {
	m := meter{metrics.NewSet()}
	started := time.Now()
	m.set.NewGauge(series("deckhand_build_info", "version", version)+",go="+strconv.Quote(runtime.Version())+"}", func() float64 { return 1 })
	m.set.NewGauge("deckhand_uptime_seconds", func() float64 { return time.Since(started).Seconds() })
	m.set.NewGauge("deckhand_panics_total", func() float64 { return float64(guard.Caught()) })
	m.set.NewCounter("deckhand_strands_worked_total")
	for _, kind := range append(watchdog.AlertKinds(), scheduleAlert, storeAlert, intake.AlertMessage, reach.AlertPlace, reach.AlertModel) {
		m.alert(kind, 0) // a series that begins at its first alert hides it from rate()
	}
	for _, verdict := range []agent.CheckInVerdict{agent.CheckInContinue, agent.CheckInNudge, agent.CheckInReplan, agent.CheckInEscalate, agent.CheckInStop} {
		m.checkIn(verdict, 0)
	}
	return m
}

// scheduleAlert is the kind of the clock's alerts (recurring.Clock): a turn could not be served.
const scheduleAlert watchdog.AlertKind = "schedule"

// ServeHTTP writes all of it.
func (m meter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.set.WritePrometheus(w)
}

func (m meter) count(name, label, value string, n int) {
	m.set.GetOrCreateCounter(series(name, label, value) + "}").Add(n)
}

// series is the name of a series with its first label.
func series(name, label, value string) string { return name + "{" + label + "=" + strconv.Quote(value) }

func (m meter) alert(kind watchdog.AlertKind, n int) {
	m.count("deckhand_alerts_total", "kind", string(kind), n)
}

func (m meter) checkIn(verdict agent.CheckInVerdict, n int) {
	m.count("deckhand_check_ins_total", "verdict", string(verdict), n)
}

// model counts a model's calls by their purpose, also those that failed.
func (m meter) model(of llm.Model) llm.Model { return meteredModel{of, m} }

type meteredModel struct {
	llm.Model
	meter meter
}

// Complete implements llm.Model.
func (m meteredModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	m.meter.count("deckhand_model_calls_total", "purpose", string(r.Purpose), 1)
	return m.Model.Complete(ctx, r)
}

// store counts the strands that are claimed and the check-ins that are
// committed through it.
func (m meter) store(of agent.Store) agent.Store { return meteredStore{of, m} }

type meteredStore struct {
	agent.Store
	meter meter
}

// Claim implements agent.Store.
func (s meteredStore) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	leases, err := s.Store.Claim(ctx, n, wait, only)
	s.meter.set.GetOrCreateCounter("deckhand_strands_worked_total").Add(len(leases))
	return leases, err
}

// Commit implements agent.Store.
func (s meteredStore) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	receipt, err := s.Store.Commit(ctx, c)
	if err != nil {
		return receipt, err
	}
	for _, e := range c.Events {
		if made, is := e.Body.(agent.CheckInMade); is {
			s.meter.checkIn(made.Verdict, 1)
		}
	}
	return receipt, nil
}
