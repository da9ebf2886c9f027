package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxWord is the longest word that is told from others, in bytes: what is
// longer is no word of a language.
const maxWord = 48

// Words are the words of a text in their basic forms, in order, without those
// that say nothing. Scripts without spaces give pairs of neighbours.
func Words(text string) []string {
	var list []string
	Each(text, func(word string) {
		if base := Base(word); base != "" {
			list = append(list, base)
		}
	})
	return list
}

// Each calls f with each word of a text in lower case, the words that say
// nothing included.
func Each(text string, f func(word string)) {
	var word []byte
	var last rune // of a script without spaces
	end := func() {
		if len(word) > 0 {
			f(strings.Trim(string(word), "'"))
			word = word[:0]
		}
		if last != 0 {
			last = 0
		}
	}
	for _, c := range text {
		c = fold(c)
		switch {
		case dense(c):
			if len(word) > 0 {
				end()
			}
			if last != 0 {
				f(string([]rune{last, c}))
			} else {
				f(string(c))
			}
			last = c
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '\'':
			if last != 0 {
				end()
			}
			if len(word) < maxWord {
				word = utf8.AppendRune(word, c)
			}
		case unicode.Is(unicode.Mn, c): // accents of their own
		case unicode.Is(unicode.So, c):
			end()
			f(string(c))
		default:
			end()
		}
	}
	end()
}

// dense reports whether the character is of a script that is written without spaces.
func dense(c rune) bool {
	return c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// folded are letters with marks, each with the plain one at the same place.
const (
	marked = "àáâãäåāăąçćčďđèéêëēėęěğìíîïīįıłñńňòóôõöøōőřśšşťùúûüūůűųýÿźżž’‘ʼ"
	plain  = "aaaaaaaaacccddeeeeeeeegiiiiiiilnnnoooooooorssstuuuuuuuuyyzzz'''"
)

var folds = func() map[rune]rune {
	table, to := map[rune]rune{}, []rune(plain)
	for i, c := range []rune(marked) {
		table[c] = to[i]
	}
	return table
}()

// fold is a letter in lower case and without marks.
func fold(c rune) rune {
	if c < utf8.RuneSelf {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	c = unicode.ToLower(c)
	if p, is := folds[c]; is {
		return p
	}
	return c
}

// Base is a word of Each in its basic form, empty for one that says nothing.
func Base(word string) string {
	if tables().stops[word] {
		return ""
	}
	return Stem(word)
}

// Stem is a word in its basic form: "went" is "go", "adoption" is "adopt".
func Stem(word string) string {
	word = strings.TrimSuffix(word, "'s")
	word = strings.ReplaceAll(word, "'", "")
	if base, is := tables().irregular[word]; is {
		word = base
	}
	if len(word) < 3 || !ascii(word) {
		return word
	}
	return english.Stem(word, false)
}

// ascii reports whether a word has letters of the basic Latin alphabet alone.
func ascii(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
