package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/lexicon"
)

// posting is how much of a term a document has: of its own, and with what
// stands around it.
type posting struct {
	doc   int32
	own   float32
	whole float32
}

// document is a record in the index. Its number changes with every change of
// what it is found by.
type document struct {
	record  records.Record
	key     string
	dead    bool
	length  float32 // weighted number of words
	owned   float32 // of its own
	speaker string  // in its basic form
	session *session
	hints   hints
	vector  []float32
}

// session is a conversation: its documents in their order.
type session struct {
	number int32
	docs   []*document
	length float32 // words of its own documents
}

// Index is a set of records and what they are found by. The zero Index is not
// usable: see New.
type Index struct {
	plain      bool
	docs       []*document // by number; dead ones stay until Tidy
	numbers    map[string]int32
	sessions   map[string]*session
	inSession  []*session // by number
	terms      map[string][]posting
	stems      map[string][]string // terms by their first letters
	speakers   map[string]int      // basic forms of names, and how many documents each has
	superseded map[string]int
	dirty      map[string]bool
	dead       int
	length     float64 // of all live documents together
	width      int     // of vectors
}

// New makes an empty index.
func New() *Index {
	return &Index{
		numbers: map[string]int32{}, sessions: map[string]*session{}, terms: map[string][]posting{}, stems: map[string][]string{},
		speakers: map[string]int{}, superseded: map[string]int{}, dirty: map[string]bool{},
	}
}

// NewPlain makes an index that ranks by BM25 over the bare texts alone: what
// others are compared with.
func NewPlain() *Index {
	x := New()
	x.plain = true
	return x
}

// Len is how many records the index has.
func (x *Index) Len() int { return len(x.numbers) }

// Record is the record with the key, as far as there is one.
func (x *Index) Record(key string) (records.Record, bool) {
	n, is := x.numbers[key]
	if !is {
		return records.Record{}, false
	}
	return x.docs[n].record, true
}

// All are the records that fit, the newest written first.
func (x *Index) All(fits func(records.Record) bool) []records.Record {
	var list []records.Record
	for _, n := range x.numbers {
		if r := x.docs[n].record; fits(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b records.Record) int {
		return cmp.Or(cmp.Compare(b.Order, a.Order), strings.Compare(a.Key(), b.Key()))
	})
	return list
}

// Superseded reports whether another record replaces it.
func (x *Index) Superseded(r records.Record) bool { return x.superseded[r.Key()] > 0 }

// Put takes a record in, in the place of one with the same key. It is found
// after the next Tidy.
func (x *Index) Put(r records.Record) {
	key := r.Key()
	vector := []float32(nil)
	if n, is := x.numbers[key]; is {
		if old := x.docs[n]; old.record.Text == r.Text && old.record.Caption == r.Caption {
			vector = old.vector
		}
		x.Remove(key)
	}
	d := &document{record: r, key: key, speaker: speakerOf(r.Speaker), vector: vector}
	x.join(d)
	x.numbers[key] = int32(len(x.docs))
	x.docs = append(x.docs, d)
	if d.speaker != "" {
		x.speakers[d.speaker]++
	}
	for _, old := range r.Supersedes {
		x.superseded[records.Key(r.Scope, old)]++
	}
	x.touch(d)
}

// Remove takes a record out.
func (x *Index) Remove(key string) {
	n, is := x.numbers[key]
	if !is {
		return
	}
	d := x.docs[n]
	x.touch(d) // its neighbours, which have its words
	s := d.session
	s.docs = slices.Delete(s.docs, slices.Index(s.docs, d), slices.Index(s.docs, d)+1)
	if x.speakers[d.speaker]--; x.speakers[d.speaker] <= 0 {
		delete(x.speakers, d.speaker)
	}
	for _, old := range d.record.Supersedes {
		if name := records.Key(d.record.Scope, old); x.superseded[name] > 1 {
			x.superseded[name]--
		} else {
			delete(x.superseded, name)
		}
	}
	delete(x.numbers, key)
	delete(x.dirty, key)
	x.bury(d)
}

// bury marks a document that is not found any more.
func (x *Index) bury(d *document) {
	if d.dead {
		return
	}
	d.dead = true
	x.dead++
	x.length -= float64(d.length)
	d.session.length -= d.owned
}

