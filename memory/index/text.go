package index

import (
	"slices"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/lexicon"
)

// What of a record counts how much. The turn before is what it answers to, the
// turn behind says what became of it.
const (
	captionWeight = 0.9
	dateWeight    = 0.7
	speakerWeight = 0.5
	beforeWeight  = 0.45
	afterWeight   = 0.25
	around        = 60 // words of a neighbour that count at most
	maxCounted    = 20000
)

// counted is a term of a document.
type counted struct {
	term       string
	own, whole float32
}

// hints are what a record could be an answer to.
type hints struct{ when, where, count bool }

// count lists the terms of a document with those of its neighbours.
func (x *Index) count(d *document, texts map[*document][]counted) []counted {
	sum := map[string]*counted{}
	var order []string
	add := func(term string, own, whole float32) {
		c := sum[term]
		if c == nil {
			c = &counted{term: term}
			sum[term] = c
			order = append(order, term)
		}
		c.own += own
		c.whole += whole
	}
	for _, c := range x.own(d, texts) {
		add(c.term, c.own, c.own)
	}
	if !x.plain {
		before, after := d.neighbours()
		for _, n := range []struct {
			doc    *document
			weight float32
		}{{before, beforeWeight}, {after, afterWeight}} {
			if n.doc == nil {
				continue
			}
			near := x.own(n.doc, texts)
			for _, c := range near[:min(len(near), around)] {
				if !strings.HasPrefix(c.term, "@") && !strings.HasPrefix(c.term, "=") {
					add(c.term, 0, min(c.own, 1)*n.weight)
				}
			}
		}
	}
	list := make([]counted, len(order))
	for i, term := range order {
		list[i] = *sum[term]
	}
	return list
}

// own lists the terms of a document itself.
func (x *Index) own(d *document, texts map[*document][]counted) []counted {
	if known, is := texts[d]; is {
		return known
	}
	sum, order := map[string]float32{}, []string{}
	add := func(term string, weight float32) {
		if _, is := sum[term]; !is {
			if len(order) >= maxCounted {
				return
			}
			order = append(order, term)
		}
		sum[term] += weight
	}
	r := d.record
	if x.plain {
		lexicon.Each(r.Text, func(word string) { add(word, 1) })
	} else {
		x.ownTerms(d, r, add)
	}
	list := make([]counted, len(order))
	for i, term := range order {
		list[i] = counted{term, sum[term], sum[term]}
	}
	texts[d] = list
	return list
}

func (x *Index) ownTerms(d *document, r records.Record, add func(term string, weight float32)) {
	for _, word := range lexicon.Words(r.Text) {
		add(word, 1)
	}
	for _, word := range lexicon.Words(r.Caption) {
		add(word, captionWeight)
	}
	for _, word := range lexicon.Words(r.Speaker) {
		add(word, speakerWeight)
	}
	if r.Kind != records.Observation {
		add(lexicon.Stem(string(r.Kind)), dateWeight)
	}
	if len(r.Text) < 16<<10 { // dates of a whole document say little
		for _, date := range lexicon.Dates(r.Text) {
			for _, word := range date.Words() {
				add(word, 1)
			}
		}
		for _, word := range lexicon.RelativeWords(r.Text, r.Time) {
			add(word, 1)
		}
		d.hints = hintsOf(r.Text)
	}
	if !r.Time.IsZero() {
		for _, word := range lexicon.DayWords(r.Time) {
			add(word, dateWeight)
		}
	}
}

// prepositions stand before places.
var prepositions = []string{"in", "at", "to", "from", "near", "around"}

// hintsOf looks for what times, places and numbers look like.
func hintsOf(text string) hints {
	h := hints{when: lexicon.HasTime(text)}
	before := ""
	for word := range strings.FieldsSeq(text) {
		first := rune(word[0])
		if unicode.IsUpper(first) && slices.Contains(prepositions, before) {
			h.where = true
		}
		if unicode.IsDigit(first) {
			h.count = true
		}
		before = strings.ToLower(word)
	}
	for _, word := range []string{"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "several", "couple"} {
		h.count = h.count || strings.Contains(text, word)
	}
	return h
}
