package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// benchStep compares the processor time of a step, durable and with 500 runs at
// once, with the bare loop's. Both ways of reading an answer are shown: streamed
// is the default of the product.
func benchStep(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	l := load{runs: 500, steps: 10, workers: 500}
	if _, err := bare(ctx, e, model.url, load{runs: 50, steps: 5}); err != nil { // warms up both sides
		return nil, err
	}
	streamed, embedded := l, l
	streamed.stream, embedded.stream, embedded.embedded = true, true, true
	var rows []row
	for _, b := range []struct {
		name string
		load load
		aim  float64
	}{
		{"CPU a step, 500 runs, plain answers", l, 1.3},
		{"CPU a step, 500 runs, streamed answers", streamed, 1.3},
		{"CPU a step, 500 runs, streamed answers, SQLite", embedded, 2},
	} {
		r, err := beside(ctx, e, model, b.name, b.load, b.aim)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// beside compares the load with a bare loop that makes the same calls, before
// and after it: other work on the machine falls on both.
func beside(ctx context.Context, e *environment, model *server, name string, l load, aim float64) (row, error) {
	before, err := bare(ctx, e, model.url, l)
	if err != nil {
		return row{}, err
	}
	c, err := engine(ctx, e, model.url, l)
	if err != nil {
		return row{}, err
	}
	after, err := bare(ctx, e, model.url, l)
	if err != nil {
		return row{}, err
	}
	raw := (before.cpu + after.cpu) / 2
	ratio := float64(c.cpu) / float64(raw)
	return row{name: name, value: each(c.cpu, l), baseline: each(raw, l), ratio: fmt.Sprintf("%.2f×", ratio),
		aim: fmt.Sprintf("≤ %.1f×", aim), reached: ratio <= aim && c.ended[agent.RunDone] == l.runs}, wipe(ctx, e)
}

func each(d time.Duration, l load) string {
	return (d / time.Duration(l.calls())).Round(time.Microsecond).String()
}

func perCall(d time.Duration, l load) float64 { return float64(d) / float64(l.calls()) }

// benchPrompt is benchStep with all tools of the product on offer, as its
// requests have them.
func benchPrompt(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	r, err := beside(ctx, e, model, "CPU a step, the whole prompt of the product, 300 runs", load{runs: 300, steps: 10, workers: 300, stream: true, whole: true}, 1.3)
	return []row{r}, err
}

// ages are the steps of a run between which its cost is compared.
const ageYoung, ageStep, ageOld = 50, 50, 150

// benchAge compares what the steps 150 to 200 of runs cost with their steps 50
// to 100. The runs go side by side.
func benchAge(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	ratio := func(work func(context.Context, *environment, string, load) (cost, error)) (young, old time.Duration, err error) {
		l := load{runs: 12, steps: 200, workers: 12, stream: true}
		var answers atomic.Int64
		at := map[int]time.Duration{} // processor time when the runs came to a step
		var mu sync.Mutex
		l.watch = func() {
			n := int(answers.Add(1))
			if step := n / l.runs; n%l.runs == 0 && step%ageStep == 0 {
				mu.Lock()
				defer mu.Unlock()
				at[step] = cpu()
			}
		}
		_, err = work(ctx, e, model.url, l)
		return (at[ageYoung+ageStep] - at[ageYoung]) / ageStep, (at[ageOld+ageStep] - at[ageOld]) / ageStep, err
	}
	rawYoung, rawOld, err := ratio(bare)
	if err != nil {
		return nil, err
	}
	young, old, err := ratio(engine)
	if err != nil {
		return nil, err
	}
	aged := float64(old) / float64(young)
	return []row{{name: "CPU a step, steps 150–200 over steps 50–100", value: (old / 12).Round(time.Microsecond).String(), baseline: (young / 12).Round(time.Microsecond).String(),
		ratio: fmt.Sprintf("%.2f× (bare loop: %.2f×)", aged, float64(rawOld)/float64(rawYoung)), aim: "≤ 1.2×", reached: aged <= 1.2}}, wipe(ctx, e)
}

// benchTasks compares the cost of a step in plans of 64 tasks side by side with
// that in plans of 4.
func benchTasks(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	wide, narrow := load{runs: 8, tasks: 64, steps: 5, workers: 256, stream: true}, load{runs: 104, tasks: 4, steps: 5, workers: 256, stream: true}
	return compared(ctx, e, model, "CPU a step, plans of 64 tasks over plans of 4", wide, narrow, 1.3)
}

// benchReplicas compares what a goal costs with five replicas with what it costs
// with one, of as many workers. The replicas share this process, and nothing else.
func benchReplicas(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	one := load{runs: 1000, steps: 3, workers: 500, stream: true}
	five := one
	five.replicas, five.workers = 5, one.workers/5
	return compared(ctx, e, model, "CPU a step, 1,000 goals on 5 replicas over 1", five, one, 1.2)
}

// compared compares the processor time of a step of two loads; the other's is
// measured before and after.
func compared(ctx context.Context, e *environment, model *server, name string, l, other load, aim float64) ([]row, error) {
	var raw float64
	var c cost
	bad := 0 // runs that did not end well
	for i, one := range []load{other, l, other} {
		got, err := engine(ctx, e, model.url, one)
		if err != nil {
			return nil, err
		}
		bad += one.runs - got.ended[agent.RunDone]
		if i == 1 {
			c = got
			continue
		}
		raw += perCall(got.cpu, one) / 2
	}
	ratio := perCall(c.cpu, l) / raw
	return []row{{name: name, value: each(c.cpu, l), baseline: time.Duration(raw).Round(time.Microsecond).String(), ratio: fmt.Sprintf("%.2f×", ratio),
		aim: fmt.Sprintf("≤ %.1f×, %d failed", aim, bad), reached: ratio <= aim && bad == 0}}, nil
}

// benchSlow compares calls of 5 s with calls that are answered at once: what
// they cost while they wait, in processor time and in writes.
func benchSlow(ctx context.Context, e *environment) ([]row, error) {
	l := load{runs: 1000, steps: 1, workers: 1000, stream: true}
	var cpus, writes [2]float64 // a call: at once, slow
	for i, delay := range []time.Duration{0, 5 * time.Second} {
		model, err := startModel(delay, 0)
		if err != nil {
			return nil, err
		}
		before, err := runWrites(ctx, e)
		if err != nil {
			return nil, err
		}
		c, err := engine(ctx, e, model.url, l)
		model.stop()
		if err != nil {
			return nil, err
		}
		after, err := runWrites(ctx, e)
		if err != nil {
			return nil, err
		}
		cpus[i], writes[i] = perCall(c.cpu, l), (after-before)/float64(l.calls())
	}
	more := cpus[1] / cpus[0]
	return []row{
		{name: "writes to a run's hash a call, a model of 5 s", value: fmt.Sprintf("%.2f", writes[1]), baseline: fmt.Sprintf("%.2f, answered at once", writes[0]),
			ratio: fmt.Sprintf("%+.2f", writes[1]-writes[0]), aim: "no more", reached: writes[1] <= writes[0]*1.02},
		{name: "CPU a call, a model of 5 s", value: time.Duration(cpus[1]).Round(time.Microsecond).String(), baseline: time.Duration(cpus[0]).Round(time.Microsecond).String() + ", answered at once",
			ratio: fmt.Sprintf("%.2f×", more), aim: "≤ 2×", reached: more <= 2},
	}, nil
}

// runWrites is how often the hash of a run was written: with every commit and
// claim, while extensions of leases, which come every second for all at once,
// leave it alone.
func runWrites(ctx context.Context, e *environment) (float64, error) {
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return 0, err
	}
	c := goredis.NewClient(opts)
	defer c.Close()
	info, err := c.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	n := 0
	if _, counts, is := strings.Cut(info, "cmdstat_hset:calls="); is {
		if _, err := fmt.Sscanf(counts, "%d", &n); err != nil {
			return 0, fmt.Errorf("the server's count of writes: %w", err)
		}
	}
	return float64(n), nil
}

// benchCrowd runs 2,000 runs at once against a model that takes 200 ms.
func benchCrowd(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(200*time.Millisecond, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	l := load{runs: 2000, steps: 5, workers: 2000, stream: true}
	raw, err := bare(ctx, e, model.url, l)
	if err != nil {
		return nil, err
	}
	c, err := engine(ctx, e, model.url, l)
	if err != nil {
		return nil, err
	}
	speed, base := float64(l.calls())/c.wall.Seconds(), float64(l.calls())/raw.wall.Seconds()
	kilobytes := func(bytes uint64) float64 { return float64(bytes) / float64(l.runs) / 1024 }
	memory := kilobytes(c.memory.resident)
	return []row{
		{name: "steps/s, 2,000 runs, model of 200 ms", value: fmt.Sprintf("%.0f/s", speed), baseline: fmt.Sprintf("%.0f/s", base),
			ratio: fmt.Sprintf("%.2f×", speed/base), aim: "≥ 0.75×", reached: speed >= 0.75*base && c.ended[agent.RunDone] == l.runs},
		{name: "memory a run, 2,000 at once", value: fmt.Sprintf("%.0f KB, of it %.0f alive and %.0f of stacks", memory, kilobytes(c.memory.live), kilobytes(c.memory.stacks)),
			baseline: fmt.Sprintf("%.0f KB, of it %.0f and %.0f", kilobytes(raw.memory.resident), kilobytes(raw.memory.live), kilobytes(raw.memory.stacks)),
			aim:      "≤ 120 KB", reached: memory <= 120},
	}, nil
}

// benchFaults runs 100 runs against a model that spoils 2 % of its answers in
// each of three ways.
func benchFaults(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 2)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	l := load{runs: 100, steps: 10, workers: 100, stream: true}
	c, err := engine(ctx, e, model.url, l)
	if err != nil {
		return nil, err
	}
	return []row{{name: "runs done, 2 % each of 500s, bad arguments, cut answers", value: fmt.Sprintf("%d of %d", c.ended[agent.RunDone], l.runs),
		aim: "100 of 100", reached: c.ended[agent.RunDone] == l.runs}}, nil
}
