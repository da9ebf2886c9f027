package loop_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
)

// moody is a model whose endpoint fails as a test says; nil: it answers.
type moody struct {
	scripted
	mood func(r llm.Request, nth int) *llm.Error

	mu    sync.Mutex
	asked map[string]int // by run and strand
}

func (m *moody) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	m.mu.Lock()
	if m.asked == nil {
		m.asked = map[string]int{}
	}
	m.asked[r.Run+"/"+r.Strand]++
	nth := m.asked[r.Run+"/"+r.Strand]
	m.mu.Unlock()
	if fault := m.mood(r, nth); fault != nil {
		return llm.Response{}, fault
	}
	return m.scripted.Complete(ctx, r)
}

func overloaded() *llm.Error {
	return &llm.Error{Fault: llm.Away, Status: 503, Tries: 1, Reached: true, Plain: "is overloaded (HTTP 503)", Message: "host:1234: overloaded; try again"}
}

func patient(wait time.Duration) func(*loop.Config) {
	return func(c *loop.Config) { c.Patience = limit.Patience{Wait: wait, Longest: 10 * time.Millisecond} }
}

// retries are the questions of the journal that were put again.
func (h *house) retries(run agent.RunID) (list []agent.ModelAnswered) {
	for _, e := range h.journal(run) {
		if a, is := e.Body.(agent.ModelAnswered); is && !a.RetryAt.IsZero() {
			list = append(list, a)
		}
	}
	return list
}

// An endpoint that is away for a while fails nothing and costs nothing.
func TestAnEndpointThatIsAway(t *testing.T) {
	m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(r llm.Request, nth int) *llm.Error {
		if nth%3 != 0 {
			return overloaded()
		}
		return nil
	}}
	h := open(t, m, patient(time.Hour), reads())
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Limits: agent.Limits{Steps: 5}})
	r := h.ended(run)
	if r.Ended.State != agent.RunDone || r.Spent.Steps() != 5 || r.Spent.Prompt != 500 {
		t.Errorf("ended %+v, spent %+v; want done with 5 steps", r.Ended, r.Spent)
	}
	again := h.retries(run)
	if len(again) != 10 {
		t.Fatalf("%d calls were made again, want 10", len(again))
	}
	for _, a := range again {
		if a.Error != "" || a.Cost == nil || *a.Cost != 0 || a.RetryReason != "is overloaded (HTTP 503)" {
			t.Errorf("made again: %+v", a)
		}
	}
	spent, err := h.store.Spent(t.Context(), agent.CounterOf(agent.RunCounter(run), agent.BudgetSteps))
	if err != nil || spent != 5 {
		t.Errorf("%d steps are counted, want 5 (%v)", spent, err)
	}
}

// Who waits for the endpoint holds no worker: with a single one, another run is
// worked meanwhile, and a word ends the one that waits at once.
func TestWaitingForAnEndpointHoldsNoWorker(t *testing.T) {
	var slow agent.RunID
	began := make(chan struct{})
	m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(r llm.Request, nth int) *llm.Error {
		<-began
		if r.Run == string(slow) {
			return &llm.Error{Fault: llm.Away, Status: 503, Reached: true, RetryAfter: time.Hour, Plain: "is overloaded (HTTP 503)"}
		}
		return nil
	}}
	h := open(t, m, func(c *loop.Config) { patient(2 * time.Hour)(c); c.Workers = 1 }, reads())
	slow = h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	close(began)
	r := h.until(slow, "it waits", func(r agent.Run) bool {
		main := r.Strands.Of(agent.Main)
		return main.Deferred()
	})
	if wait := time.Until(r.Strands.Of(agent.Main).Retry.At); wait < 59*time.Minute || r.State() != agent.RunRunning {
		t.Errorf("asked again in %s; the run is %s", wait, r.State())
	}
	if r := h.ended(h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})); r.Ended.State != agent.RunDone {
		t.Errorf("another run ended %+v", r.Ended)
	}
	if err := h.desk.Control(t.Context(), slow, person, agent.RunControlled{Word: agent.WordCancel}); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(slow); r.Ended.State != agent.RunCancelled {
		t.Errorf("cancelled, it ended %+v", r.Ended)
	}
}

