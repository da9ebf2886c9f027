package discord

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

// poisoned lets the bot choke on what somebody says or does, until it is told
// that it is in vain.
func (r *rig) poisoned(panics bool) (tries *atomic.Int32) {
	tries = &atomic.Int32{}
	r.Answers(func(in bot.Inbound) (bot.Answer, error) {
		said, _ := in.Act.(bot.Said)
		done, _ := in.Act.(bot.Commanded)
		if !strings.Contains(said.Text+done.Text, "poison") {
			return bot.Answer{Run: "r"}, nil
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
			r := listen(t, discordtest.Config{}, nil)
			thread, err := r.StartThread(discordtest.Ann, discordtest.General, r.Mention(discordtest.Ann, discordtest.General, "first"), "work")
			r.must(err)
			r.Hears(1)
			tries := r.poisoned(panics)
			var poison string
			words := r.missed(4, func() {
				poison = r.Mention(discordtest.Ann, thread, "poison")
				r.Mention(discordtest.Ann, thread, "behind it")
				r.Mention(discordtest.Ben, discordtest.General, "another goal")
				r.Mention(discordtest.Ben, discordtest.General, "one more goal")
			})
			if got := strings.Join(words, ", "); got != "another goal, one more goal, poison, behind it" {
				t.Errorf("heard %s", got)
			}
			if n := tries.Load(); n != 5 {
				t.Errorf("it was tried %d times", n)
			}
			r.until("she is told", func() bool {
				for _, m := range r.Messages(thread) {
					if m.ReplyTo == poison && strings.Contains(m.Content+m.Text(), "could not take this in") {
						return true
					}
				}
				return false
			})
		})
	}
}

// A command is not given again by Discord: who typed it is told at once.
func TestAPoisonedCommandIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		r.poisoned(true)
		r.must(r.Slash(discordtest.Ann, discordtest.General, "deckhand status", discordtest.Options{"run": "poison"}))
		if got := r.whisper(discordtest.Ann); !strings.Contains(got, "could not take this in") {
			t.Errorf("told %q", got)
		}
	})
}
