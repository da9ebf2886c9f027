package use

import (
	"strings"
	"unicode"
)

// words are those of a text that say something of their own: numbers, and words
// that are not too short.
type words map[string]bool

// shortest is how many letters a word has that is looked for.
const shortest = 4

// most bounds the words that are kept of a result.
const most = 4000

// add adds the words of a text.
func (w words) add(text string) {
	each(text, func(word string) bool { w[word] = true; return true })
}

// fresh are the words of a result that nobody said before, as far as they are
// kept.
func fresh(text string, known words) words {
	list := words{}
	each(text, func(word string) bool {
		if !known[word] {
			list[word] = true
		}
		return len(list) < most
	})
	return list
}

// within reports whether what was said has one of the words.
func (w words) within(said words) bool {
	small, large := w, said
	if len(large) < len(small) {
		small, large = large, small
	}
	for word := range small {
		if large[word] {
			return true
		}
	}
	return false
}

// each calls take with the words of a text until it returns false.
func each(text string, take func(word string) bool) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '.' && r != '_' && r != '-'
	}) {
		word = strings.Trim(word, "._-")
		letters := 0
		digit := false
		for _, r := range word {
			letters++
			digit = digit || unicode.IsDigit(r)
		}
		if letters == 0 || letters < shortest && !digit && word[0] < 0x80 {
			continue
		}
		if !take(word) {
			return
		}
	}
}
