package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/lexicon"
)

// The parameters of BM25: how soon repetitions of a word stop to count, and how
// much long texts are held back. In a turn of a conversation one mention is
// as good as three.
const (
	saturation      = 1.1
	lengthPenalty   = 0.55
	sessionSoftness = 2.0  // repetitions in a conversation
	sessionShare    = 0.18 // of a score comes from the conversation
	speakerShare    = 0.22 // more for who the question names
	hintShare       = 0.08 // more for what looks like an answer
	pinShare        = 0.05 // more for what is pinned
	fusionRank      = 60   // RRF's constant
	// fused is how many of the best by words and by vectors are fused.
	fused = 200
)

func dayOf(d lexicon.Date) time.Time {
	return time.Date(d.Year, time.Month(d.Month), max(d.Day, 1), 0, 0, 0, 0, time.UTC)
}

// Ask is what is looked for, and among what.
type Ask struct {
	Text   string
	Vector []float32 // of the text; nil: by words alone
	Fits   func(records.Record) bool
	Limit  int
	Now    time.Time
}

// candidate is a document with its scores.
type candidate struct {
	doc     *document
	number  int32
	words   float64
	session float64
	meaning float64
	hit     records.Hit
}

// Search returns the records that fit best, the best first.
func (x *Index) Search(a Ask) []records.Hit {
	q := x.ask(a.Text)
	list, possible := x.score(q, a)
	top := 0.0
	for i := range list {
		top = max(top, list[i].words)
	}
	x.fuse(list, a, top)
	if a.Vector != nil {
		list = x.withMeaning(list, a)
	}
	for i := range list {
		x.finish(&list[i], a, possible)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.hit.Score, a.hit.Score), a.doc.record.Time.Compare(b.doc.record.Time), strings.Compare(a.doc.key, b.doc.key))
	})
	limit := a.Limit
	if limit <= 0 {
		limit = records.DefaultLimit
	}
	hits := make([]records.Hit, 0, min(limit, len(list)))
	for _, c := range list[:min(limit, len(list))] {
		c.hit.Parts.Matched = x.matched(q, c.number)
		hits = append(hits, c.hit)
	}
	return hits
}

// score ranks by words. Possible is what a text would have that says everything
// that was asked for.
func (x *Index) score(q question, a Ask) (list []candidate, possible float64) {
	sum := newTally(x)
	average := x.length / float64(max(len(x.numbers), 1))
	for i, t := range q.terms {
		first := i == 0 || q.terms[i-1].group != t.group
		if first {
			sum.endGroup()
		}
		list := x.terms[t.term]
		weight := t.weight * x.rarity(len(list))
		if first {
			possible += weight
		}
		x.each(list, weight, average, func(p posting, gain float64) { sum.gain(x, p, gain, weight) })
	}
	sum.endGroup()
	for _, n := range sum.touched {
		d := x.docs[n]
		if !d.dead && x.counts(d, a) {
			list = append(list, candidate{doc: d, number: n, words: sum.scores[n] * x.favour(q, d), session: sum.sessions[d.session.number]})
		}
	}
	return list, possible
}

// tally adds up what terms give documents and their sessions, group of terms by
// group.
type tally struct {
	scores, sessions     []float64 // of all groups that ended
	best, inSession      []float64 // of the group under way
	touched              []int32   // documents with a score
	group, groupSessions []int32   // those of the group under way
}

func newTally(x *Index) *tally {
	return &tally{
		scores: make([]float64, len(x.docs)), best: make([]float64, len(x.docs)),
		sessions: make([]float64, len(x.inSession)), inSession: make([]float64, len(x.inSession)),
	}
}

// gain is what a term of the weight gives a document that has it.
func (t *tally) gain(x *Index, p posting, gain, weight float64) {
	if t.best[p.doc] == 0 {
		t.group = append(t.group, p.doc)
	}
	t.best[p.doc] = more(t.best[p.doc], gain)
	if s := x.docs[p.doc].session; p.own > 0 && len(s.docs) > 1 {
		if t.inSession[s.number] == 0 {
			t.groupSessions = append(t.groupSessions, s.number)
		}
		t.inSession[s.number] = max(t.inSession[s.number], weight)
	}
}

