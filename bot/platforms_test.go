package bot_test

import (
	"context"
	"testing"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// knows is a platform that knows one person by name.
type knows struct {
	bottest.Stage
	who, name string
}

func (k *knows) NameOf(_ context.Context, principal string) string {
	if principal == k.who {
		return k.name
	}
	return ""
}

// People of another platform are named as that one knows them, and never by an id.
func TestPeopleOfOtherPlatformsAreNamed(t *testing.T) {
	t.Parallel()
	var all bot.Platforms
	all.Join(&knows{bottest.Stage{ID: "slack"}, "slack:U1", "Ann"})
	all.Join(&knows{bottest.Stage{ID: "discord"}, "discord:1", "Ben"})
	line := bot.Mention("slack:U1") + ", " + bot.Mention("slack:U2") + " and " + bot.Mention("discord:1")
	plain := func(text string) string {
		return bot.Refer(text, func(r bot.Ref) string {
			if r.Person == "slack:U1" || r.Person == "discord:1" {
				return "<" + r.Person + ">" // left to the platform itself
			}
			return r.Plain()
		})
	}
	for platform, want := range map[string]string{
		"discord": "Ann (Slack), somebody on Slack and <discord:1>",
		"slack":   "<slack:U1>, somebody on Slack and Ben (Discord)",
	} {
		if got := plain(all.Introduce(t.Context(), platform, line)); got != want {
			t.Errorf("on %s: %q, want %q", platform, got, want)
		}
		again := all.Introduce(t.Context(), platform, all.Introduce(t.Context(), platform, line))
		if got := plain(again); got != want {
			t.Errorf("on %s, a second time: %q", platform, got)
		}
	}
}
