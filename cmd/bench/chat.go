package main

// This file measures the built program in chat, on Redis and a local Slack:
// how fast mentions are acknowledged and visibly answered, and how long cards
// take to show the end of their runs.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

// The load of the chat benches (the aims name it).
const (
	mentionEvery  = 50 * time.Millisecond // 20 a second
	mentionCount  = 20 * 60
	crowdedRuns   = 200
	crowdChannels = 50
	slowModel     = 3 * time.Second
	mostSteps     = 90 // of a run: more than five minutes of work, and the budget of tokens would ask
)

// office is a local Slack with a serving Deckhand in it.
type office struct {
	serving

	far *slacktest.Server
}

// serving is the built program at work, and its model.
type serving struct {
	model *server
	serve *exec.Cmd
	ready time.Duration // from its start
}

// openOffice starts the built program on Redis against a local Slack that
// enforces its rate limits.
func openOffice(ctx context.Context, e *environment, delay time.Duration) (*office, error) {
	model, err := startModel(delay, 0)
	if err != nil {
		return nil, err
	}
	far := slacktest.New(slacktest.Config{})
	o := &office{far: far, serving: serving{model: model}}
	for i := range crowdChannels {
		far.AddChannel(slacktest.Channel{ID: channel(i), Name: "bench" + strconv.Itoa(i), Members: []string{slacktest.Ann, slacktest.BotUser}})
	}
	if err := o.start(ctx, e, "SLACK_BOT_TOKEN="+far.BotToken, "SLACK_APP_TOKEN="+far.AppToken, "SLACK_API_URL="+far.URL()+"/api/"); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// start runs the built program on Redis until it is ready.
func (s *serving) start(ctx context.Context, e *environment, platform ...string) error {
	s.serve = exec.CommandContext(ctx, e.binary, "serve", "--max-agents", strconv.Itoa(2*crowdedRuns), "--workspace", e.dir, "--data-dir", e.dir)
	s.serve.Env = append(os.Environ(), "DECKHAND_REDIS_URL="+e.redis.url, "OPENAI_BASE_URL="+s.model.url, "DECKHAND_MODEL=bench", "OPENAI_API_KEY=",
		"DECKHAND_HTTP_ADDR=off", "DECKHAND_CONFIG="+os.DevNull)
	s.serve.Env = append(s.serve.Env, platform...)
	began := time.Now()
	stderr, err := s.serve.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.serve.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("deckhand serve did not get ready: %w", err)
		}
		if strings.HasPrefix(line, "ready") {
			s.ready = time.Since(began)
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return nil
		}
	}
}

// stop ends the program and its model.
func (s *serving) stop() {
	if s.serve != nil && s.serve.Process != nil {
		_ = s.serve.Process.Kill()
		_ = s.serve.Wait()
	}
	s.model.stop()
}

func channel(i int) string { return "C" + strconv.Itoa(1000+i%crowdChannels) }

func (o *office) close() {
	o.stop()
	o.far.Close()
}

// benchMentions measures how fast a crowd of mentions is acknowledged and
// answered with something that people see.
func benchMentions(ctx context.Context, e *environment) ([]row, error) {
	o, err := openOffice(ctx, e, 0)
	if err != nil {
		return nil, err
	}
	defer o.close()
	<-time.After(3 * time.Second) // idle
	idle := idleRow("serve with Slack connected", o.serve.Process.Pid, 35)
	said := make(map[string]time.Time, mentionCount)
	tick := time.NewTicker(mentionEvery)
	defer tick.Stop()
	for i := range mentionCount {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		at := time.Now()
		said[o.far.Mention(slacktest.Ann, channel(i), "", "calculate it all, steps=1")] = at
	}
	patience, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	signs := map[string]time.Time{}
	for tick.Reset(time.Second); len(signs) < len(said) && patience.Err() == nil; <-tick.C {
		signs = o.signs()
	}
	acks, seen := o.acks(), waits(said, signs)
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	ack, sign := percentile(acks, 99), percentile(seen, 99)
	return []row{
		{name: "serve with Slack connected: ready", value: o.ready.Round(time.Millisecond).String(), aim: "≤ 100 ms", reached: o.ready <= 100*time.Millisecond},
		idle,
		{name: "chat: 20 mentions a second for 60 s, acknowledged", value: ms(ack) + " p99, " + ms(percentile(acks, 50)) + " p50", aim: "≤ 200 ms p99", reached: ack <= 200*time.Millisecond && len(acks) >= mentionCount},
		{name: "chat: first visible sign (" + strconv.Itoa(len(seen)) + " of " + strconv.Itoa(len(said)) + ")", value: ms(sign) + " p99, " + ms(percentile(seen, 50)) + " p50",
			baseline: fmt.Sprint("429: ", o.far.Limited()), aim: "≤ 500 ms p99", reached: sign <= 500*time.Millisecond && len(seen) == len(said)},
	}, nil
}

