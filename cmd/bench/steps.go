package main

import (
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// benchStep compares the processor time of a step, durable on Redis with 500
// runs at once, with the bare loop's. Both ways of reading an answer are shown:
// streamed is the default of the product.
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
	raw, err := bare(ctx, e, model.url, l)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, stream := range []bool{false, true} {
		l.stream = stream
		c, err := engine(ctx, e, model.url, l)
		if err != nil {
			return nil, err
		}
		name := "CPU a step, 500 runs, plain answers"
		if stream {
			name = "CPU a step, 500 runs, streamed answers"
		}
		ratio := float64(c.cpu) / float64(raw.cpu)
		rows = append(rows, row{name: name, value: each(c.cpu, l), baseline: each(raw.cpu, l),
			ratio: fmt.Sprintf("%.2f×", ratio), aim: "≤ 2.5×", reached: ratio <= 2.5 && c.ended[agent.RunDone] == l.runs})
	}
	return rows, nil
}

func each(d time.Duration, l load) string {
	return (d / time.Duration(l.calls())).Round(time.Microsecond).String()
}

// benchLength compares the cost of a step in long and in short runs.
func benchLength(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	defer model.stop()
	// As many at once in both: a thread that goes to sleep costs more than a step.
	short, long := load{runs: 170, steps: 10, workers: 12}, load{runs: 12, steps: 200, workers: 12}
	costs := map[bool]cost{}
	raws := map[bool]cost{}
	for _, is := range []bool{false, true} {
		l := short
		if is {
			l = long
		}
		if raws[is], err = bare(ctx, e, model.url, l); err != nil {
			return nil, err
		}
		if costs[is], err = engine(ctx, e, model.url, l); err != nil {
			return nil, err
		}
	}
	ratio := perCall(costs[true].cpu, long) / perCall(costs[false].cpu, short)
	rawRatio := perCall(raws[true].cpu, long) / perCall(raws[false].cpu, short)
	return []row{{name: "CPU a step, 200-step runs over 10-step runs", value: each(costs[true].cpu, long), baseline: each(costs[false].cpu, short),
		ratio: fmt.Sprintf("%.2f× (bare loop: %.2f×)", ratio, rawRatio), aim: "≤ 1.2×", reached: ratio <= 1.2}}, nil
}

func perCall(d time.Duration, l load) float64 { return float64(d) / float64(l.calls()) }

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
	memory := float64(c.memory) / float64(l.runs) / 1024
	return []row{
		{name: "steps/s, 2,000 runs, model of 200 ms", value: fmt.Sprintf("%.0f/s", speed), baseline: fmt.Sprintf("%.0f/s", base),
			ratio: fmt.Sprintf("%.2f×", speed/base), aim: "≥ 0.75×", reached: speed >= 0.75*base && c.ended[agent.RunDone] == l.runs},
		{name: "memory a run, 2,000 at once", value: fmt.Sprintf("%.0f KB", memory), baseline: fmt.Sprintf("%.0f KB", float64(raw.memory)/float64(l.runs)/1024),
			aim: "≤ 150 KB", reached: memory <= 150},
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
