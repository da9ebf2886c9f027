package discord

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// missed is what is heard of what happens while the bot is away.
func (r *rig) missed(n int, meanwhile func()) []string {
	r.Helper()
	r.stop()
	before := len(r.Hears(0))
	meanwhile()
	r.open(nil, true)
	r.begin()
	var words []string
	for _, in := range r.Hears(before + n)[before:] {
		words = append(words, saying(r.T, in).Text)
	}
	return words
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// However much was said, all of it is heard, in its order.
func TestLongBacklogsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	const many = 2*ingest.MaxFound + 300 // in a direct conversation everything counts
	for name, where := range map[string]func(r *rig, text string){
		"a conversation": func(r *rig, text string) { r.DM(discordtest.Ann, text) },
		"a channel":      func(r *rig, text string) { r.Mention(discordtest.Ann, discordtest.General, text) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, discordtest.Config{}, nil)
			where(r, "first")
			r.Hears(1)
			words := r.missed(many, func() {
				for i := range many {
					where(r, fmt.Sprintf("%05d", i))
				}
			})
			if !slices.IsSorted(words) || len(slices.Compact(words)) != many {
				t.Errorf("heard %d things, in order %v", len(words), slices.IsSorted(words))
			}
			r.until("all is well", r.d.in.Marks.AllHeard)
		})
	}
}

// A thread is archived when nobody writes in it for a while, the bot's as well:
// what was said before that is read back.
func TestArchivedThreadsAreReadBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse func(r *rig) // what the bot may not list
	}{
		"listed":       {func(*rig) {}},
		"no moderator": {func(r *rig) { r.deny(discordtest.ManageThreads) }},
		"the list is not served": {func(r *rig) {
			r.Fail(discordtest.ListPublicArchived, 1, discordtest.APIError(http.StatusForbidden, discordgo.ErrCodeMissingAccess))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, discordtest.Config{}, nil)
			r.Always(bot.Answer{Run: "r"})
			thread, err := r.StartThread(discordtest.Ann, discordtest.General, r.Mention(discordtest.Ann, discordtest.General, "first"), "work")
			r.must(err)
			r.Hears(1)
			r.must(r.Names.SetValue(t.Context(), threadName(general(thread)), "r"))
			secret := r.secretThread()
			c.refuse(r)
			words := r.missed(3, func() {
				r.Mention(discordtest.Ann, thread, "in the run's thread")
				r.Mention(discordtest.Ann, secret, "in a private one")
				r.must(r.ArchiveThread(thread, false))
				r.must(r.ArchiveThread(secret, false))
				r.Mention(discordtest.Ben, discordtest.General, "last")
			})
			if got := strings.Join(words, ", "); got != "in the run's thread, in a private one, last" {
				t.Errorf("heard %s", got)
			}
		})
	}
}

// All that were archived since are looked through, and none that were before.
func TestOnlyThreadsArchivedSinceAreReadBack(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Mention(discordtest.Ann, discordtest.General, "first")
	r.Hears(1)
	const many = pageSize + 20
	words := r.missed(many, func() {
		for i := range many {
			thread, err := r.StartThread(discordtest.Ann, discordtest.General, "", "people's own")
			r.must(err)
			r.Mention(discordtest.Ann, thread, fmt.Sprintf("%05d", i))
			r.must(r.ArchiveThread(thread, false))
		}
	})
	if !slices.IsSorted(words) || len(slices.Compact(words)) != many {
		t.Errorf("heard %d things", len(words))
	}
}

// deny takes a permission from the bot in the channel.
func (r *rig) deny(bits int64) {
	r.Helper()
	r.must(r.Allow(discordtest.General, discordtest.Overwrite{ID: discordtest.BotUser, Type: 1, Deny: bits}))
}

// secretThread is a private thread that the bot is in.
func (r *rig) secretThread() string {
	r.Helper()
	var c discordgo.Channel
	r.must(r.d.api.Call(r.Context(), http.MethodPost, discordgo.EndpointChannelThreads(discordtest.General), map[string]any{"name": "secret", "type": 12}, &c))
	r.must(r.d.api.Call(r.Context(), http.MethodPut, discordgo.EndpointThreadMember(c.ID, discordtest.Ann), nil, nil))
	return c.ID
}
