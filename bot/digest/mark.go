package digest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// mark is a hash of where the live runs stand: which there are, what state
// they and their tasks are in, which questions are open and which budgets are
// nearly used up. A run that has left no trace for an hour stands elsewhere
// than before: that is the one thing that time alone changes.
func (d grouped) mark() string {
	h := sha256.New()
	runs := slices.Clone(d.live)
	slices.SortFunc(runs, func(a, b agent.Run) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range runs {
		d.stand(h, r)
	}
	unread := make([]string, len(d.Unread))
	for i, s := range d.Unread {
		unread[i] = string(s.Run)
	}
	slices.Sort(unread)
	trace(h, append([]string{"unread"}, unread...)...)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// stand writes where a live run stands.
func (d grouped) stand(w io.Writer, r agent.Run) {
	trace(w, "run", string(r.ID), d.why(r), r.Paused, r.Refused, strconv.Itoa(r.Plans),
		strconv.FormatBool(r.Cancelled != nil), strconv.FormatBool(r.Finish), strconv.FormatBool(r.Report != nil))
	for _, t := range r.Plan.Tasks {
		trace(w, "task", string(t.ID), string(r.Tasks[t.ID].State))
	}
	for _, c := range r.OpenCheckpoints() {
		trace(w, "open", string(c.ID), strconv.Itoa(len(c.Votes)))
	}
	for _, b := range card.Budgets(r) {
		trace(w, "budget", b.Name, strconv.FormatBool(b.Percent() >= nearly))
	}
}

// trace writes a line so that no two lists of words read the same.
func trace(w io.Writer, words ...string) {
	_, _ = fmt.Fprintf(w, "%q\n", words) // a hash takes everything
}
