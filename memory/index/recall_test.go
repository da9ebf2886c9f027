package index_test

import (
	"slices"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/memory/index"
)

// tally counts evidence that was found among what was asked for.
type tally struct{ found, asked float64 }

func (c tally) percent() float64 { return 100 * c.found / c.asked }

// measure asks every question of a conversation and counts the share of its
// evidence among the first ten.
func measure(t testing.TB, c conversation, x *index.Index, show bool) (sum tally) {
	t.Helper()
	for _, r := range c.turns {
		x.Put(r)
	}
	x.Tidy()
	for _, q := range c.asked {
		hits := x.Search(index.Ask{Text: q.text, Limit: 10, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		found := 0.0
		for _, id := range q.evidence {
			if slices.ContainsFunc(hits, func(h records.Hit) bool { return h.Record.ID == id }) {
				found++
			}
		}
		if show && found < float64(len(q.evidence)) {
			t.Logf("missed: %s", q.text)
		}
		sum.found += found / float64(len(q.evidence))
		sum.asked++
	}
	return sum
}

// TestEvidence holds recall against plain BM25 over the bare texts: evidence
// among the first ten for at least 70 of 100 questions, and 10 more than plainly
// (RULES.md, "Memory").
func TestEvidence(t *testing.T) {
	t.Parallel()
	var plain, good, plainHeld, heldOut tally
	for _, c := range corpus(t) {
		p, g := measure(t, c, index.NewPlain(), false), measure(t, c, index.New(), testing.Verbose())
		t.Logf("%-10s %4d turns, %3.0f questions: plain %5.1f, recall %5.1f (held out: %v)", c.name, len(c.turns), p.asked, p.percent(), g.percent(), c.held)
		if c.held {
			plainHeld.found, plainHeld.asked, heldOut.found, heldOut.asked = plainHeld.found+p.found, plainHeld.asked+p.asked, heldOut.found+g.found, heldOut.asked+g.asked
		}
		plain.found, plain.asked, good.found, good.asked = plain.found+p.found, plain.asked+p.asked, good.found+g.found, good.asked+g.asked
	}
	t.Logf("recall@10 over %.0f questions: plain BM25 %.1f, recall %.1f; held out (%.0f questions): plain %.1f, recall %.1f",
		good.asked, plain.percent(), good.percent(), heldOut.asked, plainHeld.percent(), heldOut.percent())
	if good.asked < 300 {
		t.Errorf("the corpus has only %.0f questions", good.asked)
	}
	for what, pair := range map[string][2]tally{"all": {plain, good}, "held out": {plainHeld, heldOut}} {
		if pair[1].percent() < 70 || pair[1].percent() < pair[0].percent()+10 {
			t.Errorf("%s: recall@10 is %.1f, want 70 at least and 10 more than plain BM25's %.1f", what, pair[1].percent(), pair[0].percent())
		}
	}
}