// endGroup adds the group under way to the scores.
func (t *tally) endGroup() {
	for _, n := range t.group {
		if t.scores[n] == 0 {
			t.touched = append(t.touched, n)
		}
		t.scores[n] += t.best[n]
		t.best[n] = 0
	}
	for _, n := range t.groupSessions {
		t.sessions[n] += t.inSession[n]
		t.inSession[n] = 0
	}
	t.group, t.groupSessions = t.group[:0], t.groupSessions[:0]
}

// more is the gain of a group with one more of its terms: the best counts whole,
// others a little.
func more(best, gain float64) float64 {
	return max(best, gain) + 0.15*min(best, gain)
}

// rarity is a term's inverse document frequency.
func (x *Index) rarity(having int) float64 {
	all := float64(len(x.numbers))
	n := min(float64(having), all)
	return math.Log(1 + (all-n+0.5)/(n+0.5))
}

// each calls f with the gain of each live document that has a term.
func (x *Index) each(list []posting, weight, average float64, f func(p posting, gain float64)) {
	for _, p := range list {
		d := x.docs[p.doc]
		if d.dead {
			continue
		}
		norm := saturation * (1 - lengthPenalty + lengthPenalty*float64(d.length)/average)
		tf := float64(p.whole)
		f(p, weight*tf*(saturation+1)/(tf+norm))
	}
}

// counts reports whether a document may be found at all.
func (x *Index) counts(d *document, a Ask) bool {
	return (a.Fits == nil || a.Fits(d.record)) && (a.Now.IsZero() || d.record.Live(a.Now)) && x.superseded[d.key] == 0
}

// favour is how much more a document counts for who said it and what it looks like.
func (x *Index) favour(q question, d *document) float64 {
	if x.plain {
		return 1
	}
	f := 1.0
	if d.speaker != "" && q.speakers[d.speaker] {
		f += speakerShare
	}
	if q.wants.when && d.hints.when || q.wants.where && d.hints.where || q.wants.count && d.hints.count {
		f += hintShare
	}
	return f
}

// fuse adds what the conversations say to the words, and makes shares of both.
func (x *Index) fuse(list []candidate, _ Ask, top float64) {
	bestSession := 0.0
	for i := range list {
		bestSession = max(bestSession, list[i].session)
	}
	share := sessionShare
	if x.plain || bestSession == 0 {
		share = 0
	}
	for i := range list {
		c := &list[i]
		words := c.words / top
		session := 0.0
		if share > 0 {
			session = share * c.session / bestSession
		}
		c.hit.Parts.Session = session
		c.hit.Parts.Relevance = (1-share)*words + session
	}
}

// finish adds what does not come from the question.
func (x *Index) finish(c *candidate, a Ask, possible float64) {
	r := c.doc.record
	c.hit.Record = r
	p := &c.hit.Parts
	if possible > 0 {
		p.Words = min(c.words/possible, 1)
	}
	p.Meaning = c.meaning
	if !x.plain {
		p.Importance = records.ImportanceWeight * float64(r.Importance) / records.MaxRating
		if r.Pinned {
			p.Importance += pinShare
		}
		if at := a.Now; !at.IsZero() {
			p.Recency = records.RecencyWeight * math.Pow(records.RecencyPerHour, r.Age(at))
		}
	}
	c.hit.Score = p.Relevance + p.Importance + p.Recency
}

// matched are the words of the question that a document has, the rarest first.
func (x *Index) matched(q question, number int32) []string {
	type match struct {
		term   string
		weight float64
	}
	var list []match
	for _, t := range q.terms {
		postings := x.terms[t.term]
		at, found := slices.BinarySearchFunc(postings, number, func(p posting, n int32) int { return cmp.Compare(p.doc, n) })
		if found && postings[at].whole > 0 && !slices.ContainsFunc(list, func(m match) bool { return m.term == t.term }) {
			list = append(list, match{t.term, t.weight * x.rarity(len(postings))})
		}
	}
	slices.SortStableFunc(list, func(a, b match) int { return cmp.Compare(b.weight, a.weight) })
	var words []string
	for _, m := range list {
		words = append(words, m.term)
	}
	return words
}