// join puts a document at its place in its session. A record without a session
// has one of its own.
func (x *Index) join(d *document) {
	r := d.record
	name := "\x00" + d.key
	if r.Session != "" {
		name = string(r.Scope) + "\x00" + r.Source.Place + "\x00" + r.Session
	}
	s := x.sessions[name]
	if s == nil {
		s = &session{number: int32(len(x.inSession))}
		x.sessions[name] = s
		x.inSession = append(x.inSession, s)
	}
	d.session = s
	at, _ := slices.BinarySearchFunc(s.docs, d, func(a, b *document) int {
		return cmp.Or(a.record.Time.Compare(b.record.Time), cmp.Compare(a.record.Order, b.record.Order), strings.Compare(a.key, b.key))
	})
	s.docs = slices.Insert(s.docs, at, d)
}

// touch notes that a document and its neighbours have to be read anew.
func (x *Index) touch(d *document) {
	before, after := d.neighbours()
	for _, n := range []*document{before, d, after} {
		if n != nil {
			x.dirty[n.key] = true
		}
	}
}

// neighbours are the documents around one in its session, nil at its ends.
func (d *document) neighbours() (before, after *document) {
	at := slices.Index(d.session.docs, d)
	if at > 0 {
		before = d.session.docs[at-1]
	}
	if at >= 0 && at+1 < len(d.session.docs) {
		after = d.session.docs[at+1]
	}
	return before, after
}

// Dirty reports whether a Tidy is due.
func (x *Index) Dirty() bool { return len(x.dirty) > 0 }

// Tidy makes everything that was put in findable.
func (x *Index) Tidy() {
	keys := make([]string, 0, len(x.dirty))
	for key := range x.dirty {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(x.numbers[a], x.numbers[b]) })
	texts := map[*document][]counted{}
	for _, key := range keys {
		x.read(key, texts)
	}
	clear(x.dirty)
	if x.dead > 1000 && x.dead > len(x.numbers)/2 {
		x.compact()
	}
}

// read counts the words of one document.
func (x *Index) read(key string, texts map[*document][]counted) {
	n, is := x.numbers[key]
	if !is {
		return
	}
	d := x.docs[n]
	if d.length > 0 { // what it was found by until now
		fresh := *d
		fresh.dead, fresh.length, fresh.owned = false, 0, 0
		x.bury(d)
		d.session.docs[slices.Index(d.session.docs, d)] = &fresh
		d = &fresh
		n = int32(len(x.docs))
		x.docs, x.numbers[key] = append(x.docs, d), n
	}
	for _, c := range x.count(d, texts) {
		list, known := x.terms[c.term]
		if !known {
			x.stems[stemOf(c.term)] = append(x.stems[stemOf(c.term)], c.term)
		}
		x.terms[c.term] = append(list, posting{n, c.own, c.whole})
		d.length += c.whole
		d.owned += c.own
	}
	d.length = max(d.length, 1)
	x.length += float64(d.length)
	d.session.length += d.owned
}

// compact rebuilds the index without what is dead.
func (x *Index) compact() {
	fresh := New()
	fresh.plain, fresh.width = x.plain, x.width
	for _, d := range x.docs {
		if n, is := x.numbers[d.key]; is && x.docs[n] == d {
			fresh.Put(d.record)
			fresh.docs[len(fresh.docs)-1].vector = d.vector
		}
	}
	*x = *fresh
	x.Tidy()
}

// speakerOf is a name as speakers are compared: its first word.
func speakerOf(name string) string {
	first := ""
	lexicon.Each(name, func(word string) {
		if first == "" {
			first = word
		}
	})
	return first
}

// stemOf is what terms that resemble each other begin with.
func stemOf(term string) string {
	letters := 0
	for i := range term {
		if letters == 3 {
			return term[:i]
		}
		letters++
	}
	return term
}

// Bytes is about how much memory the index takes.
func (x *Index) Bytes() int {
	sum := 0
	for term, list := range x.terms {
		sum += len(term)*2 + 64 + cap(list)*12
	}
	for _, d := range x.docs {
		sum += 400 + len(d.record.Text) + len(d.record.Caption) + 4*len(d.vector)
	}
	return sum
}
