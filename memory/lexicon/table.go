package lexicon

import (
	_ "embed" // the tables
	"strings"
	"sync"
)

var (
	//go:embed data/stop.txt
	stopText string
	//go:embed data/irregular.txt
	irregularText string
	//go:embed data/related.txt
	relatedText string
)

// Related is a word that often stands where another one is asked for.
type Related struct {
	Word   string // in its basic form
	Weight float64
}

// How much related words count: one of the same meaning, one that is an example
// of the word, and the word that it is an example of.
const (
	sameWeight    = 0.55
	exampleWeight = 0.4
	genusWeight   = 0.3
)

type tableSet struct {
	stops     map[string]bool
	irregular map[string]string // forms to their basic word, not stemmed
}

// tables are read once, when the first word is looked up.
var tables = sync.OnceValue(func() *tableSet {
	t := &tableSet{stops: map[string]bool{}, irregular: map[string]string{}}
	for word := range strings.FieldsSeq(stopText) {
		t.stops[word] = true
	}
	for entry := range strings.Lines(irregularText) {
		base, forms, _ := strings.Cut(entry, ":")
		for form := range strings.FieldsSeq(forms) {
			t.irregular[form] = strings.TrimSpace(base)
		}
	}
	return t
})

// relatedTable is read when the first question is asked.
var relatedTable = sync.OnceValue(func() map[string][]Related {
	table := map[string][]Related{}
	add := func(word, to string, weight float64) {
		if word == to {
			return
		}
		for i, r := range table[word] {
			if r.Word == to {
				table[word][i].Weight = max(r.Weight, weight)
				return
			}
		}
		table[word] = append(table[word], Related{to, weight})
	}
	for entry := range strings.Lines(relatedText) {
		entry, _, _ = strings.Cut(entry, "#")
		genus, examples, is := strings.Cut(entry, ">")
		same := stems(genus)
		for _, a := range same {
			for _, b := range same {
				add(a, b, sameWeight)
			}
			if !is {
				continue
			}
			for _, b := range stems(examples) {
				add(a, b, exampleWeight)
				add(b, a, genusWeight)
			}
		}
	}
	return table
})

func stems(words string) []string {
	var list []string
	for word := range strings.FieldsSeq(words) {
		list = append(list, Stem(word))
	}
	return list
}

// RelatedTo are words that stand for the word, which is in its basic form.
func RelatedTo(word string) []Related { return relatedTable()[word] }

// IsStop reports whether a word of Each says nothing.
func IsStop(word string) bool { return tables().stops[word] }
