package find

// This file finds what stands for a word that no tool has: misspelt, cut short,
// or written together with another.

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Lengths from which on a word is looked at that way.
const (
	shortestPrefix = 4
	shortestTypo   = 4
	twoTypos       = 8
	mostNear       = 4
)

// joined writes two words together where tools have only the whole ("smart
// home", smarthome), and apart where they have only the parts.
func (x *Index) joined(words []string) []string {
	var out []string
	for i, w := range words {
		if len(x.postings[w]) == 0 {
			if parts := x.parts(w); parts != nil {
				out = append(out, parts...)
				continue
			}
		}
		out = append(out, w)
		if i+1 < len(words) && len(x.postings[w+words[i+1]]) > 0 {
			out = append(out, w+words[i+1])
		}
	}
	return out
}

// parts are two known words that make up a third.
func (x *Index) parts(w string) []string {
	if len(synonyms()[w]) > 0 {
		return nil
	}
	for i := 3; i+3 <= len(w); i++ {
		if !utf8.RuneStart(w[i]) {
			continue
		}
		a, b := stem(w[:i]), stem(w[i:])
		if len(x.postings[a]) > 0 && len(x.postings[b]) > 0 {
			return []string{a, b}
		}
	}
	return nil
}

// near lists known words that an unknown one may be: those that it begins or that
// begin it, else those that it is a misspelling of.
func (x *Index) near(word string) []string {
	if len(word) < shortestPrefix {
		return nil
	}
	var found []string
	at, _ := slices.BinarySearch(x.words, word)
	for _, w := range x.words[at:] {
		if !strings.HasPrefix(w, word) || len(found) == mostNear {
			break
		}
		found = append(found, w)
	}
	for n := len(word) - 1; n >= max(shortestPrefix, len(word)-4) && len(found) == 0; n-- {
		if len(x.postings[word[:n]]) > 0 {
			found = append(found, word[:n])
		}
	}
	if len(found) > 0 || len(word) < shortestTypo {
		return found
	}
	return x.misspelt(word)
}

// misspelt lists the known words at the smallest distance, the longest of them.
func (x *Index) misspelt(word string) []string {
	bound := 1
	if len(word) >= twoTypos {
		bound = 2
	}
	var found []string
	for _, w := range x.words {
		if len(w) < shortestTypo || len(w) < len(word)-bound || len(w) > len(word)+bound || w[0] != word[0] {
			continue
		}
		switch d := format.Distance(word, w); {
		case d > bound || d == bound && len(found) > 0 && len(w) < len(found[0]):
		case d < bound || len(found) > 0 && len(w) > len(found[0]):
			bound, found = d, []string{w}
		case len(found) < mostNear:
			found = append(found, w)
		}
	}
	return found
}
