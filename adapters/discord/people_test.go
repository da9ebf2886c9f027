package discord

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestPeopleAreAskedFor(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	const memberRoute = "GET /guilds/{guild}/members/{user}"
	ben := discordgo.User{ID: discordtest.Ben, Username: "ben"}
	r.Fail(memberRoute, 1, discordtest.Unavailable())
	if _, _, err := r.d.person(t.Context(), discordtest.Guild, ben); err == nil {
		t.Error("nobody could be asked, and somebody is known")
	}
	want := bot.Person{ID: "discord:" + discordtest.Ben, Name: "Ben", Full: true, Also: []string{"discord:&" + discordtest.Guild, "discord:&" + discordtest.Crew}}
	for range 2 {
		if got, inside, err := r.d.person(t.Context(), discordtest.Guild, ben); err != nil || !inside || !cmp.Equal(got, want) {
			t.Errorf("%+v, %v, %v", got, inside, err)
		}
	}
	if n := r.Count(memberRoute); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if got, inside, err := r.d.person(t.Context(), discordtest.OtherGuild, ben); err != nil || inside || got.Full || len(got.Also) > 0 {
		t.Errorf("elsewhere: %+v, %v, %v", got, inside, err)
	}
	if got, err := r.d.alone(t.Context(), discordgo.User{ID: "199999999999999999", Username: "stranger"}); err != nil || got.Full || got.Name != "stranger" {
		t.Errorf("a stranger: %+v, %v", got, err)
	}
}

func TestPeopleAreForgotten(t *testing.T) {
	t.Parallel()
	var p people
	p.open()
	for i := range maxPeople + 5 {
		p.learn("1", idText(int64(i)), bot.Person{}, true)
	}
	if _, known := p.find("1", "0"); known || len(p.known) != maxPeople {
		t.Errorf("%d people are known", len(p.known))
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	thread, _ := r.asks(approve)
	const voice = "110000000000000077"
	r.d.in.halls.learn(api.Channel{ID: voice, Type: discordgo.ChannelTypeGuildVoice, Guild: discordtest.Guild})
	for _, c := range []struct {
		guild, channel, id string
		want               bot.Address
	}{
		{discordtest.Guild, thread, "5", general(thread)},
		{discordtest.Guild, discordtest.General, "5", general("5")},
		{discordtest.Guild, discordtest.General, "", general("")},
		{discordtest.Guild, voice, "5", place(discordtest.Guild, voice, voice)},
		{"", "7", "5", place("", "7", "7")},
	} {
		n := &notice{guild: c.guild, channel: c.channel, id: c.id, root: c.id}
		if err := r.d.settle(t.Context(), n); err != nil || n.in.Where != c.want {
			t.Errorf("%+v is %v, %v", c, n.in.Where, err)
		}
	}
	if err := r.d.settle(t.Context(), &notice{guild: discordtest.Guild, channel: "404"}); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a channel that is not there: %v", err)
	}
	if got := place("", "7", "7").Folder(); got != "discord-7" {
		t.Errorf("the folder of a direct conversation is %q", got)
	}
	r.d.in.halls.forget(voice)
	if _, known := r.d.in.halls.find(voice); known {
		t.Error("a channel that is gone is known")
	}
	for i := range 2*maxHalls + 2 {
		r.d.in.halls.learn(api.Channel{ID: fmt.Sprint("x", i)})
	}
	if _, known := r.d.in.halls.find(thread); known || len(r.d.in.halls.now)+len(r.d.in.halls.old) > 2*maxHalls {
		t.Error("channels are never forgotten")
	}
}
