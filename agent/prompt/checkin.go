package prompt

// This file collects what a check-in is told about a task: its latest calls
// with their results, its spending, findings and missing outputs. It also
// words the lessons that check-ins left, for later prompts.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// What a check-in sees of a task's journal.
const (
	digestCalls     = 20  // the newest
	digestArguments = 200 // characters of each call
	digestResult    = 400
	digestFindings  = 5
	runLessons      = 12 // of a run, in the briefs of its plans and its report
)

// digest is a strand's journal as a check-in sees it, made from the fold.
type digest struct {
	Calls    []string // the newest last, with their event numbers
	Left     int      // earlier calls that are not shown
	Failed   int      // calls that returned an error
	Asked    int      // model calls of the strand
	Elapsed  string
	Spent    string
	Findings []string
	Missing  []string // outputs that are still to be delivered
	Before   string   // how far the last check-in saw it
}

// digested looks over the work of the strand.
func digested(r agent.Run, s agent.StrandID, task agent.Task) *digest {
	st := r.Strands.Of(s)
	d := &digest{Asked: st.Calls, Elapsed: r.Last.Sub(r.Tasks[task.ID].Started).Round(time.Second).String(),
		Spent: fmt.Sprintf("%d tokens", r.Spent.Tokens())}
	if usd := r.Spent.Dollars(); usd != nil {
		d.Spent += ", $" + usd.String()
	}
	if !st.CheckIn.Last.IsZero() {
		d.Before = fmt.Sprintf("%.2f", st.CheckIn.Progress)
	}
	d.look(st.Talks.Of(llm.Work).Entries)
	for _, f := range r.Findings[min(st.CheckIn.Found, len(r.Findings)):] {
		if f.Strand == s {
			d.Findings = append(d.Findings, f.Rule+" ("+f.Severity+"):\n"+Frame(Shorten(f.Message, digestResult), agent.Untrusted))
		}
	}
	d.Findings = d.Findings[max(0, len(d.Findings)-digestFindings):]
	for _, o := range task.Outputs {
		d.Missing = append(d.Missing, o.Name)
	}
	return d
}

// look lists the calls of a conversation with what came of them.
func (d *digest) look(entries agent.History) {
	var open []llm.Call
	for _, e := range entries.All() {
		if e.Answer != nil {
			open = slices.Clone(e.Answer.Calls)
			continue
		}
		if e.Reply == nil {
			continue
		}
		arguments := ""
		if i := slices.IndexFunc(open, func(c llm.Call) bool { return c.ID == e.Reply.Call && c.Name == e.Reply.Name }); i >= 0 {
			arguments = open[i].Arguments
			open = slices.Delete(open, i, i+1)
		}
		if strings.HasPrefix(e.Reply.Text, "error") {
			d.Failed++
		}
		trust := e.Reply.Trust
		if trust == "" {
			trust = agent.Trusted // Deckhand's own words
		}
		d.Calls = append(d.Calls, fmt.Sprintf("#%d %s\n%s\nreturned\n%s", e.Seq, e.Reply.Name,
			Frame(Shorten(arguments, digestArguments), agent.Untrusted), Frame(Shorten(e.Reply.Text, digestResult), trust)))
	}
	d.Left = max(0, len(d.Calls)-digestCalls)
	d.Calls = d.Calls[d.Left:]
}

// learnt is a list of lessons as data, empty if there are none: models wrote
// them, and who knows what they had read.
func learnt(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return Frame("- "+strings.Join(list, "\n- "), agent.Untrusted)
}

// lessonsOf is what the check-ins of a run learnt, the newest last.
func lessonsOf(r agent.Run) string {
	var list []string
	for _, l := range r.Lessons[max(0, len(r.Lessons)-runLessons):] {
		list = append(list, string(l.Task)+": "+l.Text)
	}
	return learnt(list)
}

// topic tells a conversation of the strand from the one before it for the same
// purpose: another check-in, another model's turn in it, or entries that
// something was taken out of.
func topic(r agent.Run, s agent.StrandID, p llm.Purpose) string {
	st := r.Strands.Of(s)
	if p != llm.CheckIn {
		return strconv.Itoa(st.Talks.Of(p).Cut)
	}
	return fmt.Sprint(st.CheckIn.Last.UnixNano(), st.CheckIn.First != nil)
}
