package find

// This file answers a request: which of its words count how much, which tools
// have them, and whether any tool fits at all.

import (
	"cmp"
	"math"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// Match is a tool that fits a request: each word of the request counts by its
// rarity, as often as it is meant.
type Match = agent.Match

// Fits is the score from which on a tool is taken to serve a request. It is set on
// one half of the requests in testdata and tried on the other.
const Fits = 0.26

// What a word counts that is not the request's own.
const (
	asSynonym = 0.5
	asNear    = 0.75
	unknown   = 0.55 // of a word that no tool has, against the rarest that one has
	nameBonus = 0.25 // for a name of which the request says every word
)

// maxTerms bounds how many words of a request are looked at.
const maxTerms = 64

// term is a word of a request with all the words that stand for it.
type term struct {
	word    string
	variant []variant
	weight  float64 // how much the word says
	times   float64
}

type variant struct {
	word   string
	weight float64
}

// Search returns up to n tools that fit the request, the best first; tools that
// fit alike by their names. None: nothing fits.
func (x *Index) Search(request string, n int) []Match {
	all := x.Rank(request, n)
	if len(all) == 0 || all[0].Score < Fits {
		return nil
	}
	return all
}

// Rank is Search without the judgement whether anything fits.
func (x *Index) Rank(request string, n int) []Match {
	terms := x.terms(request)
	total := 0.0
	for _, t := range terms {
		total += t.weight * t.times
	}
	if total == 0 || n <= 0 {
		return nil
	}
	scores := make([]float64, len(x.names))
	best := make([]float64, len(x.names))
	for _, t := range terms {
		x.add(t, scores, best)
	}
	found := make([]int, 0, 64)
	for i, s := range scores {
		if s > 0 {
			scores[i] = s / total * (1 + nameBonus*x.named(i, terms)) / (1 + nameBonus)
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(x.names[a], x.names[b]))
	})
	list := make([]Match, 0, min(n, len(found)))
	for _, i := range found[:min(n, len(found))] {
		list = append(list, Match{Name: x.names[i], Score: math.Round(scores[i]*1000) / 1000})
	}
	return list
}

// add counts a term in each tool once, by the variant that counts most there.
func (x *Index) add(t term, scores, best []float64) {
	clear(best)
	for _, v := range t.variant {
		for _, p := range x.postings[v.word] {
			w := float64(p.weight)
			best[p.tool] = max(best[p.tool], v.weight*w/(saturation+w)*(1+saturation)/2)
		}
	}
	for i, b := range best {
		if b > 0 {
			scores[i] += min(b, 1) * t.weight * t.times
		}
	}
}

// named is the share of the words of a tool's name that the request says.
func (x *Index) named(tool int, terms []term) float64 {
	head := x.heads[tool]
	if len(head) == 0 {
		return 0
	}
	said := 0.0
	for _, h := range head {
		most := 0.0
		for _, t := range terms {
			for _, v := range t.variant {
				if v.word == h {
					most = max(most, v.weight)
				}
			}
		}
		said += most
	}
	return said / float64(len(head))
}

// terms are the words of a request that count.
func (x *Index) terms(request string) []term {
	words := Words(request)
	words = x.joined(words[:min(len(words), maxTerms)])
	var terms []term
	for _, w := range words {
		if i := slices.IndexFunc(terms, func(t term) bool { return t.word == w }); i >= 0 {
			terms[i].times += 0.5
			continue
		}
		terms = append(terms, x.term(w))
	}
	return terms
}

// term finds what stands for a word.
func (x *Index) term(word string) term {
	t := term{word: word, times: 1}
	if have := len(x.postings[word]); have > 0 {
		t.variant = append(t.variant, variant{word, 1})
		t.weight = x.rarity(have)
	}
	for _, s := range synonyms()[word] {
		if have := len(x.postings[s]); have > 0 {
			t.variant = append(t.variant, variant{s, asSynonym})
			if t.weight == 0 {
				t.weight = x.rarity(have)
			}
		}
	}
	if len(t.variant) == 0 {
		for _, near := range x.near(word) {
			t.variant = append(t.variant, variant{near, asNear})
			t.weight = max(t.weight, x.rarity(len(x.postings[near])))
		}
	}
	if len(t.variant) == 0 {
		t.weight = unknown * x.rarity(1)
	}
	return t
}
