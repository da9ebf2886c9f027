package ingest

import (
	"maps"
	"testing"

	"github.com/deckhand-bot/deckhand/bot"
)

func TestChannelWord(t *testing.T) {
	in := func(channel string) bot.Address {
		return bot.Address{Platform: "slack", Workspace: "T1", Channel: channel}
	}
	one, two, three := in("C1"), in("C2"), in("C3")
	channels := map[string]bot.Address{}
	for _, tt := range []struct {
		name string
		at   bot.Address
		want string
	}{
		{"general", one, "#general"},
		{"general", one, "#general"},
		{"general", two, "#general-C2"}, // two channels never share a word
		{"general", two, "#general-C2"},
		{"general-C2", three, "#general-C2-C3"},
		{"", three, "#C3"},
		{"C3", one, "#C3-C1"},
		{" General  Voice ", two, "#General-Voice"},
	} {
		if got := ChannelWord(channels, tt.name, tt.at); got != tt.want {
			t.Errorf("%q of %s is %s, want %s", tt.name, tt.at, got, tt.want)
		}
	}
	want := map[string]bot.Address{"#general": one, "#general-C2": two, "#general-C2-C3": three, "#C3": three, "#C3-C1": one, "#General-Voice": two}
	if !maps.Equal(channels, want) {
		t.Errorf("noted %v", channels)
	}
}
