package find

// This file takes texts apart into the words that are compared.

import (
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// maxWords bounds how many words of one text are looked at.
const maxWords = 2000

// filler are words that say nothing about what a tool does, and how people ask
// for things.
var filler = set(`a about above after again against all also am an and any anyone anything are around as at be because been
before being below between both but by can cannot could did do does doing don down during each etc every few for from
further had has have having he her here hers him his how i if in into is it its itself just me more most my myself no nor
not now of off on once only onto or other our ours out over own per please s same shall she should so some something
somebody someone such t than thank thanks that the their theirs them then there these they thing things this those through
to too until up upon us use used uses using very via want wants was we were what whats when where whether which while who
whom whose why will with within without would you your yours yourself
hi hello hey ok okay dear let lets like need needs needed wanna gonna help helps im ive id ill youre theres isnt dont cant
ll ve re d m get gets got getting give gives given giving tell tells telling say says go goes going able maybe really
quite much many lot lots bit kindly wish wonder wondering possible currently right
api apis tool tools function functions given based specific specified various certain`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Words are the words of a text as they are compared: camel case, snake case and
// dotted names taken apart, without accents, in lower case, as English stems.
// Words that say nothing and plain numbers are left out.
func Words(text string) []string { return stems(split(text)) }

func stems(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		if !filler[w] && !isNumber(w) && len(out) < maxWords {
			out = append(out, stem(w))
		}
	}
	return out
}

func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	return english.Stem(w, false)
}

func isNumber(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// split takes a text apart at everything that is no letter or digit, and where
// the case says that a new word begins: getUserHTTPInfo is get, user, http, info.
func split(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			if head := strings.TrimRightFunc(words[len(words)-1], unicode.IsDigit); len(head) >= 3 && head != words[len(words)-1] {
				words = append(words, head) // resnet50 is a resnet
			}
			word = word[:0]
		}
	}
	runes := []rune(plain(text))
	for i, r := range runes {
		switch {
		case r == '\'' || r == '’': // don't, today's
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case len(word) > 0 && begins(runes, i):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// begins reports whether a new word begins with the character, by its case.
func begins(runes []rune, i int) bool {
	before, r := runes[i-1], runes[i]
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(before):
		return true
	case unicode.IsUpper(r) && unicode.IsUpper(before):
		return i+1 < len(runes) && unicode.IsLower(runes[i+1]) && (i+2 >= len(runes) || unicode.IsLower(runes[i+2]))
	}
	return unicode.IsDigit(before) && unicode.IsUpper(r)
}

// plain drops accents.
func plain(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
	}
	if ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
}
