package slack

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// A run may live for days: what is answered in its thread while the bot is away
// is read back however long ago the thread began.
func TestThreadsOfLiveRunsAreReadBackHoweverOld(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]bool{"live": true, "ended": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := func(c *Config) {
				c.CatchUp = time.Nanosecond
				c.Live = func(context.Context) ([]agent.RunID, error) {
					if live {
						return []agent.RunID{"r1"}, nil
					}
					return nil, nil
				}
			}
			r := enter(t, slacktest.Config{}, change)
			r.begin()
			thread := r.Mention(slacktest.Ann, slacktest.General, "", "first")
			r.Mention(slacktest.Ben, slacktest.General, "", "second")
			r.Hears(2)
			r.settled()
			if err := r.Names.SetValue(t.Context(), "thread/"+general(thread).String(), "r1"); err != nil {
				t.Fatal(err)
			}
			r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
			r.stop()
			r.HoldEvents()
			r.Say(slacktest.Ann, slacktest.General, thread, "an answer")
			r.Mention(slacktest.Ben, slacktest.General, "", "last")
			r.open(change, true)
			r.s.in.times.parents = time.Nanosecond // the thread is older than what is looked through
			r.begin()
			want, n := "first, second, last", 3
			if live {
				want, n = "first, second, an answer, last", 4
			}
			if got := wordsOf(t, r.Hears(n)); got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		})
	}
}

// Another replica's mark says nothing about what this one could not write down.
func TestAnotherReplicaDoesNotMoveTheMarkOverAFailure(t *testing.T) {
	t.Parallel()
	r := enter(t, slacktest.Config{Redeliver: []time.Duration{time.Millisecond}, AckWithin: 50 * time.Millisecond, Mentions: slacktest.OnlyAppMention}, nil)
	r.s.in.times.failed = 500 * time.Millisecond
	r.begin()
	r.Mention(slacktest.Ann, slacktest.General, "", "before")
	r.Hears(1)
	r.settled()
	healed := make(chan struct{})
	var refused atomic.Int32
	r.Answers(func(in bot.Inbound) (bot.Answer, error) {
		select {
		case <-healed:
			return bot.Answer{}, nil
		default:
			refused.Add(1)
			return bot.Answer{}, errAway
		}
	})
	r.Mention(slacktest.Ann, slacktest.General, "", "meanwhile")
	r.until("Slack has given up", func() bool { return refused.Load() >= 2 })
	r.s.in.SaveMarks(t.Context(), true)
	far := wire.StampOf(time.Now().Add(time.Second))
	for _, name := range []string{r.s.marksName() + ":" + slacktest.General, r.s.marksName()} {
		if err := r.Names.SetValue(t.Context(), name, far); err != nil {
			t.Fatal(err)
		}
	}
	close(healed)
	if got := wordsOf(t, r.Hears(2)); got != "before, meanwhile" {
		t.Errorf("heard %s", got)
	}
}

// What was heard while the end came is answered before it comes.
func TestTheEndWaitsForAnswersToWhatWasMissed(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
	r.stop()
	r.HoldEvents()
	r.Mention(slacktest.Ann, slacktest.General, "", "second")
	hears, ending := make(chan struct{}), make(chan struct{})
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		close(hears)
		<-ending
		return bot.Answer{Private: "You may not start runs here."}, nil
	})
	r.open(nil, true)
	r.begin()
	<-hears
	over := make(chan struct{})
	go func() { defer close(over); r.stop() }()
	for r.s.Ready() == nil {
		<-time.After(time.Millisecond)
	}
	time.AfterFunc(50*time.Millisecond, func() { close(ending) })
	<-over
	if n := len(r.Ephemerals(slacktest.Ann)); n != 1 {
		t.Errorf("%d private answers", n)
	}
}
