package slack

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/bot"
)

// poisoned lets the bot choke on what somebody says, until it is told that it is
// in vain.
func (r *rig) poisoned(panics bool) (tries *atomic.Int32) {
	tries = &atomic.Int32{}
	r.Answers(func(in bot.Inbound) (bot.Answer, error) {
		s, is := in.Act.(bot.Said)
		if !is || !strings.Contains(s.Text, "poison") {
			return bot.Answer{}, nil
		}
		if cause := in.InVain; cause != nil {
			return bot.Answer{Private: fmt.Sprint("I could not take this in: ", cause)}, nil
		}
		tries.Add(1)
		if panics {
			panic("poison")
		}
		return bot.Answer{}, errAway
	})
	return tries
}

// One message that cannot be taken in holds back its own thread and nobody
// else, over a restart as well; it is answered in words, and its thread goes on.
func TestAPoisonedMessageHoldsBackNobodyElse(t *testing.T) {
	t.Parallel()
	for name, panics := range map[string]bool{"an error": false, "a panic": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, slacktest.Config{}, nil)
			thread := r.Mention(slacktest.Ann, slacktest.General, "", "first")
			r.Hears(1)
			r.settled()
			if err := r.Names.SetValue(t.Context(), "thread/"+general(thread).String(), "r1"); err != nil {
				t.Fatal(err)
			}
			tries := r.poisoned(panics)
			r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
			r.stop()
			r.HoldEvents()
			r.Say(slacktest.Ann, slacktest.General, thread, "poison")
			r.Say(slacktest.Ann, slacktest.General, thread, "behind it")
			r.Mention(slacktest.Ben, slacktest.General, "", "another goal")
			r.DM(slacktest.Ben, "a direct one")
			r.open(nil, true)
			r.s.in.times.failed = 10 * time.Millisecond
			r.begin()
			if got := wordsOf(t, r.Hears(3)[:3]); got != "first, another goal, a direct one" {
				t.Errorf("heard %s", got)
			}
			if got := wordsOf(t, r.Hears(5)); got != "first, another goal, a direct one, poison, behind it" {
				t.Errorf("heard %s", got)
			}
			if n := tries.Load(); n != 5 {
				t.Errorf("it was tried %d times", n)
			}
			r.until("she is told", func() bool { return len(r.Ephemerals(slacktest.Ann)) == 1 })
			if n := len(r.Ephemerals(slacktest.Ben)); n != 0 {
				t.Errorf("he is told %d things", n)
			}
			r.until("all is well again", r.s.in.Marks.AllHeard)
		})
	}
}

// A click that the bot chokes on is answered in words, too, and later ones are
// heard.
func TestPanicsOfLiveEventsCostOneEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		world.Redeliver = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond}
		r := enter(t, world, nil)
		r.s.in.times.failed = 10 * time.Millisecond
		r.poisoned(true)
		r.begin()
		r.Mention(slacktest.Ann, slacktest.General, "", "poison")
		r.Mention(slacktest.Ben, slacktest.General, "", "fine")
		r.Hears(2)
		r.until("she is told", func() bool { return len(r.Ephemerals(slacktest.Ann)) == 1 })
	})
}
