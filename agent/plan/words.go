package plan

import (
	"slices"
	"strings"
	"unicode"
)

// words splits a text into lower-case words of letters and digits. Scripts that
// write no spaces give pairs of characters instead.
func words(text string) []string {
	var all []string
	var word, dense []rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, string(word))
			word = word[:0]
		}
		if len(dense) == 1 {
			all = append(all, string(dense))
		}
		for i := 1; i < len(dense); i++ {
			all = append(all, string(dense[i-1:i+1]))
		}
		dense = dense[:0]
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			if len(word) > 0 {
				flush()
			}
			dense = append(dense, r)
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if len(dense) > 0 {
				flush()
			}
			word = append(word, unicode.ToLower(r))
		case r == '\'' || r == '’': // don't, team's: one word
		default:
			flush()
		}
	}
	flush()
	return all
}

// stem cuts the endings of English that matter here: plural, -ing, -ed, -ise and
// -ize, a final e. It need not give words, only the same for the same.
func stem(w string) string {
	for _, r := range w {
		if r > 127 {
			return w
		}
	}
	w = singular(w)
	for _, end := range []string{"isation", "ization", "ising", "izing", "ised", "ized", "ise", "ize"} {
		if root, ok := strings.CutSuffix(w, end); ok && len(root) > 2 {
			return root + "iz"
		}
	}
	for _, end := range []string{"ing", "ed"} {
		if root, ok := strings.CutSuffix(w, end); ok && len(root) > 2 {
			w = single(root)
			break
		}
	}
	if root, ok := strings.CutSuffix(w, "e"); ok && len(root) > 2 {
		w = root
	}
	return w
}

// singular cuts the endings of the plural, and -ied.
func singular(w string) string {
	ends := func(endings ...string) bool {
		return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(w, end) })
	}
	switch n := len(w); {
	case n > 4 && ends("ies", "ied"):
		return w[:n-3] + "y"
	case n > 4 && ends("sses", "xes", "ches", "shes"):
		return w[:n-2]
	case n > 3 && ends("s") && !ends("ss", "us", "is"):
		return w[:n-1]
	}
	return w
}

// single undoes the doubling of a final consonant: plann, plan.
func single(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeioulsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// wordSet is a set of stems, stop words left out.
type wordSet map[string]bool

func (s wordSet) add(text string) {
	for _, w := range words(text) {
		if !stopWords[w] {
			s[stem(w)] = true
		}
	}
}

func wordsOf(texts ...string) wordSet {
	s := wordSet{}
	for _, t := range texts {
		s.add(t)
	}
	return s
}

// jaccard is the share of common members, |A∩B| / |A∪B|; 0 for two empty sets.
func jaccard(a, b wordSet) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}

// beyond counts the members of a that none of the others has.
func (s wordSet) beyond(others ...wordSet) int {
	n := 0
next:
	for w := range s {
		for _, o := range others {
			if o[w] {
				continue next
			}
		}
		n++
	}
	return n
}

func stems(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[stem(w)] = true
	}
	return set
}

func fields(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

var stopWords = fields(`a an the this that these those it its of for to in on at by with from into onto as is are be
	was were and or then so i we you he she they them our my your their his her me us do does will would should can
	could may must not no all any each every some such than there which who what when where how why if about`)

// commonVerbs appear in any plan and tell nothing about a goal.
var commonVerbs = stems(`make create write build produce get find provide give use add set put prepare develop
	generate complete finish ensure perform run new good best well please need want help work result`)
