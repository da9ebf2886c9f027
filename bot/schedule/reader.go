package schedule

import (
	"math/bits"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// The text as words, and the place that has been read to.

// word is a piece of a text between spaces.
type word struct {
	low        string // in lower case
	start, end int    // in the text
}

// reader goes along the words of a text.
type reader struct {
	text string
	toks []word
	i    int
}

// most is how many words of a text are looked at; a schedule has fewer.
const most = 64

// lex parts the text into words, up to the colon that ends WHEN. A comma is a
// word of its own if commas says so.
func lex(text string, commas bool) (words []word) {
	start := -1
	flush := func(end int) {
		if start >= 0 {
			words = append(words, word{strings.ToLower(text[start:end]), start, end})
		}
		start = -1
	}
	for i, c := range text {
		switch {
		case len(words) == most:
			return words
		case strings.ContainsRune(" \t\n\r\v\f\u00a0\u2009\u202f", c):
			flush(i)
		case c == ':' && !inTime(text, i):
			flush(i)
			return words
		case c == ',' && commas:
			flush(i)
			words = append(words, word{",", i, i + 1})
		case start < 0:
			start = i
		}
	}
	flush(len(text))
	return words
}

// inTime reports whether the colon stands between digits as in 9:00.
func inTime(text string, i int) bool {
	digit := func(j int) bool { return j >= 0 && j < len(text) && text[j] >= '0' && text[j] <= '9' }
	return digit(i-1) && digit(i+1) && digit(i+2)
}

// peek is the word n ahead, empty behind the end.
func (r *reader) peek(n int) string {
	if r.i+n < len(r.toks) {
		return r.toks[r.i+n].low
	}
	return ""
}

// accept steps over the next word if it is one of these.
func (r *reader) accept(words ...string) bool {
	for _, w := range words {
		if r.peek(0) == w {
			r.i++
			return true
		}
	}
	return false
}

// after is the first bit that is set at from or behind it; 64 if there is none.
func after(set uint64, from int) int {
	set &^= star
	return bits.TrailingZeros64(set >> from << from)
}

// after is the text behind the words that were stepped over.
func (r *reader) after() string {
	if r.i == 0 {
		return r.text
	}
	return r.text[r.toks[r.i-1].end:]
}

// another steps over what joins a list, if an item follows.
func (r *reader) another(item func() bool) bool {
	mark := r.i
	joined := r.accept(",")
	joined = r.accept("and", "&", "+") || joined
	r.accept("on")
	r.accept("the")
	if joined && item() {
		return true
	}
	r.i = mark
	return false
}

// short is what an error repeats of a text.
func short(text string) string {
	text = format.OneLine(text)
	if cut := format.First(text, 60); cut != text {
		return cut + "…"
	}
	return text
}
