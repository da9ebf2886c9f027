package bot

import (
	"maps"
	"testing"
)

func TestSign(t *testing.T) {
	one, two, three := Address{"slack", "T1", "C1", ""}, Address{"slack", "T1", "C2", ""}, Address{"slack", "T1", "C3", ""}
	channels := map[string]Address{}
	for _, tt := range []struct {
		name string
		at   Address
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
		if got := Sign(channels, tt.name, tt.at); got != tt.want {
			t.Errorf("%q of %s is %s, want %s", tt.name, tt.at, got, tt.want)
		}
	}
	want := map[string]Address{"#general": one, "#general-C2": two, "#general-C2-C3": three, "#C3": three, "#C3-C1": one, "#General-Voice": two}
	if !maps.Equal(channels, want) {
		t.Errorf("noted %v", channels)
	}
}
