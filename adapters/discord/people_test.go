package discord

import (
	"errors"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	thread, _ := r.asks(approve)
	const voice = "110000000000000077"
	r.d.directory.LearnChannel(api.Channel{ID: voice, Type: discordgo.ChannelTypeGuildVoice, Guild: discordtest.Guild})
	for _, c := range []struct {
		guild, channel, id string
		want               bot.Address
	}{
		{discordtest.Guild, thread, "5", general(thread)},
		{discordtest.Guild, discordtest.General, "5", general("5")},
		{discordtest.Guild, discordtest.General, "", general("")},
		{discordtest.Guild, voice, "5", api.Address(discordtest.Guild, voice, voice)},
		{"", "7", "5", api.Address("", "7", "7")},
	} {
		n := &update{guild: c.guild, channel: c.channel, id: c.id, root: c.id}
		if err := r.d.locate(t.Context(), n); err != nil || n.in.Where != c.want {
			t.Errorf("%+v is %v, %v", c, n.in.Where, err)
		}
	}
	if err := r.d.locate(t.Context(), &update{guild: discordtest.Guild, channel: "404"}); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a channel that is not there: %v", err)
	}
	if got := api.Address("", "7", "7").Folder(); got != "discord-7" {
		t.Errorf("the folder of a direct conversation is %q", got)
	}
}