// When the patience is over the run pauses with the reason, in words without
// hosts, and goes on when a person resumes it.
func TestPatienceIsOver(t *testing.T) {
	var mu sync.Mutex
	away := true
	m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(llm.Request, int) *llm.Error {
		mu.Lock()
		defer mu.Unlock()
		if away {
			return overloaded()
		}
		return nil
	}}
	h := open(t, m, patient(50*time.Millisecond), reads())
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	r := h.until(run, "it is paused", func(r agent.Run) bool { return r.State() == agent.RunPaused })
	if !strings.Contains(r.Paused, "is overloaded (HTTP 503)") || !strings.Contains(r.Paused, "deckhand doctor") || strings.Contains(r.Paused, "1234") {
		t.Errorf("paused: %q", r.Paused)
	}
	mu.Lock()
	away = false
	mu.Unlock()
	if err := h.desk.Control(t.Context(), run, person, agent.RunControlled{Word: agent.WordResume}); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Errorf("resumed, it ended %+v", r.Ended)
	}
}

// Without patience a call fails when its retries ran out, as before.
func TestNoPatience(t *testing.T) {
	m := &moody{scripted: noter("note"), mood: func(llm.Request, int) *llm.Error { return overloaded() }}
	h := open(t, m, func(c *loop.Config) { c.Patience = limit.Patience{Retries: 2, Longest: time.Millisecond} }, reads())
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	r := h.ended(run)
	if r.Ended.State != agent.RunFailed || !strings.Contains(r.Ended.Reason, "retries ran out (HTTP 503)") || len(h.retries(run)) != 2 {
		t.Errorf("ended %+v after %d retries", r.Ended, len(h.retries(run)))
	}
}

// What a broken answer has cost is paid, and the answer that replaces it, too.
func TestABrokenAnswerIsPaid(t *testing.T) {
	broken := &llm.Error{Fault: llm.Away, Reached: true, Plain: "broke off its answer", Spent: llm.Usage{Prompt: 70, Completion: 7}}
	m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(r llm.Request, nth int) *llm.Error {
		if r.Purpose == llm.Intake && nth == 1 {
			return broken
		}
		return nil
	}}
	h := open(t, m, func(c *loop.Config) {
		patient(time.Hour)(c)
		c.Prices = map[string]cost.Price{"test": {Input: 1_000_000, Output: 1_000_000}}
	}, reads())
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
	r := h.ended(run)
	if r.Ended.State != agent.RunDone || r.Spent.Prompt != 570 || r.Spent.Completion != 57 || r.Spent.Cost != 627 || r.Spent.Calls != 6 {
		t.Errorf("ended %+v, spent %+v", r.Ended, r.Spent)
	}
	if again := h.retries(run); len(again) != 1 || !again[0].Estimated {
		t.Errorf("made again: %+v", again)
	}
}

// limited is a model behind an endpoint's limits.
type limited struct {
	scripted
	endpoint *llmtest.Limited
}

func (l limited) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	reply := l.endpoint.Script(llmtest.Request{Model: r.Model, MaxTokens: r.MaxTokens})
	if reply.Status != 0 {
		return llm.Response{}, &llm.Error{Fault: llm.Limited, Status: reply.Status, Reached: true, RetryAfter: 100 * time.Millisecond, Plain: "takes no more requests for now (HTTP 429)"}
	}
	return l.scripted.Complete(ctx, r)
}

// A crowd of runs keeps to the limit that the configuration tells, and writes
// nothing while it waits; the run of a schedule comes last. How much of the limit
// it uses is measured by make bench.
func TestACrowdKeepsToTheLimit(t *testing.T) {
	const crowd, perSecond = 30, 40
	m := limited{scripted: noter("note", task("a", "note", nil)), endpoint: llmtest.NewLimited(
		llmtest.Limits{Requests: 2 * perSecond, Minute: 2 * time.Second, Silent: true}, func(llmtest.Request) llmtest.Reply { return llmtest.Say("") })}
	h := open(t, m, func(c *loop.Config) { patient(time.Hour)(c); c.Workers, c.RequestsPerMinute = 4, 60*perSecond }, reads())
	var list []agent.RunID
	for range crowd {
		list = append(list, h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever}))
	}
	background := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Tick: &agent.Tick{Schedule: "nightly", At: time.Now()}})
	var ends []time.Time
	calls := 0
	for _, run := range list {
		r := h.ended(run)
		if r.Ended.State != agent.RunDone || len(h.retries(run)) > 0 {
			t.Errorf("ended %+v after %d retries", r.Ended, len(h.retries(run)))
		}
		ends = append(ends, r.Finished)
		calls += r.Spent.Calls
		if n := len(h.journal(run)); n > 30 {
			t.Errorf("%d events in the journal of a run of %d calls", n, r.Spent.Calls)
		}
	}
	r := h.ended(background)
	if later := slices.DeleteFunc(ends, r.Finished.After); r.Ended.State != agent.RunDone || len(later) > crowd/5 {
		t.Errorf("the run of a schedule ended %+v, before %d of the people's %d", r.Ended, len(later), crowd)
	}
	if c := m.endpoint.Count(); c.Limited > 0 || c.Answered < calls {
		t.Errorf("the endpoint counts %+v, the journals %d calls", c, calls)
	}
	at := m.endpoint.Times()
	if rate := float64(len(at)-perSecond) / at[len(at)-1].Sub(at[0]).Seconds(); rate > 1.1*perSecond {
		t.Errorf("%.1f calls a second, the limit is %d", rate, perSecond)
	}
}

