package index

import (
	"math"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/memory/lexicon"
)

// How much what only resembles a word of the question counts.
const (
	resembles   = 0.35 // it begins alike: "counselor" and "counseling"
	misspelled  = 0.6  // no record has the word itself, but one like it
	namedWeight = 0.25 // the name of who speaks, in what others say
	vagueWeight = 0.3  // words of questions that stand in few answers
	maxTerms    = 64   // words of a question that count
)

// vague are words that questions have for what they ask: they say what kind of
// answer is wanted rather than what it is about.
var vague = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`kind type sort time date day year month week name specific particular different various recent recently current
		currently person people way reason example item number long old often main first last new talk discuss describe share use`) {
		set[lexicon.Stem(word)] = true
	}
	return set
}()

// weighted is a term of a question. Group counts the terms that stand for one
// word: a document is given the best of them, not all.
type weighted struct {
	term   string
	weight float64
	group  int
}

// question is what is looked for.
type question struct {
	terms    []weighted
	groups   int
	speakers map[string]bool // who should have said it
	wants    hints
}

// ask reads a question.
func (x *Index) ask(text string) question {
	q := question{speakers: map[string]bool{}}
	if x.plain {
		seen := map[string]bool{}
		lexicon.Each(text, func(word string) {
			if !seen[word] {
				seen[word] = true
				q.add(word, 1)
			}
		})
		return q
	}
	q.wants = wanted(text)
	for _, word := range x.names(text, q.speakers) {
		x.askWord(&q, word)
	}
	for _, date := range lexicon.Dates(text) {
		q.askDate(date)
	}
	return q
}

// add begins a group with its first term.
func (q *question) add(term string, weight float64) {
	q.terms = append(q.terms, weighted{term, weight, q.groups})
	q.groups++
}

// also adds a term to the newest group.
func (q *question) also(term string, weight float64) {
	q.terms = append(q.terms, weighted{term, weight, q.groups - 1})
}

// names lists the words of a question in their basic forms, each once, and notes
// which of them are names of speakers.
func (x *Index) names(text string, speakers map[string]bool) []string {
	var list []string
	lexicon.Each(text, func(word string) {
		bare := strings.TrimSuffix(word, "'s")
		if who := x.speaker(bare); who != "" {
			speakers[who] = true
		}
		if base := lexicon.Base(word); base != "" && !slices.Contains(list, base) && len(list) < maxTerms {
			list = append(list, base)
		}
	})
	return list
}

// speaker is the speaker that a word names, whole or shortened ("Mel").
func (x *Index) speaker(word string) string {
	if x.speakers[word] > 0 {
		return word
	}
	if len(word) < 3 || lexicon.IsStop(word) || len(x.speakers) > 2000 {
		return ""
	}
	found := ""
	for name := range x.speakers {
		if short, long := min(len(word), len(name)), max(len(word), len(name)); short >= 3 && long-short <= 5 && long > short &&
			(strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) && (found == "" || name < found) {
			found = name
		}
	}
	if found != "" && len(x.terms[lexicon.Stem(word)]) > 3 {
		return "" // it is a word of its own
	}
	return found
}

// askWord adds a word with what stands for it.
func (x *Index) askWord(q *question, word string) {
	weight := 1.0
	switch {
	case q.speakers[word] || q.speakers[x.speaker(word)]:
		weight = namedWeight
	case vague[word]:
		weight = vagueWeight
	}
	q.add(word, weight)
	if weight == namedWeight {
		return
	}
	for _, r := range lexicon.RelatedTo(word) {
		q.also(r.Word, weight*r.Weight)
	}
	known := len(x.terms[word]) > 0
	for _, other := range x.stems[stemOf(word)] {
		if other != word && alike(word, other) {
			q.also(other, weight*resembles)
		}
	}
	if known || len(word) < 4 {
		return
	}
	for _, other := range x.near(word) {
		q.also(other, weight*misspelled)
	}
}

// alike reports whether two words are forms of one: they begin alike, for at
// least three quarters of the longer one and five letters.
func alike(a, b string) bool {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same >= 5 && same*4 >= max(len(a), len(b))*3
}

// near are the words of the index that resemble an unknown one most, by the
// pairs of letters that they share (Dice's coefficient).
func (x *Index) near(word string) []string {
	pairs := pairsOf(word)
	type candidate struct {
		word string
		like float64
	}
	var list []candidate
	for stem, words := range x.stems {
		if stem == "" || stem[0] != word[0] {
			continue
		}
		for _, w := range words {
			if d := len(w) - len(word); d < -2 || d > 2 || len(w) < 4 {
				continue
			}
			if like := dice(pairs, pairsOf(w)); like >= 0.6 {
				list = append(list, candidate{w, like})
			}
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if a.like != b.like {
			return int(math.Copysign(1, b.like-a.like))
		}
		return strings.Compare(a.word, b.word)
	})
	var words []string
	for _, c := range list[:min(len(list), 3)] {
		words = append(words, c.word)
	}
	return words
}

func pairsOf(word string) []string {
	padded := []rune("^" + word + "$")
	list := make([]string, len(padded)-1)
	for i := range list {
		list[i] = string(padded[i : i+2])
	}
	return list
}

func dice(a, b []string) float64 {
	same := 0
	for _, p := range a {
		if slices.Contains(b, p) {
			same++
		}
	}
	return 2 * float64(same) / float64(len(a)+len(b))
}

// askDate adds a date. What happened on a day is told on the days after it.
func (q *question) askDate(date lexicon.Date) {
	words := date.Words()
	if len(words) == 0 {
		return
	}
	q.add(words[0], 1)
	for _, word := range words[1:] {
		q.also(word, 0.4)
	}
	if date.Year == 0 || date.Month == 0 {
		return
	}
	first := dayOf(date)
	if date.Day == 0 {
		q.also(first.AddDate(0, 1, 0).Format("@2006-01"), 0.3)
		return
	}
	for n := 1; n <= 7; n++ {
		q.also(first.AddDate(0, 0, n).Format("@2006-01-02"), 0.8/math.Sqrt(float64(n)))
	}
}

// wanted is what a question asks for.
func wanted(text string) hints {
	lower := " " + strings.ToLower(text) + " "
	has := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(lower, p) })
	}
	return hints{
		when:  has(" when ", " what date", " which year", " what year", " which month", " what month", " which day", " what day", " what time", " how long ago"),
		where: has(" where ", " what city", " which city", " what country", " which country", " what place", " which state", " what state"),
		count: has(" how many ", " how much ", " how old ", " how long ", " how often ", " what number"),
	}
}
