package tools

// What a misspelt name of a tool or an argument was probably meant to be.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// nearest returns up to n of the names that resemble the given one, nearest
// first: by edit distance of at most a third of its length (at least 2), or
// because one contains the other, or because they share a word.
func nearest(given string, names []string, n int) []string {
	type hit struct {
		name string
		rank int
	}
	g := strings.ToLower(given)
	var hits []hit
	for _, name := range names {
		l := strings.ToLower(name)
		d := format.Distance(g, l)
		switch {
		case d <= max(2, len(g)/3) && d < max(len(g), len(l)):
			hits = append(hits, hit{name, d})
		case len(g) >= 3 && (strings.Contains(l, g) || strings.Contains(g, l)):
			hits = append(hits, hit{name, 100 + d})
		case sharesWord(g, l):
			hits = append(hits, hit{name, 200 + d})
		}
	}
	slices.SortFunc(hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.name, y.name))
	})
	var out []string
	for _, h := range hits[:min(n, len(hits))] {
		out = append(out, h.name)
	}
	return out
}

func sharesWord(a, b string) bool {
	for _, w := range strings.FieldsFunc(a, wordEnd) {
		if len(w) >= 3 && slices.Contains(strings.FieldsFunc(b, wordEnd), w) {
			return true
		}
	}
	return false
}

func wordEnd(r rune) bool { return r == '_' || r == '-' || r == '.' || r == ' ' }

// quotedList is `a`, `b` and `c`.
func quotedList(names []string, last string) string {
	quoted := make([]string, 0, len(names))
	for _, n := range names {
		quoted = append(quoted, "`"+n+"`")
	}
	return format.List(quoted, last)
}
