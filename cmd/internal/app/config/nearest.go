package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// didYouMean names the known word nearest to an unknown one, or all of them
// where none is near, as the end of an error message.
func didYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("(did you mean %q?)", near)
	}
	return "(known: " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + ")"
}

// nearest returns the known word within a third of the letters (at least one
// letter), or the one that continues the word; "" where there is none. The
// closest wins, then the first by name.
func nearest(word string, known []string) string {
	sorted := slices.Sorted(slices.Values(known))
	if near := format.Nearest(word, sorted, max(1, len(word)/3)); near != "" || len(word) < 3 {
		return near
	}
	for _, k := range sorted {
		if strings.HasPrefix(k, strings.ToLower(word)) {
			return k
		}
	}
	return ""
}
