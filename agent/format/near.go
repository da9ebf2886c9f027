package format

import "strings"

// Nearest returns the candidate that takes the fewest edits to become the word,
// and at most so many; the first of equals, "" where there is none. Capital
// letters make no difference.
func Nearest(word string, candidates []string, most int) string {
	word = strings.ToLower(word)
	best := ""
	for _, c := range candidates {
		if n := Distance(word, strings.ToLower(c)); n <= most && c != "" {
			best, most = c, n-1
		}
	}
	return best
}

// maxCompared bounds the work of one comparison, in characters.
const maxCompared = 100

// Distance is the number of edits between two texts: characters put in, left
// out or replaced, and neighbours swapped (optimal string alignment). Texts of
// more than 100 characters are either equal or have nothing in common.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	switch {
	case a == b:
		return 0
	case len(from) > maxCompared || len(to) > maxCompared:
		return max(len(from), len(to))
	}
	// The rows of the table for the two characters before and the present one.
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range from {
		row[0] = i + 1
		for j, y := range to {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && x == to[j-1] && from[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}
