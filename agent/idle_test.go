package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Words of people without a say are bounded, the oldest go first; none of them
// reaches work or makes a strand begin its streaks anew, and what those who steer
// said stays.
func TestWordsWithoutASay(t *testing.T) {
	said := func(by, text string, trusted bool) PersonSaid {
		return PersonSaid{By: by, Text: text, Trusted: trusted, Message: "slack:T1:C1:" + text[:min(8, len(text))]}
	}
	for name, text := range map[string]string{"many": "hurry", "long": strings.Repeat("x", bounds.Words)} {
		r := atWork(RunStarted{}, 1).Run
		before := len(r.Said)
		r = r.Apply(Event{Run: r.ID, Strand: Main, Seq: r.Seq + 1, At: noon, Body: said("slack:U1", "count the tests, too", true)})
		for i := range 60 {
			r = r.Apply(Event{Run: r.ID, Strand: Main, Seq: r.Seq + 1, At: noon, Body: said("slack:U3", fmt.Sprint(i, " ", text), false)})
		}
		kept, bytes, newest := 0, 0, ""
		for _, n := range r.Said[before:] {
			if !n.Trusted && n.Text != "" {
				kept, bytes, newest = kept+1, bytes+len(n.Text), n.Text
			}
		}
		if kept == 0 || kept > bounds.Messages || bytes > bounds.MessageBytes || !strings.HasPrefix(newest, "59 ") {
			t.Errorf("%s: %d messages of %d bytes are kept, the newest %.10q", name, kept, bytes, newest)
		}
		if len(r.Said) != before+61 || r.Said[before].Text != "count the tests, too" {
			t.Errorf("%s: what is kept begins %+v", name, r.Said[before])
		}
		notes := 0
		for _, e := range r.Strands.Of(TaskStrand("a")).Talks.Of(llm.Work).Entries.All() {
			if e.Note != nil {
				notes++
				if !e.Note.Trusted {
					t.Errorf("%s: work was told %.20q", name, e.Note.Text)
				}
			}
		}
		if notes != 1 {
			t.Errorf("%s: work was told %d notes", name, notes)
		}
	}
}
