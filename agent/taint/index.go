package taint

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// gram is how many letters and digits in a row are looked up at once.
const gram = 8

// Bounds of the work.
const (
	maxText    = 64 << 10 // bytes of one text that are looked at
	maxTexts   = 4 << 20  // bytes of all texts of a strand, the newest first
	maxProbes  = 256      // grams of one argument that are looked up
	maxKept    = 16 << 20 // bytes of texts that stay indexed
	filterBits = 16       // a filter has 2^filterBits bits for each 4 KB of text
)

// index is a text in the form in which it is compared: letters and digits alone,
// in lower case. A filter tells fast that a gram is not in it.
type index struct {
	plain  string // squeezed
	lower  string // in lower case, for short values
	filter []uint64
	mask   uint64
	coded  *index // what stands in it in other forms; nil: nothing
	form   string // which: "base64"
	bytes  int
}

var seed = maphash.MakeSeed()

// squeeze leaves letters and digits in lower case, so that blanks, punctuation,
// marks without a width and case make no difference.
func squeeze(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			b.WriteByte(c)
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case c >= 0x80:
			for _, r := range s[i:] {
				if r < 0x80 {
					break
				}
				i += len(string(r))
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					b.WriteRune(unicode.ToLower(fold(r)))
				}
			}
			i--
		}
	}
	return b.String()
}

// fold is the ASCII letter that a full-width one stands for.
func fold(r rune) rune {
	if r >= 0xFF01 && r <= 0xFF5E {
		return r - 0xFEE0
	}
	return r
}

func indexOf(text string, deep bool) *index {
	if len(text) > maxText {
		text = text[:maxText]
	}
	x := &index{plain: squeeze(text), lower: strings.ToLower(text)}
	bits := 1 << filterBits
	for bits < len(x.plain)*16 {
		bits *= 2
	}
	if len(x.plain) < 512 {
		bits = 1 << 13
	}
	x.filter, x.mask = make([]uint64, bits/64), uint64(bits-1)
	for i := 0; i+gram <= len(x.plain); i++ {
		h := hashOf(x.plain[i:i+gram]) & x.mask
		x.filter[h/64] |= 1 << (h % 64)
	}
	x.bytes = len(text)*2 + bits/8
	if deep {
		if parts := decoded(text); len(parts) > 0 {
			x.coded = codedOf(parts)
			x.bytes += x.coded.bytes
		}
	}
	return x
}

// codedOf is one index of all texts that stand in another one in other forms.
func codedOf(parts []part) *index {
	var texts, forms []string
	for _, p := range parts {
		texts = append(texts, p.text)
		if !slices.Contains(forms, p.through) {
			forms = append(forms, p.through)
		}
	}
	in := indexOf(strings.Join(texts, "\n"), false)
	in.form = strings.Join(forms, " or ")
	return in
}

// hashOf mixes the bytes of one gram (8 bytes).
func hashOf(g string) uint64 {
	_ = g[gram-1]
	h := uint64(g[0]) | uint64(g[1])<<8 | uint64(g[2])<<16 | uint64(g[3])<<24 |
		uint64(g[4])<<32 | uint64(g[5])<<40 | uint64(g[6])<<48 | uint64(g[7])<<56
	h *= 0x9E3779B97F4A7C15
	return h >> 24
}

// value is an argument in the forms in which it is looked up.
type value struct {
	plain, lower string
	grams        []uint64 // of plain, at most maxProbes, evenly
}

func valueOf(s string) value {
	if len(s) > maxText {
		s = s[:maxText]
	}
	v := value{plain: squeeze(s), lower: strings.ToLower(strings.TrimSpace(s))}
	n := len(v.plain) - gram + 1
	if n <= 0 {
		return v
	}
	for i, step := 0, max(1, n/maxProbes); i < n && len(v.grams) < maxProbes; i += step {
		v.grams = append(v.grams, hashOf(v.plain[i:i+gram]))
	}
	return v
}

// shares is how much of the value stands in the text, from 0 to 1.
func (x *index) shares(v value) float64 {
	if len(v.grams) == 0 {
		if word(x.lower, v.lower) {
			return 1
		}
		return 0
	}
	if len(x.plain) < gram {
		return 0
	}
	hits := 0
	for _, h := range v.grams {
		if h &= x.mask; x.filter[h/64]&(1<<(h%64)) != 0 {
			hits++
		}
	}
	if hits == len(v.grams) && !strings.Contains(x.plain, v.plain) {
		return float64(hits-1) / float64(len(v.grams))
	}
	return float64(hits) / float64(len(v.grams))
}

// word reports whether the text holds the value as a word of its own.
func word(text, value string) bool {
	if value == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(value)
		if (i == 0 || !inWord(text[i-1])) && (end == len(text) || !inWord(text[end]) || endsSentence(text, end)) {
			return true
		}
		at = i + 1
	}
}

// endsSentence reports whether the dot at the place ends a sentence.
func endsSentence(text string, at int) bool {
	return text[at] == '.' && (at+1 == len(text) || !inWord(text[at+1]))
}

func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.' || c >= 0x80
}

// cache keeps texts indexed: a strand looks at the same ones again with each call.
type cache struct {
	mu    sync.Mutex
	kept  map[key]*index
	order []key
	bytes int
}

type key struct {
	hash uint64
	size int
}

func (c *cache) index(text string) *index {
	k := key{maphash.String(seed, text), len(text)}
	c.mu.Lock()
	x, known := c.kept[k]
	c.mu.Unlock()
	if known {
		return x
	}
	x = indexOf(text, true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[key]*index{}
	}
	if _, known := c.kept[k]; known {
		return x
	}
	c.kept[k], c.order, c.bytes = x, append(c.order, k), c.bytes+x.bytes
	for c.bytes > maxKept && len(c.order) > 1 {
		c.bytes -= c.kept[c.order[0]].bytes
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
	return x
}

// whole reports whether the whole value stands in the text, in one form or another
// of case, blanks and punctuation.
func (x *index) whole(v value) bool {
	if len(v.plain) < gram {
		return word(x.lower, v.lower)
	}
	return strings.Contains(x.plain, v.plain)
}

// holds is whole, also for what stands in the text in another form.
func (x *index) holds(v value) (form string, is bool) {
	if x.whole(v) {
		return "", true
	}
	if x.coded != nil && x.coded.whole(v) {
		return x.coded.form, true
	}
	return "", false
}

// most is how much of the value stands in the text, or in what it holds in another
// form.
func (x *index) most(v value) (share float64, form string) {
	share = x.shares(v)
	if x.coded != nil {
		if s := x.coded.shares(v); s > share {
			return s, x.coded.form
		}
	}
	return share, ""
}

// run reports whether so many letters and digits in a row of a squeezed value stand
// in the text. A row holds a gram at each of its places: looking at every so many
// finds one of them.
func (x *index) run(plain string, long int) bool {
	step := long - gram + 1
	for i := 0; i+gram <= len(plain); i += step {
		if !x.mayHold(plain[i:]) {
			continue
		}
		from, to := i, i
		for from > 0 && from > i-step && x.mayHold(plain[from-1:]) {
			from--
		}
		for to+1+gram <= len(plain) && to < i+step && x.mayHold(plain[to+1:]) {
			to++
		}
		for ; from+long <= to+gram; from++ {
			if strings.Contains(x.plain, plain[from:from+long]) {
				return true
			}
		}
	}
	return false
}

// mayHold reports whether the text may hold the gram that the string begins with.
func (x *index) mayHold(s string) bool {
	h := hashOf(s[:gram]) & x.mask
	return x.filter[h/64]&(1<<(h%64)) != 0
}