// acks are the latencies of all deliveries that were acknowledged.
func (o *office) acks() []time.Duration {
	var list []time.Duration
	for _, d := range o.far.Deliveries() {
		if !d.Acked.IsZero() {
			list = append(list, d.Latency)
		}
	}
	return list
}

// signs is when people first saw something for each thread: a reaction or a post.
func (o *office) signs() map[string]time.Time {
	signs := map[string]time.Time{}
	first := func(ts string, at time.Time) {
		if old, is := signs[ts]; ts != "" && (!is || at.Before(old)) {
			signs[ts] = at
		}
	}
	for _, r := range o.far.Requests() {
		if r.Error != "" || r.Status != 200 {
			continue
		}
		switch r.Method {
		case "reactions.add":
			first(r.Args["timestamp"], r.At)
		case "chat.postMessage":
			first(r.Args["thread_ts"], r.At)
		}
	}
	return signs
}

// waits is how long people waited.
func waits(said, signs map[string]time.Time) []time.Duration {
	var list []time.Duration
	for ts, at := range said {
		if sign, is := signs[ts]; is {
			list = append(list, sign.Sub(at))
		}
	}
	return list
}

func percentile(list []time.Duration, p int) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, len(list)*p/100)]
}

func ms(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// benchCards measures when the cards of many runs show their end. The runs end
// over some minutes: Slack takes 50 edits a minute, so 200 ends in one moment
// take four minutes to be shown, whoever edits.
func benchCards(ctx context.Context, e *environment) ([]row, error) {
	o, err := openOffice(ctx, e, slowModel)
	if err != nil {
		return nil, err
	}
	defer o.close()
	for i := range crowdedRuns { // from 15 s to 5 min of work
		steps := 1 + i*mostSteps/crowdedRuns
		o.far.Mention(slacktest.Ann, channel(i), "", "calculate it all, steps="+strconv.Itoa(steps))
	}
	patience, cancel := context.WithTimeout(ctx, 12*time.Minute)
	defer cancel()
	var lags []time.Duration
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for ; len(lags) < crowdedRuns && patience.Err() == nil; <-tick.C {
		lags = o.lags()
	}
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	slowest := percentile(lags, 100)
	return []row{{
		name:  fmt.Sprintf("chat: card shows the end of its run (%d of %d runs in %d channels)", len(lags), crowdedRuns, crowdChannels),
		value: ms(slowest) + " max, " + ms(percentile(lags, 50)) + " p50", baseline: fmt.Sprint("429: ", o.far.Limited()),
		aim: "≤ 60 s after the report", reached: len(lags) == crowdedRuns && slowest <= time.Minute,
	}}, nil
}

// lags is, for each run whose card folded, how long that took after its report.
func (o *office) lags() []time.Duration {
	reported, folded := map[string]time.Time{}, map[string]time.Time{}
	for _, m := range o.far.FromBot() {
		if m.Metadata == nil {
			continue
		}
		var key struct {
			Run  string `json:"run"`
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(m.Metadata.EventPayload, &key); err != nil {
			continue
		}
		switch {
		case key.Kind == "report":
			reported[key.Run] = m.Posted
		case key.Kind == "card" && strings.HasPrefix(m.Text, "Done") && len(m.Edits) > 0:
			folded[key.Run] = m.Edits[len(m.Edits)-1].At
		}
	}
	var list []time.Duration
	for run, at := range folded {
		if end, is := reported[run]; is {
			list = append(list, max(at.Sub(end), 0))
		}
	}
	return list
}