// rumours are what is said of models.
type rumours struct {
	mu    sync.Mutex
	heard []string
}

func (o *rumours) say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, text)
}

func (o *rumours) Away(_ context.Context, _, why string, refused bool) {
	o.say(map[bool]string{true: "refused ", false: "away "}[refused] + why)
}
func (o *rumours) Back(context.Context, string) { o.say("back") }

// A key that the endpoint does not take is said at once, in words without hosts;
// the run asks again by itself, and says when.
func TestAKeyThatIsRefused(t *testing.T) {
	const refused = "does not take the key (HTTP 401)"
	for name, patience := range map[string]limit.Patience{
		"asked again": {Wait: time.Hour, Refusals: 10 * time.Millisecond}, "not asked again": {Wait: time.Hour},
		"the patience is over": {Wait: 30 * time.Millisecond, Refusals: 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			mended := false
			m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(_ llm.Request, nth int) *llm.Error {
				mu.Lock()
				defer mu.Unlock()
				if mended || name == "asked again" && nth > 2 {
					return nil
				}
				return &llm.Error{Fault: llm.Unauthorised, Status: 401, Reached: true, Plain: refused, Message: "host:1234: no such key"}
			}}
			o := &rumours{}
			h := open(t, m, func(c *loop.Config) { c.Patience, c.Outages = patience, o }, reads())
			run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
			if name != "asked again" {
				r := h.until(run, "it is paused", func(r agent.Run) bool { return r.State() == agent.RunPaused })
				if r.RefusedWhy != refused || !strings.Contains(r.Refused, "1234") {
					t.Errorf("refused %q: %q", r.RefusedWhy, r.Refused)
				}
				mu.Lock()
				mended = true
				mu.Unlock()
				if err := h.desk.Control(t.Context(), run, person, agent.RunControlled{Word: agent.WordResume}); err != nil {
					t.Fatal(err)
				}
			}
			if r := h.ended(run); r.Ended.State != agent.RunDone || r.RefusedWhy != "" {
				t.Errorf("it ended %+v, refused %q", r.Ended, r.RefusedWhy)
			}
			for _, a := range h.retries(run) {
				if a.Refused || a.Error != "" || a.RetryReason != refused {
					t.Errorf("asked again: %+v", a)
				}
			}
			if again := len(h.retries(run)); (again > 0) == (name == "not asked again") {
				t.Errorf("asked again %d times", again)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.heard[0] != "refused "+refused || o.heard[len(o.heard)-1] != "back" {
				t.Errorf("said is %q", o.heard)
			}
		})
	}
}

// An endpoint that is away is said once that lasts, and a limit never.
func TestAnOutageIsSaidOnceItLasts(t *testing.T) {
	for name, tt := range map[string]struct {
		fault *llm.Error
		wait  time.Duration
		said  bool
	}{
		"over in a moment": {overloaded(), time.Hour, false}, "the patience is over": {overloaded(), 20 * time.Millisecond, true},
		"a limit": {&llm.Error{Fault: llm.Limited, Status: 429, Reached: true, Plain: "takes no more requests for now"}, 20 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &rumours{}
			m := &moody{scripted: noter("note", task("a", "note", nil)), mood: func(_ llm.Request, nth int) *llm.Error {
				if nth > 3 && tt.wait == time.Hour {
					return nil
				}
				return tt.fault
			}}
			h := open(t, m, func(c *loop.Config) { patient(tt.wait)(c); c.Outages = o }, reads())
			run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})
			if tt.wait == time.Hour {
				h.ended(run)
			} else {
				h.until(run, "it is paused", func(r agent.Run) bool { return r.State() == agent.RunPaused })
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if said := slices.Contains(o.heard, "away is overloaded (HTTP 503)"); said != tt.said {
				t.Errorf("said is %q", o.heard)
			}
		})
	}
}
