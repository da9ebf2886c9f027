package gate

// Texts taken apart into words, look-alikes made alike.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// latin are Cyrillic and Greek letters that look like Latin ones.
var latin = map[rune]rune{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'һ': 'h', 'ԁ': 'd', 'ո': 'n',
	'α': 'a', 'ο': 'o', 'ρ': 'p', 'ν': 'v', 'ι': 'i', 'κ': 'k', 'τ': 't',
}

// words are the words of a text in lower case without accents. What is written
// in Chinese characters, which have no spaces between words, is a word each.
func words(text string) []string {
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, alike(word))
			word = word[:0]
		}
	}
	for _, r := range plain(text) {
		switch {
		case unicode.Is(unicode.Han, r):
			end()
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word = append(word, r)
		case unicode.In(r, unicode.Mn, unicode.Cf) || r == '\u00ad':
			// accents, and what nobody sees
		default:
			end()
		}
	}
	end()
	return list
}

// plain is a text in lower case, its letters apart from their accents.
func plain(text string) string {
	text = strings.ToLower(text)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return norm.NFKD.String(text)
		}
	}
	return text
}

// alike is a word in which letters of another script that look like Latin ones
// are these, where the word has Latin ones beside them.
func alike(word []rune) string {
	ascii, other := false, false
	for _, r := range word {
		ascii = ascii || r < unicode.MaxASCII && unicode.IsLetter(r)
		other = other || r > unicode.MaxASCII
	}
	if ascii && other {
		for i, r := range word {
			if l, is := latin[r]; is {
				word[i] = l
			}
		}
	}
	return string(word)
}

// phrase is some words in a row, as rules have it: with a * behind it a word
// stands for all that begin like it.
type phrase struct {
	words []string
	open  []bool
}

func newPhrase(text string) (p phrase) {
	for part := range strings.FieldsSeq(text) {
		open := strings.HasSuffix(part, "*")
		for _, w := range words(strings.TrimSuffix(part, "*")) {
			p.words, p.open = append(p.words, w), append(p.open, open)
		}
	}
	return p
}

// book finds phrases by how their first word begins.
type book map[string][]entry

// entry is a phrase with what it stands for.
type entry struct {
	phrase
	name string
}

// stem is what phrases are found by: the first three runes of a word.
func stem(word string) string {
	n := 0
	for i := range word {
		if n == 3 {
			return word[:i]
		}
		n++
	}
	return word
}

func (b book) add(name string, texts []string) {
	for _, text := range texts {
		if p := newPhrase(text); len(p.words) > 0 {
			key := stem(p.words[0])
			b[key] = append(b[key], entry{p, name})
		}
	}
}

// hit is a place where a phrase stands: from the first word to the last.
type hit struct {
	name, phrase string
	from, to     int
}

// find lists where phrases of the book stand.
func (b book) find(text []string) (hits []hit) {
	for i, w := range text {
		for _, e := range b[stem(w)] {
			if e.at(text[i:]) {
				hits = append(hits, hit{e.name, strings.Join(e.words, " "), i, i + len(e.words) - 1})
			}
		}
	}
	return hits
}

func (p phrase) at(text []string) bool {
	if len(text) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		if text[i] != w && (!p.open[i] || !strings.HasPrefix(text[i], w)) {
			return false
		}
	}
	return true
}
