package reflect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chant is a text that says the same again and again.
type Chant struct {
	Window string // the repeated characters
	Times  int    // how often they were seen
	End    int    // where the proof is complete, in bytes from the start of the text
}

// Chanting looks for a chant in a whole text.
func Chanting(text string, th Thresholds) (Chant, bool) {
	if len(text) < th.ChantWindow+th.ChantTimes-1 {
		return Chant{}, false
	}
	c := NewChants(th)
	return c.Write(text)
}

// Chants looks for a chant (L6) in a text that arrives in pieces. It keeps only
// as much of the text as the rule can look back at.
type Chants struct {
	th    Thresholds
	text  []rune
	begin int    // index in the whole text of text[0]
	bytes int    // length of what was read
	tail  []byte // a character that was cut in half
	seen  map[uint64]spots
	hash  uint64 // of the newest window: a polynomial in base
	top   uint64 // base to the power of the window, to take a character out
	fence rune   // of the code block that the text is in, 0: none
	line  []rune // the line so far, only as long as a fence
}

// spots are where a window was seen: the last time, and the times before.
type spots struct {
	last int
	list []int
}

// base is odd, so that no character is lost from the polynomial modulo 2^64.
const base = 0x9E3779B97F4A7C15

// NewChants is a reader that has read nothing.
func NewChants(th Thresholds) *Chants {
	c := &Chants{th: th, seen: map[uint64]spots{}, top: 1}
	for range th.ChantWindow {
		c.top *= base
	}
	return c
}

// Write reads on and reports a chant as soon as it is proved. After that it
// starts again.
func (c *Chants) Write(piece string) (Chant, bool) {
	if len(c.tail) > 0 {
		piece = string(c.tail) + piece
		c.tail = nil
	}
	for len(piece) > 0 {
		if !utf8.FullRuneInString(piece) {
			c.tail = []byte(piece)
			break
		}
		r, n := utf8.DecodeRuneInString(piece)
		piece = piece[n:]
		c.bytes += n
		if found, is := c.next(r); is {
			return found, true
		}
	}
	return Chant{}, false
}

func (c *Chants) next(r rune) (Chant, bool) {
	if c.inCode(r) {
		return Chant{}, false
	}
	w := c.th.ChantWindow
	c.text = append(c.text, r)
	c.hash = c.hash*base + uint64(r) + 1
	if n := len(c.text); n > w {
		c.hash -= (uint64(c.text[n-1-w]) + 1) * c.top
	}
	if len(c.text) < w {
		return Chant{}, false
	}
	return c.look(c.begin + len(c.text) - w)
}

// look judges the window that begins at the index.
func (c *Chants) look(at int) (Chant, bool) {
	window := c.slice(at, at+c.th.ChantWindow)
	old, again := c.seen[c.hash]
	if again {
		switch {
		case old.last < c.begin || !slices.Equal(c.slice(old.last, old.last+c.th.ChantWindow), window):
			again = false // too long ago, or another text with this hash
		case at-old.last < c.th.ChantWindow && dull(window):
			return Chant{}, false
		}
	}
	if !again {
		c.seen[c.hash] = spots{last: at}
		c.shrink()
		return Chant{}, false
	}
	list := old.list
	list = append(list, old.last)
	list = list[max(0, len(list)+1-c.th.ChantTimes):]
	c.seen[c.hash] = spots{last: at, list: list}
	if len(list)+1 == c.th.ChantTimes && c.dense(append(slices.Clip(list), at)) {
		found := Chant{Window: string(window), Times: c.th.ChantTimes, End: c.bytes}
		c.forget()
		return found, true
	}
	c.shrink()
	return Chant{}, false
}

// dense reports whether the occurrences lie close together with little that is
// new between them.
func (c *Chants) dense(list []int) bool {
	first, last := list[0], list[len(list)-1]
	if first < c.begin || last-first > c.th.ChantDistance*(len(list)-1) {
		return false
	}
	texts := map[string]bool{}
	for i := 1; i < len(list); i++ {
		texts[string(c.slice(list[i-1], list[i]))] = true
	}
	return len(texts) <= c.th.ChantTexts
}

func (c *Chants) slice(from, to int) []rune { return c.text[from-c.begin : to-c.begin] }

// shrink drops what no proof can reach back to any more.
func (c *Chants) shrink() {
	reach := c.th.ChantDistance*c.th.ChantTimes + c.th.ChantWindow
	if len(c.text) < 2*reach {
		return
	}
	drop := len(c.text) - reach
	c.begin += drop
	c.text = append(c.text[:0], c.text[drop:]...)
	for h, s := range c.seen {
		if s.last < c.begin {
			delete(c.seen, h)
		}
	}
}

func (c *Chants) forget() {
	c.begin += len(c.text)
	c.text, c.hash = c.text[:0], 0
	clear(c.seen)
}

// inCode follows code blocks: what is inside them, their fences included, is
// not judged.
func (c *Chants) inCode(r rune) bool {
	if r == '\n' {
		c.line = c.line[:0]
		return c.fence != 0
	}
	if len(c.line) < 8 {
		c.line = append(c.line, r)
		trimmed := strings.TrimLeft(string(c.line), " ")
		for _, f := range []rune{'`', '~'} {
			if trimmed != strings.Repeat(string(f), 3) || r != f {
				continue
			}
			switch c.fence {
			case 0:
				c.fence = f
				c.forget()
			case f:
				c.fence = 0
				c.line = append(c.line[:0], []rune("- fence ")...) // the rest of this line opens nothing
				return true
			}
		}
	}
	return c.fence != 0
}

// dull reports whether a window has fewer than three different letters and
// digits: a rule of dashes, an empty row of a table.
func dull(window []rune) bool {
	var kinds []rune
	for _, r := range window {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || strings.ContainsRune(string(kinds), r) {
			continue
		}
		if kinds = append(kinds, r); len(kinds) == 3 {
			return false
		}
	}
	return true
}
