package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
)

// benchCommands measures how fast slash commands are acknowledged on a local
// Discord that enforces its rate limits, at the pace of benchMentions.
func benchCommands(ctx context.Context, e *environment) ([]row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return nil, err
	}
	far := discordtest.New(discordtest.Config{})
	defer far.Close()
	s := &serving{model: model}
	defer s.stop()
	if err := s.start(ctx, e, "DISCORD_TOKEN="+far.Token, "DISCORD_API_URL="+far.URL()+"/api"); err != nil {
		return nil, err
	}
	<-time.After(3 * time.Second) // idle
	idle := idleRow("serve with Discord connected", s.serve.Process.Pid, 35)
	tick := time.NewTicker(mentionEvery)
	defer tick.Stop()
	var people sync.WaitGroup
	for range mentionCount {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		people.Go(func() {
			// Who gets no answer shows in the figures.
			_ = far.Slash(discordtest.Ann, discordtest.General, "deckhand run", discordtest.Options{"goal": "calculate it all, steps=1"})
		})
	}
	people.Wait()
	var acks []time.Duration
	for _, i := range far.Interactions() {
		if !i.Acked.IsZero() && i.Error == "" {
			acks = append(acks, i.Latency)
		}
	}
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	slow := percentile(acks, 99)
	return []row{
		{name: "serve with Discord connected: ready", value: s.ready.Round(time.Millisecond).String(), aim: "≤ 100 ms", reached: s.ready <= 100*time.Millisecond},
		idle,
		{name: fmt.Sprintf("chat: 20 commands a second for 60 s, acknowledged (%d of %d)", len(acks), mentionCount), value: ms(slow) + " p99, " + ms(percentile(acks, 50)) + " p50",
			baseline: fmt.Sprint("429: ", far.Limited()), aim: "≤ 300 ms p99", reached: slow <= 300*time.Millisecond && len(acks) == mentionCount},
	}, nil
}
