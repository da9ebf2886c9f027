// Package use finds out what became of the results of calls: whether anything
// that was written later makes use of them. It reads a run's journal and nothing
// else.
//
//	use.go     Of: each call with what its result was worth
//	words.go   what is new in a text, and whether another one has it
//	figures.go Figures: calls, failures, useless ones, cost and time of each tool
//
// Telling it is agent/trace's and the tools' list.
package use

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/thought"
)

// Worth is what a result was worth.
type Worth string

// What results are worth. Used: something that was written later has what only
// the result said, or the call had an effect and went well. Useless: the run ended,
// or its task did, and nothing has it. Open: nobody can tell yet.
const (
	Used    Worth = "yes"
	Useless Worth = "no"
	Failed  Worth = "failed"
	Open    Worth = "open"
)

// Use is one call of a tool with what its result was worth.
type Use struct {
	Effect agent.EffectID
	Strand agent.StrandID
	Tool   string
	Seq    uint64 // of the intent
	Digest string // of the tool and its arguments
	Worth  Worth
	By     uint64 // the event that first made use of it, 0: none
	Took   time.Duration
	Cost   agent.Nano // of its share of the question that it was the answer to
}

// watched is a call whose result is looked for.
type watched struct {
	Use
	fresh words
	files []string
}

// reader goes through a journal.
type reader struct {
	calls  []*watched
	open   map[agent.EffectID]*watched
	seeks  map[agent.StrandID][]*watched // results that nothing has used yet, by strand
	known  words                         // what was said before any result
	shares map[agent.EffectID]agent.Nano
}

// Of are the calls of tools in a journal, with what their results were worth.
func Of(events []agent.Event) []Use {
	r := reader{open: map[agent.EffectID]*watched{}, seeks: map[agent.StrandID][]*watched{}, known: words{}, shares: map[agent.EffectID]agent.Nano{}}
	for _, e := range events {
		r.read(e)
	}
	list := make([]Use, len(r.calls))
	for i, c := range r.calls {
		list[i] = c.Use
	}
	return list
}

func (r *reader) read(e agent.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // the other kinds say nothing of results
	case agent.RunStarted:
		r.known.add(b.Goal)
	case agent.PersonSaid:
		r.known.add(b.Text)
	case agent.TaskStarted:
		r.known.add(b.Instructions)
	case agent.ModelAnswered:
		r.answered(e, b)
	case agent.ToolIntent:
		r.intend(e, b)
	case agent.ToolOutcome:
		r.result(e, b)
	case agent.TaskFinishing:
		r.written(e, b.Summary+" "+outputs(b.Outputs))
	case agent.TaskEnded:
		r.over(agent.TaskStrand(b.Task))
	case agent.Reported:
		r.everywhere(e, b.Headline+" "+b.Body)
	case agent.RunEnded:
		for s := range r.seeks {
			r.over(s)
		}
	}
}

// answered notes what a call's question cost, and looks for results in what the
// model calls next.
func (r *reader) answered(e agent.Event, b agent.ModelAnswered) {
	if b.Message == nil || b.Purpose != llm.Work {
		return
	}
	for i, c := range b.Message.Calls {
		if b.Cost != nil {
			r.shares[agent.EffectID(fmt.Sprintf("%s.%d", b.Call, i))] = *b.Cost / agent.Nano(len(b.Message.Calls))
		}
		r.written(e, thought.Without(c.Arguments))
	}
}

func (r *reader) intend(e agent.Event, b agent.ToolIntent) {
	if e.Strand == agent.Voice || r.open[b.Effect] != nil {
		return // a post, or one more attempt
	}
	w := &watched{Use: Use{Effect: b.Effect, Strand: e.Strand, Tool: b.Tool, Seq: e.Seq, Digest: agent.Digest(b.Tool, b.Arguments),
		Worth: Open, Cost: r.shares[b.Effect]}}
	w.fresh = words{}
	r.known.add(string(b.Arguments))
	if b.Repeat != agent.RepeatRead {
		w.fresh = nil // it is made for its effect
	}
	r.calls, r.open[b.Effect] = append(r.calls, w), w
}

func (r *reader) result(e agent.Event, b agent.ToolOutcome) {
	w := r.open[b.Effect]
	if w == nil {
		return
	}
	delete(r.open, b.Effect)
	w.Took = b.Took
	switch {
	case b.State != agent.OutcomeOK:
		w.Worth = Failed
	case w.fresh == nil:
		w.Worth, w.By = Used, e.Seq
	default:
		w.fresh = fresh(b.Text, r.known)
		w.files = append(w.files, b.Files...)
		if b.Artifact != "" {
			w.files = append(w.files, b.Artifact)
		}
		r.seeks[e.Strand] = append(r.seeks[e.Strand], w)
	}
}

// written looks for the strand's results in what its model wrote.
func (r *reader) written(e agent.Event, text string) { r.look(e.Strand, e.Seq, text) }

// everywhere looks for the results of all strands in what was written.
func (r *reader) everywhere(e agent.Event, text string) {
	for s := range r.seeks {
		r.look(s, e.Seq, text)
	}
}

func (r *reader) look(s agent.StrandID, seq uint64, text string) {
	list := r.seeks[s]
	if len(list) == 0 || text == "" {
		return
	}
	said := words{}
	said.add(text)
	var left []*watched
	for _, w := range list {
		if !w.fresh.within(said) && !named(w.files, text) {
			left = append(left, w)
			continue
		}
		w.Worth, w.By = Used, seq
	}
	r.seeks[s] = left
}

// over ends the search for a strand's results.
func (r *reader) over(s agent.StrandID) {
	for _, w := range r.seeks[s] {
		w.Worth = Useless
	}
	r.seeks[s] = nil
}

// named reports whether a text names one of the files or artifacts.
func named(files []string, text string) bool {
	for _, f := range files {
		if strings.Contains(text, f) {
			return true
		}
	}
	return false
}

// outputs are a task's results as text.
func outputs(list []agent.Output) string {
	text, _ := json.Marshal(list) //nolint:errchkjson // values were read from JSON
	return string(text)
}
