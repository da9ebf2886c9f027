package find

// This file holds the Index: BM25F, the sum of a tool's fields weighted before
// it is saturated (Robertson, Zaragoza and Taylor, "Simple BM25 extension to
// multiple weighted fields", CIKM 2004).

import (
	"math"
	"slices"
	"strings"
)

// Tool is what the index knows of a tool.
type Tool struct {
	Name, Description string
	// Parameters are the names of its parameters, Notes what is said of them.
	Parameters, Notes []string
}

// field is a part of a tool.
type field int

// The fields of a tool.
const (
	fieldName field = iota
	fieldDescription
	fieldParameters
	fieldNotes
	fields
)

// weights are what a word in a field counts, and lengths how much a long field
// counts less (the b of BM25).
var (
	weights = [fields]float64{3, 1.6, 0.7, 0.4}
	lengths = [fields]float64{0.3, 0.5, 0.5, 0.5}
)

// saturation is the k1 of BM25: how soon a word that comes again adds no more.
const saturation = 1.2

// posting is how much a word counts in a tool, before it is saturated.
type posting struct {
	tool   int32
	weight float32
}

// Index finds tools. It does not change, and may be used from many goroutines.
type Index struct {
	names    []string
	heads    [][]string // the words of each name
	postings map[string][]posting
	words    []string // all of them, sorted
}

// New makes an index of the tools. It keeps their names, and no other text.
func New(list []Tool) *Index {
	x := &Index{postings: map[string][]posting{}, names: make([]string, len(list)), heads: make([][]string, len(list))}
	counts, average := x.count(list)
	for i, perField := range counts {
		weight := map[string]float64{}
		for f, words := range perField {
			if average[f] == 0 {
				continue
			}
			norm := 1 - lengths[f] + lengths[f]*float64(len(words))/average[f]
			for _, w := range words {
				weight[w] += weights[f] / norm
			}
		}
		for w, n := range weight {
			x.postings[w] = append(x.postings[w], posting{int32(i), float32(n)})
		}
	}
	x.words = make([]string, 0, len(x.postings))
	for w, list := range x.postings {
		x.postings[w] = slices.Clip(list)
		x.words = append(x.words, strings.Clone(w))
	}
	slices.Sort(x.words)
	return x
}

// count takes the tools apart into words and says how long each field is on average.
func (x *Index) count(list []Tool) (counts [][fields][]string, average [fields]float64) {
	counts = make([][fields][]string, len(list))
	for i, t := range list {
		x.names[i] = t.Name
		x.heads[i] = slices.Compact(slices.Sorted(slices.Values(Words(t.Name))))
		counts[i] = [fields][]string{Words(t.Name), Words(t.Description), Words(strings.Join(t.Parameters, " ")), Words(strings.Join(t.Notes, " "))}
		for f, words := range counts[i] {
			average[f] += float64(len(words)) / float64(len(list))
		}
	}
	return counts, average
}

// rarity is the inverse document frequency of a word that so many tools have.
func (x *Index) rarity(have int) float64 {
	n := float64(len(x.names))
	return math.Log(1 + (n-float64(have)+0.5)/(float64(have)+0.5))
}
