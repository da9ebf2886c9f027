package slack

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// away lets the bot go, and come back as another process after something happened.
func (r *rig) away(socket bool, meanwhile func()) {
	r.Helper()
	r.until("it was here", func() bool { v, err := r.Names.Value(r.Context(), "seen/slack:T1"); return err == nil && v != "" })
	r.stop()
	r.HoldEvents() // as if Slack had given up
	meanwhile()
	r.open(nil, socket)
	r.begin()
}

func wordsOf(t *testing.T, heard []bot.Inbound) string {
	t.Helper()
	var list []string
	for _, in := range heard {
		list = append(list, said(t, in).Text)
	}
	return strings.Join(list, ", ")
}

func TestWhatWasMissedIsHeardInItsOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world slacktest.Config) {
		r := listen(t, world, nil)
		thread := r.Mention(slacktest.Ann, slacktest.General, "", "first")
		r.Hears(1)
		r.settled()
		if err := r.Names.SetValue(t.Context(), "thread/"+general(thread).String(), "r1"); err != nil {
			t.Fatal(err)
		}
		r.away(world.Deliver == "", func() {
			r.Say(slacktest.Ann, slacktest.General, "", "chatter")
			r.Say(slacktest.Ann, slacktest.General, thread, "second")
			r.DM(slacktest.Ben, "third")
			r.Mention(slacktest.Ben, slacktest.General, "", "fourth")
			r.Say(slacktest.Ben, slacktest.General, thread, "fifth")
		})
		heard := r.Hears(5)
		if got := wordsOf(t, heard); got != "first, second, third, fourth, fifth" {
			t.Errorf("heard %s", got)
		}
		if heard[0].Missed || !heard[1].Missed || !said(t, heard[2]).Direct || heard[4].Where != general(thread) {
			t.Errorf("%+v", heard)
		}
		r.ReleaseEvents(false) // and now Slack delivers it after all
		r.settled()
		if n := len(r.Hears(5)); n != 5 {
			t.Errorf("heard %d things, want 5", n)
		}
	})
}

func TestTheFirstStartCatchesNothingUp(t *testing.T) {
	t.Parallel()
	w := slacktest.New(slacktest.Config{})
	t.Cleanup(w.Close)
	w.Mention(slacktest.Ann, slacktest.General, "", "long ago")
	r := &rig{T: t, Server: w, Recorder: adaptertest.NewRecorder(t)}
	r.HoldEvents()
	r.open(nil, true)
	r.begin()
	r.ReleaseEvents(false)
	r.Mention(slacktest.Ann, slacktest.General, "", "now")
	r.Hears(1)
	if n := w.Count("conversations.history"); n != 0 {
		t.Errorf("the history was read %d times", n)
	}
}

func TestWhatCouldNotBeHeardIsCaughtUp(t *testing.T) {
	t.Parallel()
	r := enter(t, slacktest.Config{Redeliver: []time.Duration{time.Millisecond}, AckWithin: 50 * time.Millisecond, Mentions: slacktest.OnlyAppMention}, nil)
	r.s.in.times.failed = 10 * time.Millisecond
	r.begin()
	r.Mention(slacktest.Ann, slacktest.General, "", "before")
	r.Hears(1)
	var away atomic.Bool
	away.Store(true)
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		if away.Load() {
			return bot.Answer{}, errAway
		}
		return bot.Answer{}, nil
	})
	ts := r.Mention(slacktest.Ann, slacktest.General, "", "meanwhile")
	r.until("Slack has given up", func() bool {
		n := 0
		for _, d := range r.Deliveries() {
			if d.Error != "" || d.Acked.IsZero() && d.Attempt > 0 {
				n++
			}
		}
		return n >= 1
	})
	if r.s.in.Marks.AllHeard() {
		t.Error("all is well although a message is lost")
	}
	r.s.in.SaveMarks(t.Context(), true)
	seen, err := r.Names.Value(t.Context(), "seen/slack:T1:"+slacktest.General)
	if err != nil || seen == "" || seen >= ts {
		t.Errorf("the mark %q passed what was not written down at %s", seen, ts)
	}
	away.Store(false)
	if got := wordsOf(t, r.Hears(2)); got != "before, meanwhile" {
		t.Errorf("heard %s", got)
	}
}

func TestChannelsThatCannotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	r.away(true, func() {
		r.Mention(slacktest.Ann, slacktest.General, "", "second")
		r.Fail("users.conversations", 1, slacktest.APIError("missing_scope"))
		r.Fail("conversations.history", 1, slacktest.Unavailable())
		r.Fail("conversations.history", 1, slacktest.RateLimited(time.Second))
	})
	if got := wordsOf(t, r.Hears(2)); got != "first, second" {
		t.Errorf("heard %s", got)
	}
	if !strings.Contains(r.Log.String(), "does not list the bot's channels") {
		t.Error(errors.New("nothing was logged of the missing scope"), r.Log)
	}
}

// What an earlier version saved is read by a later one.
func TestMarksKeepTheirForm(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	ts := r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	r.stop()
	seen, err := r.Names.Values(t.Context(), "seen/slack:T1")
	if err != nil || len(seen) != 2 || seen["seen/slack:T1:"+slacktest.General] != ts {
		t.Errorf("saved %v, want up to %s, %v", seen, ts, err)
	}
	if at := wire.TimeOf(seen["seen/slack:T1"]); time.Since(at) > time.Minute || time.Until(at) > time.Minute {
		t.Errorf("all was well until %s", at)
	}
}
