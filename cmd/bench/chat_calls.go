package main

// This file measures what a run costs a platform: how many messages people get
// and how many calls of its API that takes, one run after the other, so that
// nothing of two runs falls together.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

const (
	calmRuns     = 10
	plainPosts   = 2 // of a run without a question: its card and its report
	calmPatience = 30 * time.Second
)

// benchCalls measures runs of one step, without a question, on both platforms.
func benchCalls(ctx context.Context, e *environment) ([]row, error) {
	slack, err := slackCalls(ctx, e)
	if err != nil {
		return nil, err
	}
	discord, err := discordCalls(ctx, e)
	if err != nil {
		return nil, err
	}
	return []row{slack, discord}, nil
}

func slackCalls(ctx context.Context, e *environment) (row, error) {
	o, err := openOffice(ctx, e, 0)
	if err != nil {
		return row{}, err
	}
	defer o.close()
	begun := len(o.far.Requests())
	for i := range calmRuns {
		o.far.Mention(slacktest.Ann, channel(i), "", "calculate it all, steps=1")
		if !until(ctx, func() bool { return o.shown("report", "Done") > i && o.shown("card", "Done") > i }) {
			break // how many runs there were shows in the row
		}
	}
	var methods []string
	for _, r := range o.far.Requests()[begun:] {
		methods = append(methods, r.Method)
	}
	return callsRow("Slack", o.shown("card", "Done"), len(o.far.FromBot()), methods), wipe(ctx, e)
}

// shown is how many messages of a kind begin with a word.
func (o *office) shown(kind, word string) (n int) {
	for _, m := range o.far.FromBot() {
		if m.Metadata != nil && strings.Contains(string(m.Metadata.EventPayload), `"`+kind+`"`) && strings.HasPrefix(m.Text, word) {
			n++
		}
	}
	return n
}

func discordCalls(ctx context.Context, e *environment) (row, error) {
	model, err := startModel(0, 0)
	if err != nil {
		return row{}, err
	}
	far := discordtest.New(discordtest.Config{})
	defer far.Close()
	s := &serving{model: model}
	defer s.stop()
	if err := s.start(ctx, e, "DISCORD_TOKEN="+far.Token, "DISCORD_API_URL="+far.URL()+"/api"); err != nil {
		return row{}, err
	}
	until(ctx, func() bool { return len(far.Commands("")) > 0 && far.Connections() > 0 })
	begun, over := len(far.Requests()), 0
	for i := range calmRuns {
		far.Mention(discordtest.Ann, discordtest.General, "calculate it all, steps=1")
		ended := func() bool {
			reports, cards := 0, 0
			for _, m := range far.FromBot() {
				switch {
				case strings.HasPrefix(m.Nonce, "r"):
					reports++
				case strings.HasPrefix(m.Nonce, "c") && strings.Contains(m.Text(), "Done"):
					cards++
				}
			}
			return reports > i && cards > i
		}
		if !until(ctx, ended) {
			break
		}
		over++
	}
	var routes []string
	for _, r := range far.Requests()[begun:] {
		routes = append(routes, r.Route)
	}
	return callsRow("Discord", over, len(far.FromBot()), routes), wipe(ctx, e)
}

// until waits until something can be seen, and reports whether it could in time.
func until(ctx context.Context, seen func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, calmPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !seen() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// callsRow is what a run takes, with the most frequent calls.
func callsRow(platform string, runs, posts int, calls []string) row {
	count := map[string]int{}
	for _, c := range calls {
		count[c]++
	}
	often := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	var list []string
	for _, c := range often {
		list = append(list, fmt.Sprintf("%s %.1f", c, float64(count[c])/float64(max(runs, 1))))
	}
	return row{
		name:     fmt.Sprintf("chat: a run on %s without a question (%d of %d ended)", platform, runs, calmRuns),
		value:    fmt.Sprintf("%.1f messages, %.1f calls", float64(posts)/float64(max(runs, 1)), float64(len(calls))/float64(max(runs, 1))),
		baseline: strings.Join(list, ", "), aim: fmt.Sprintf("≤ %d messages", plainPosts), reached: runs == calmRuns && posts <= plainPosts*calmRuns,
	}
}
