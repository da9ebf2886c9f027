package reflect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

// longJournal is a journal of about n events: calls with results of 400 bytes.
func longJournal(n int) []agent.Event {
	var b book
	for i := 0; len(b.events) < n; i++ {
		b.act(0, "read_file", fmt.Sprintf(`{"path":"pkg/file%d.go","limit":100}`, i),
			strings.Repeat(fmt.Sprintf("line %d took 12ms in 7d444840-9dc0-11d1-b245-5ffdce74fad2\n", i), 7), agent.OutcomeOK)
	}
	return b.events[:n]
}

// BenchmarkExamine1000 is a full pass over a journal of 1,000 events.
func BenchmarkExamine1000(b *testing.B) {
	events := longJournal(1000)
	b.ReportAllocs()
	for b.Loop() {
		for _, trace := range fromJournal(events) {
			if found := Examine(trace, Defaults()); len(found) > 9 {
				b.Fatal(brief(found))
			}
		}
	}
}

// BenchmarkWatch is what one more step costs, in a young and in an old run.
func BenchmarkWatch(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			trace := fromJournal(longJournal(n))[task]
			b.ReportAllocs()
			for b.Loop() {
				Watch(trace, Defaults(), nil)
			}
		})
	}
}

// BenchmarkRead is examine's way: JSON lines of 1,000 events to findings.
func BenchmarkRead(b *testing.B) {
	var lines []byte
	for _, e := range longJournal(1000) {
		line, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	b.SetBytes(int64(len(lines)))
	for b.Loop() {
		tr, err := Read(lines)
		if err != nil {
			b.Fatal(err)
		}
		tr.Examine(Defaults())
	}
}

// BenchmarkChants reads an answer that says nothing twice.
func BenchmarkChants(b *testing.B) {
	c := NewChants(Defaults())
	b.SetBytes(int64(len(fmt.Sprintf(answerLine, 1000000, 1000000))))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, found := c.Write(fmt.Sprintf(answerLine, 1000000+i%1000000, i*7919%1000000)); found {
			b.Fatal("a chant")
		}
		i++
	}
}

const answerLine = "Line %d says that %d of the things were looked at. "
