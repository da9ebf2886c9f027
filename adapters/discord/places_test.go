package discord

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

// What Discord says of places is heard as what became of them; the rest says
// nothing of places.
func TestWhatBecameOfPlaces(t *testing.T) {
	t.Parallel()
	_, d := shown(t, discordtest.Config{}, io.Discard)
	const thread = "110000000000007777"
	d.event("THREAD_CREATE", json.RawMessage(`{"id":"`+thread+`","type":11,"guild_id":"1","parent_id":"5"}`))
	var got []string
	for _, e := range []struct{ kind, payload string }{
		{"GUILD_CREATE", `{"id":"1"}`},
		{"GUILD_ROLE_UPDATE", `{"guild_id":"1","role":{"id":"7"}}`},
		{"GUILD_MEMBER_UPDATE", `{"guild_id":"1","user":{"id":"` + discordtest.BotUser + `"}}`},
		{"GUILD_MEMBER_UPDATE", `{"guild_id":"1","user":{"id":"` + discordtest.Ann + `"}}`},
		{"CHANNEL_UPDATE", `{"id":"5","guild_id":"1","type":0}`},
		{"THREAD_UPDATE", `{"id":"50","guild_id":"1","parent_id":"5","type":11}`},
		{"THREAD_LIST_SYNC", `{"guild_id":"1","threads":[]}`},
		{"CHANNEL_DELETE", `{"id":"5","guild_id":"1","type":0}`},
		{"THREAD_DELETE", `{"id":"50","guild_id":"1","parent_id":"5","type":11}`},
		{"MESSAGE_DELETE_BULK", `{"ids":["8","9"],"channel_id":"` + thread + `","guild_id":"1"}`},
		{"MESSAGE_DELETE_BULK", `{"ids":["8"],"channel_id":"5","guild_id":"1"}`},
		{"VOICE_STATE_UPDATE", `{"guild_id":"1"}`},
	} {
		var told placeEvent
		if err := json.Unmarshal([]byte(e.payload), &told); err != nil {
			t.Fatal(err)
		}
		for _, in := range becameOf(d, e.kind, told) {
			_, back := in.Act.(bot.PlaceBack) // else it is gone, or words of people are
			got = append(got, fmt.Sprint(in.Where.String(), " ", in.Message.String(), " ", !back))
		}
	}
	want := []string{
		"discord:1::  false", "discord:1::  false", "discord:1::  false", "discord:1:5:  false", "discord:1:5:  false", "discord:1::  false",
		"discord:1:5:  true", "discord:1:5:50  true", "discord:1:5:" + thread + " discord:1:" + thread + ":8 true", "discord:1:5:" + thread + " discord:1:" + thread + ":9 true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
