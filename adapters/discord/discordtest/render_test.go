package discordtest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
)

func TestRender(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Off: true}})
	d := client(t, s)
	id := s.Mention(Ann, General, "tidy up")
	_, err := d.MessageThreadStart(General, id, "tidy up", 1440)
	ok(t, err)
	m, err := post(d, id, v2(obj{"type": typeContainer, "components": []obj{{"type": typeText, "content": "**Plan** for <@" + Ann + ">"}, {"type": typeSeparator}, buttons(2)}}))
	ok(t, err)
	ok(t, d.MessageReactionAdd(General, id, "👀"))
	_, err = d.ChannelMessageSendComplex(id, &discordgo.MessageSend{Embeds: []*discordgo.MessageEmbed{{Title: "Report", Description: "two\nlines"}},
		Reference: &discordgo.MessageReference{MessageID: m.ID}, Files: []*discordgo.File{{Name: "R.md", Reader: strings.NewReader("x")}}})
	ok(t, err)
	var b strings.Builder
	ok(t, s.Render(&b, General))
	ok(t, s.Render(&b, id))
	got := regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(b.String(), "hh:mm:ss")
	want := `#general

hh:mm:ss  Ann
  @deckhand tidy up
  👀 1
  ↳ thread: tidy up (2 messages)
thread: tidy up

hh:mm:ss  deckhand
  ┃ **Plan** for @Ann
  ┃ ────────
  ┃ [B] [B]

hh:mm:ss  deckhand
  ↱ deckhand: **Plan** for @Ann
  │ Report
  │ two
  │ lines
  📎 R.md (1 byte)
`
	if got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestChaosStaysTrue(t *testing.T) {
	t.Parallel() // the library takes a second to close
	s := open(t, Config{Limits: Limits{Off: true}, Chaos: Chaos{
		Seed: 7, RateLimited: 0.1, Unavailable: 0.1, LostRequest: 0.1, LostAnswer: 0.1, LateAnswer: 0.1, LateAccept: 0.1, TwiceEvent: 0.3, LateEvent: 0.3, DropSocket: 0.1, Delay: 5 * time.Millisecond,
	}})
	_, events := connect(t, s, plainIntents)
	var all sync.WaitGroup
	for n := range 4 {
		d := client(t, s)
		all.Go(func() {
			for i := range 10 {
				nonce := fmt.Sprintf("k%d-%d", n, i)
				for range 50 {
					if _, err := post(d, General, nonced{nonce, nonce, true}); err == nil {
						break
					}
				}
			}
		})
	}
	for i := range 20 {
		s.Mention(Ann, General, fmt.Sprint("mention ", i))
	}
	all.Wait()
	if got := len(s.FromBot()); got != 40 {
		t.Fatalf("%d messages, want 40", got)
	}
	seen := map[string]bool{}
	for len(seen) < 20 {
		if m := next[discordgo.Message](t, events, "MESSAGE_CREATE"); m.Author.ID == Ann {
			seen[m.ID] = true
		}
	}
	s.Heal()
	_, err := client(t, s).User("@me")
	ok(t, err)
	s.Outage(true)
	if _, err := client(t, s).User("@me"); err == nil {
		t.Fatal("an outage answers")
	}
	s.Outage(false)
}
