package directory

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestPeopleAreAskedFor(t *testing.T) {
	t.Parallel()
	r := discordtest.New(discordtest.Config{Limits: discordtest.Limits{Off: true}})
	t.Cleanup(r.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	calls, err := api.New(api.Options{Token: r.Token, URL: r.URL() + "/api", HTTP: client, Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d := New(calls, slog.New(slog.DiscardHandler))
	const memberRoute = "GET /guilds/{guild}/members/{user}"
	ben := discordgo.User{ID: discordtest.Ben, Username: "ben"}
	r.Fail(memberRoute, 1, discordtest.Unavailable())
	if _, _, err := d.person(t.Context(), discordtest.Guild, ben); err == nil {
		t.Error("nobody could be asked, and somebody is known")
	}
	want := bot.Person{ID: "discord:" + discordtest.Ben, Name: "Ben", Full: true, Also: []string{"discord:&" + discordtest.Guild, "discord:&" + discordtest.Crew}}
	for range 2 {
		if got, inside, err := d.person(t.Context(), discordtest.Guild, ben); err != nil || !inside || !cmp.Equal(got, want) {
			t.Errorf("%+v, %v, %v", got, inside, err)
		}
	}
	if n := r.Count(memberRoute); n != 2 {
		t.Errorf("asked %d times", n)
	}
	if got, inside, err := d.person(t.Context(), discordtest.OtherGuild, ben); err != nil || inside || got.Full || len(got.Also) > 0 {
		t.Errorf("elsewhere: %+v, %v, %v", got, inside, err)
	}
	if got, err := d.alone(t.Context(), discordgo.User{ID: "199999999999999999", Username: "stranger"}); err != nil || got.Full || got.Name != "stranger" {
		t.Errorf("a stranger: %+v, %v", got, err)
	}
}

func TestPeopleAreForgotten(t *testing.T) {
	t.Parallel()
	d := New(nil, slog.New(slog.DiscardHandler))
	for i := range maxPeople + 5 {
		if _, err := d.Who(t.Context(), "1", discordgo.User{ID: strconv.Itoa(i)}, &api.Member{}); err != nil {
			t.Fatal(err)
		}
	}
	known := 0
	for i := range maxPeople + 5 {
		if _, _, is := d.people.Get(fmt.Sprint("1/", i)); is {
			known++
		}
	}
	if _, _, is := d.people.Get("1/0"); is || known != maxPeople {
		t.Errorf("%d people are known", known)
	}
}

func TestChannelsAreForgotten(t *testing.T) {
	t.Parallel()
	d := New(nil, slog.New(slog.DiscardHandler))
	const voice, thread = "110000000000000077", "110000000000000078"
	d.LearnChannel(api.Channel{ID: voice})
	d.LearnChannel(api.Channel{ID: thread})
	d.Learn("CHANNEL_DELETE", json.RawMessage(`{"id":"`+voice+`"}`))
	if _, known := d.KnownChannel(voice); known {
		t.Error("a channel that is gone is known")
	}
	for i := range 2*maxChannels + 2 {
		d.LearnChannel(api.Channel{ID: fmt.Sprint("x", i)})
	}
	if _, known := d.KnownChannel(thread); known || len(d.channels.now)+len(d.channels.old) > 2*maxChannels {
		t.Error("channels are never forgotten")
	}
}

func TestPermissionScreening(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		m    api.Member
		bot  bool
		full bool
	}{"member": {full: true}, "pending": {m: api.Member{Pending: true}}, "bot": {bot: true}} {
		if got := personOf("1", discordgo.User{ID: "2", Bot: c.bot}, c.m); got.Full != c.full {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Who may read a channel is worked out by Discord's rule; whoever left may not,
// and an error is no answer.
func TestWhoReads(t *testing.T) {
	t.Parallel()
	r := discordtest.New(discordtest.Config{Limits: discordtest.Limits{Off: true}})
	t.Cleanup(r.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	calls, err := api.New(api.Options{Token: r.Token, URL: r.URL() + "/api", HTTP: client, Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "110000000000000077"
	r.AddChannel(discordtest.Channel{ID: secret, Name: "secret", Overwrites: []discordtest.Overwrite{
		{ID: discordtest.Guild, Deny: discordtest.ViewChannel}, {ID: discordtest.Crew, Allow: discordtest.ViewChannel},
		{ID: discordtest.Ben, Type: 1, Deny: discordtest.ViewChannel}, {ID: discordtest.BotUser, Type: 1, Allow: discordtest.ViewChannel},
	}})
	for _, tt := range []struct {
		user, channel string
		reads         bool
	}{
		{discordtest.Ann, secret, true}, {discordtest.Ben, secret, false}, {discordtest.Gus, secret, false}, {discordtest.Ada, secret, true},
		{discordtest.Olga, secret, true}, {discordtest.Eve, secret, false}, {discordtest.Gus, discordtest.General, true}, {discordtest.Eve, discordtest.General, false},
		{discordtest.Ann, r.DMChannel(discordtest.Ann), true}, {discordtest.Ben, r.DMChannel(discordtest.Ann), false}, {discordtest.Ann, "119999999999999999", false},
	} {
		if reads, err := New(calls, slog.New(slog.DiscardHandler)).Reads(t.Context(), tt.user, tt.channel); err != nil || reads != tt.reads {
			t.Errorf("%s reads %s: %v, %v", tt.user, tt.channel, reads, err)
		}
	}
	d := New(calls, slog.New(slog.DiscardHandler))
	r.Fail("GET /channels/{channel}", 1, discordtest.Unavailable())
	if _, err := d.Reads(t.Context(), discordtest.Ann, secret); err == nil {
		t.Error("nobody could be asked, and somebody reads")
	}
	if reads, err := d.Reads(t.Context(), discordtest.Ann, secret); err != nil || !reads {
		t.Errorf("asked again: %v, %v", reads, err)
	}
}
