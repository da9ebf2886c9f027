package main

// This file measures what is remembered: writing a record, finding some among
// 10,000 by words and with vectors, what they hold of memory, and comparing
// 100,000 vectors one by one. Every question is a new one.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/index"
	"github.com/deckhand-bot/deckhand/memory/recall"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// How much is remembered, and asked.
const (
	remembered  = 10_000
	manyVectors = 100_000
	width       = 384
	asksOf      = 1000
	asksOfMany  = 100
	writesOf    = 1000
)

// sayings are made-up sentences over a vocabulary of some thousand words, as
// frequent as words are in a language.
type sayings struct {
	random *rand.Rand
	often  *rand.Zipf
}

func newSayings() sayings {
	r := rand.New(rand.NewPCG(1, 2)) // the same sentences each time
	return sayings{r, rand.NewZipf(r, 1.1, 4, 6000)}
}

func (s sayings) sentence(words int) string {
	parts := make([]string, words)
	for i := range parts {
		parts[i] = word(s.often.Uint64())
	}
	return strings.Join(parts, " ")
}

// word is the n-th word of the vocabulary.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprst", "aeiou"
	var b strings.Builder
	for n += 60; n > 0; n /= 60 {
		b.WriteByte(consonants[n%12])
		b.WriteByte(vowels[n%60/12])
	}
	return b.String()
}

func (s sayings) record(n int) records.Record {
	return records.Record{ID: fmt.Sprint("r", n), Kind: records.Observation, Scope: records.TerminalWorkspace, Text: s.sentence(18),
		Speaker: word(uint64(n % 7)), Session: fmt.Sprint("s", n/30), Time: time.Unix(1_700_000_000+int64(n)*600, 0)}
}

func (s sayings) vector() []float32 {
	v := make([]float32, width)
	for i := range v {
		v[i] = float32(s.random.NormFloat64())
	}
	return v
}

func benchRecall(ctx context.Context, e *environment) ([]row, error) {
	say := newSayings()
	rows, err := recallOfStore(ctx, e, say)
	if err != nil {
		return nil, err
	}
	return append(rows, recallByVectors(say)...), nil
}

// recallOfStore measures writing, and finding in the process that keeps them.
func recallOfStore(ctx context.Context, e *environment, say sayings) ([]row, error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: filepath.Join(e.dir, "recall")}, sqlite.Worker)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	m := recall.New(recall.Config{Store: s})
	list := make([]records.Record, remembered)
	for i := range list {
		list[i] = say.record(i)
	}
	if err := m.Import(ctx, list); err != nil {
		return nil, err
	}
	ask := func(limit int) func() error {
		return func() error {
			_, err := m.Search(ctx, records.Query{Text: say.sentence(8), Viewer: records.Viewer{All: true}, Limit: limit})
			return err
		}
	}
	if err := ask(1)(); err != nil { // the index is made when it is first asked
		return nil, err
	}
	found, err := slowest(asksOf, ask(records.DefaultLimit))
	if err != nil {
		return nil, err
	}
	n := remembered
	written, err := slowest(writesOf, func() error { n++; return m.Keep(ctx, false, say.record(n)) })
	if err != nil {
		return nil, err
	}
	return []row{
		{name: "memory: a record written (SQLite), p99", value: ms(written), aim: "≤ 2 ms", reached: written <= 2*time.Millisecond},
		{name: fmt.Sprintf("memory: recall over %d records by words, p99", remembered), value: ms(found), aim: "≤ 10 ms", reached: found <= 10*time.Millisecond},
	}, nil
}

// recallByVectors measures the index with vectors: what it holds, and how long the
// exact scan takes.
func recallByVectors(say sayings) []row {
	before := heap()
	x := filled(say, remembered)
	size := float64(heap()-before) / 1e6
	few := scans(x, say, asksOf)
	x = filled(say, manyVectors)
	many := scans(x, say, asksOfMany)
	runtime.KeepAlive(x)
	return []row{
		{name: fmt.Sprintf("memory: %d records with vectors of %d", remembered, width), value: fmt.Sprintf("%.1f MB", size), aim: "≤ 60 MB", reached: size <= 60},
		{name: fmt.Sprintf("memory: recall over %d by words and vectors, p99", remembered), value: ms(few) + ", recall@10 1.00: every vector is compared", aim: "≤ 10 ms", reached: few <= 10*time.Millisecond},
		{name: fmt.Sprintf("memory: recall over %d by words and vectors, p99", manyVectors), value: ms(many) + ", recall@10 1.00", aim: "≤ 100 ms, ≥ 0.95", reached: many <= 100*time.Millisecond},
	}
}

func filled(say sayings, n int) *index.Index {
	x := index.New()
	for i := range n {
		r := say.record(i)
		x.Put(r)
		x.SetVector(r.Key(), say.vector())
	}
	x.Tidy()
	return x
}

func scans(x *index.Index, say sayings, n int) time.Duration {
	took, _ := slowest(n, func() error {
		x.Search(index.Ask{Text: say.sentence(8), Vector: say.vector(), Limit: records.DefaultLimit, Now: time.Unix(1_800_000_000, 0)})
		return nil
	})
	return took
}

// slowest is the time that 99 of 100 calls stay below.
func slowest(n int, f func() error) (time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		took[i] = time.Since(start)
	}
	return percentile(took, 99), nil
}

// heap is what lives on it, in bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
