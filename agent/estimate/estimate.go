package estimate

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

// Price is what a model's tokens cost, in billionths of a dollar per million
// tokens.
type Price struct{ Input, Cached, Output agent.Nano }

// Options are what an estimate knows beside the plan and the basis.
type Options struct {
	// Slots is how many tasks are at work at once.
	Slots int
	// Price is the main model's and PriceFast the fast one's, nil: not known.
	Price, PriceFast *Price
	// Fast says which tasks the fast model works; nil: none.
	Fast func(t agent.Task) bool
}

// Money is an amount with what it is at best and at worst.
type Money struct {
	Low    agent.Nano `json:"low"`
	Likely agent.Nano `json:"likely"`
	High   agent.Nano `json:"high"`
}

// Estimate is what a run will probably take. Times are in seconds: Time is what
// passes from the start to the report when nobody has to be waited for, Model and
// Compute are the sums over all tasks of what the model and the tools work.
type Estimate struct {
	Tasks      Range  `json:"tasks"`
	Calls      Range  `json:"calls"`
	Prompt     Range  `json:"prompt_tokens"`
	Completion Range  `json:"completion_tokens"`
	Tokens     Range  `json:"tokens"`
	Cost       *Money `json:"cost_usd"` // null: a price is not known
	Time       Range  `json:"time"`
	Model      Range  `json:"model_time"`
	Compute    Range  `json:"compute_time"`
	// Critical is the chain of tasks that decides the time, nil without a plan.
	Critical []agent.TaskID `json:"critical_path"`
	Slots    int            `json:"slots"`
}

// Of estimates a run of the plan. Time follows from the plan's graph and the
// slots; where a task states no effort, it counts as a minute's.
func Of(p agent.Plan, b Basis, o Options) Estimate {
	o.Slots = max(o.Slots, 1)
	n := float64(len(p.Tasks))
	e := Estimate{Tasks: Range{n, n, n}, Slots: o.Slots, Critical: plan.Critical(p, nil).Tasks}
	cost := pricing{o: o, b: b}
	for _, t := range p.Tasks {
		calls := b.Calls
		if t.Check != nil { // it stands in for the judge
			calls = Range{max(1, calls.Low-1), max(1, calls.Likely-1), max(1, calls.High-1)}
		}
		e.calls(calls, b)
		cost.add(calls, o.Fast != nil && o.Fast(t))
		e.Compute = e.Compute.plus(b.Compute)
	}
	e.finish(b, &cost)
	for _, pace := range []struct{ seconds, to *float64 }{
		{&b.Pace.Low, &e.Time.Low}, {&b.Pace.Likely, &e.Time.Likely}, {&b.Pace.High, &e.Time.High},
	} {
		*pace.to += Span(p, o.Slots) * *pace.seconds
	}
	return e
}

// OfGoal estimates a goal that has no plan yet: as many tasks as such runs had,
// half of which wait for another one.
func OfGoal(b Basis, o Options) Estimate {
	o.Slots = max(o.Slots, 1)
	e := Estimate{Tasks: b.Tasks, Slots: o.Slots}
	cost := pricing{o: o, b: b}
	calls := b.Calls.by(b.Tasks)
	e.calls(calls, b)
	cost.add(calls, false)
	e.Compute = b.Compute.by(b.Tasks)
	e.finish(b, &cost)
	work := calls.by(b.Model).plus(e.Compute)
	e.Time = e.Time.plus(Range{work.Low / float64(o.Slots), work.Likely / 2, work.High})
	return e
}

// calls adds model calls with their tokens and the model's time.
func (e *Estimate) calls(calls Range, b Basis) {
	e.Calls = e.Calls.plus(calls)
	e.Prompt, e.Completion = e.Prompt.plus(calls.by(b.Prompt)), e.Completion.plus(calls.by(b.Completion))
	e.Model = e.Model.plus(calls.by(b.Model))
}

// finish adds what is no task's.
func (e *Estimate) finish(b Basis, cost *pricing) {
	e.calls(b.Around, b)
	cost.add(b.Around, false)
	e.Time = b.Around.by(b.Model)
	e.Tokens = e.Prompt.plus(e.Completion)
	e.Cost = cost.money()
}

// pricing sums up what calls cost.
type pricing struct {
	o       Options
	b       Basis
	sum     Range // billionths of a dollar
	unknown bool
}

func (c *pricing) add(calls Range, fast bool) {
	p := c.o.Price
	if fast {
		p = c.o.PriceFast
	}
	if p == nil {
		c.unknown = true
		return
	}
	input := float64(p.Input)*(1-c.b.Cached) + float64(p.Cached)*c.b.Cached
	one := c.b.Prompt.times(input).plus(c.b.Completion.times(float64(p.Output))).times(1e-6)
	c.sum = c.sum.plus(calls.by(one))
}

func (c *pricing) money() *Money {
	if c.unknown {
		return nil
	}
	return &Money{agent.Nano(c.sum.Low), agent.Nano(c.sum.Likely), agent.Nano(math.Ceil(c.sum.High))}
}

// Span is how many minutes of effort pass from the first task's start to the last
// one's end when so many are at work at once and each that may start does, the
// most important first. A plan with a cycle, which no run works, has that of its
// other tasks.
func Span(p agent.Plan, slots int) float64 {
	effort := make(map[agent.TaskID]float64, len(p.Tasks))
	for _, t := range plan.Critical(p, nil).Timing {
		effort[t.Task] = t.Finish - t.Start
	}
	states := make(map[agent.TaskID]agent.TaskState, len(p.Tasks))
	ends := map[agent.TaskID]float64{}
	for now := 0.0; ; {
		for _, id := range plan.Ready(p, states) {
			if len(ends) == slots {
				break
			}
			states[id], ends[id] = agent.TaskRunning, now+effort[id]
		}
		if len(ends) == 0 {
			return now
		}
		now = math.Inf(1)
		for _, end := range ends {
			now = min(now, end)
		}
		for id, end := range ends {
			if end <= now {
				states[id] = agent.TaskDone
				delete(ends, id)
			}
		}
	}
}

// Line is the estimate in one line.
func (e *Estimate) Line() string {
	parts := []string{"about " + format.Count(int(math.Round(e.Calls.Likely)), "model call"), short(e.Tokens.Low) + " to " + short(e.Tokens.High) + " tokens"}
	if e.Cost != nil {
		parts = append(parts, format.Money(e.Cost.Low)+" to "+format.Money(e.Cost.High))
	}
	return strings.Join(append(parts, Duration(e.Time.Low)+" to "+Duration(e.Time.High)), ", ")
}

// Duration is seconds as people read them.
func Duration(seconds float64) string {
	if seconds > 1e9 || math.IsNaN(seconds) {
		return "more than 30 years"
	}
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// short is a number of tokens with two digits or so.
func short(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0fk", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
