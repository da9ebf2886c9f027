package prompt

// This file collects what a model is told that finds out what a person's words
// mean: little, as it is asked often, and where the words are a question, where
// the run stands, from the fold alone.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Bounds of what is told. A person's words are cut in the middle.
const (
	hearWords     = 600 // characters
	hearTitle     = 60
	hearQuestions = 4
	hearTasks     = 30
	hearNote      = 200 // of what came of a task, of what somebody said
	hearSaid      = 5
	hearCalls     = 3 // of each task at work, the newest
)

// hearing is what the templates see of a person's words.
type hearing struct {
	Words     []string // each in quotes
	Questions []openQuestion
	// Asks says that the words are a question, or look like one (Unsure).
	Asks, Unsure bool
	State        string
	Calls        []string
}

type openQuestion struct {
	ID    agent.CheckpointID
	Title string
}

// Number is the number of the words at the index, as the model names them.
func (hearing) Number(i int) int { return i + 1 }

// Functions of the purpose hear.
const (
	takeMessage    = "take_message"
	answerQuestion = "answer_question"
)

// hears are the functions for the words that are to be understood next: a
// question is answered, what only looks like one may be anything.
func hears(r agent.Run) []string {
	next := r.Hearing.Next()
	switch {
	case len(next) == 0 || !next[0].Asks():
		return []string{takeMessage}
	case next[0].Question:
		return []string{answerQuestion}
	}
	return []string{answerQuestion, takeMessage}
}

// hear looks at the words that are to be understood next.
func (v *view) hear(r agent.Run) {
	h := &hearing{}
	v.Hear = h
	next := r.Hearing.Next()
	for _, w := range next {
		h.Words = append(h.Words, quote(w))
	}
	for _, id := range slices.Backward(before(next)) {
		if c := r.Checks[id]; c.Open() && len(h.Questions) < hearQuestions {
			h.Questions = append(h.Questions, openQuestion{id, format.LineStart(title(c), hearTitle)})
		}
	}
	if len(next) == 0 || !next[0].Asks() {
		return
	}
	h.Asks, h.Unsure = true, !next[0].Question
	h.State = standing(r)
	v.lookAtPlan(r)
	v.Tasks = v.Tasks[:min(len(v.Tasks), hearTasks)]
	for i := range v.Tasks {
		t := &v.Tasks[i]
		t.Summary, t.Reason = framed(t.Summary), framed(t.Reason)
	}
	for _, n := range r.Said[max(0, len(r.Said)-hearSaid):] {
		if n.Text == "" && !n.Trusted {
			continue
		}
		v.Said = append(v.Said, framed(n.Text))
	}
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State == agent.TaskRunning {
			h.Calls = append(h.Calls, newest(r, t)...)
		}
	}
}

// quote puts a person's words into quotes that they cannot leave: whatever they
// say, they are what is asked about.
func quote(w agent.Words) string {
	line, _ := format.JSON(Shorten(w.Text, hearWords)) // a string always encodes
	return string(line)
}

// before are the questions that the authors of the words had before them, the
// oldest first.
func before(words []agent.Words) []agent.CheckpointID {
	var list []agent.CheckpointID
	for _, w := range words {
		for _, id := range w.Unread.Before {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// title is what a question asks.
func title(c agent.Checkpoint) string {
	if c.Ask == agent.CheckClarify && len(c.Questions) > 0 {
		return c.Questions[0].Question
	}
	return c.Title
}

// framed is a text of a model, a tool or a person as data in one line.
func framed(text string) string {
	if text == "" {
		return ""
	}
	line, _ := format.JSON(format.LineStart(text, hearNote)) // a string always encodes
	return string(line)
}

// newest are the last calls of a task at work, with what came of them.
func newest(r agent.Run, t agent.Task) []string {
	d := &digest{}
	d.look(r.Strands.Of(agent.TaskStrand(t.ID)).Talks.Of(llm.Work).Entries)
	return d.Calls[max(0, len(d.Calls)-hearCalls):]
}

// standing is where the run stands, in words.
func standing(r agent.Run) string {
	done, total := r.Progress()
	parts := []string{string(r.State()), format.Count(total, "task") + " planned, " + strconv.Itoa(done) + " done",
		"running for " + r.Last.Sub(r.Started).Round(time.Second).String()}
	if r.Plans == 0 {
		parts[1] = "no plan yet"
	}
	if r.Paused != "" {
		parts = append(parts, "paused by "+r.Paused)
	}
	if usd := r.Spent.Dollars(); usd != nil {
		parts = append(parts, "spent $"+usd.String())
	}
	for _, c := range r.OpenCheckpoints() {
		parts = append(parts, "waits for a person: "+framed(title(c)))
	}
	for _, f := range r.Findings[max(0, len(r.Findings)-2):] {
		parts = append(parts, fmt.Sprintf("noticed: %s", framed(f.Message)))
	}
	return strings.Join(parts, "; ")
}
