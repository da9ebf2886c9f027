package discord

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// Another replica's mark says nothing about what this one could not write down.
func TestAnotherReplicaDoesNotMoveTheMarkOverAFailure(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	r.d.in.times.failed = 500 * time.Millisecond
	r.begin()
	r.Mention(discordtest.Ann, discordtest.General, "before")
	r.Hears(1)
	var away atomic.Bool
	away.Store(true)
	refused := make(chan struct{}, 1)
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		if away.Load() {
			ingest.Signal(refused)
			return bot.Answer{}, errAway
		}
		return bot.Answer{}, nil
	})
	r.Mention(discordtest.Ann, discordtest.General, "meanwhile")
	<-refused
	r.until("the failure is noted", func() bool { return !r.d.in.Marks.AllHeard() })
	far := idText(api.FirstID(time.Now().Add(2 * overlap)))
	for _, name := range []string{r.d.seenName() + ":" + discordtest.Guild, r.d.seenName()} {
		if err := r.Names.SetValue(t.Context(), name, far); err != nil {
			t.Fatal(err)
		}
	}
	away.Store(false)
	if got := saying(t, r.Hears(2)[1]).Text; got != "meanwhile" {
		t.Errorf("heard %q", got)
	}
}

// What could not be heard on the first day is read again, and nothing else:
// nobody knows what was dealt with before.
func TestAFailureAtTheFirstStartReadsNothingElseBack(t *testing.T) {
	t.Parallel()
	now := api.FirstID(time.Now())
	since := ingest.Since{Unheard: map[string]int64{"1": now, areaOf("", "7"): now}}
	list := areasSince([]string{"1", "2"}, since, api.FirstID(time.Now().Add(-time.Hour)))
	if len(list) != 2 || list[0].guild != "1" || list[1].direct != "7" {
		t.Fatalf("read back: %+v", list)
	}
	if at := api.Time(idText(list[0].after)); time.Since(at) > 2*overlap {
		t.Errorf("read back from %s", at)
	}
}

// What an earlier version saved is read by a later one.
func TestMarksKeepTheirForm(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	id := r.Mention(discordtest.Ann, discordtest.General, "first")
	r.Hears(1)
	r.stop()
	seen, err := r.Names.Values(t.Context(), "seen/discord:"+discordtest.BotUser)
	if err != nil || len(seen) != 2 || seen["seen/discord:"+discordtest.BotUser+":"+discordtest.Guild] != id {
		t.Errorf("saved %v, want up to %s, %v", seen, id, err)
	}
	if at := api.Time(seen["seen/discord:"+discordtest.BotUser]); time.Since(at) > time.Minute || time.Until(at) > time.Minute {
		t.Errorf("all was well until %s", at)
	}
}
