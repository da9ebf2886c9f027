package config

import (
	"fmt"
	"slices"
	"strings"
)

// didYouMean names the known word nearest to an unknown one, or all of them
// where none is near, as the end of an error message.
func didYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("(did you mean %q?)", near)
	}
	sorted := slices.Sorted(slices.Values(known))
	return "(known: " + strings.Join(sorted, ", ") + ")"
}

// nearest returns the known word within a third of the letters (at least one
// letter, swapped neighbours count as one), or the one that continues the
// word; "" where there is none. The closest wins, then the first by name.
func nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", 1+max(1, len(word)/3)
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(word, strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, k := range slices.Sorted(slices.Values(known)) {
		if strings.HasPrefix(k, word) {
			return k
		}
	}
	return ""
}

// maxWord bounds the letters that distance compares.
const maxWord = 64

// distance is the optimal string alignment distance: the insertions,
// deletions, substitutions and swaps of neighbours between two words.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxWord || len(y) > maxWord {
		return max(len(x), len(y))
	}
	var d [maxWord + 1][maxWord + 1]int
	for i := range len(x) + 1 {
		for j := range len(y) + 1 {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case x[i-1] == y[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], 1+d[i-2][j-2])
			}
		}
	}
	return d[len(x)][len(y)]
}
