package reflect

import (
	"errors"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrNoTranscript is returned for data that is in none of the formats that Read
// knows.
var ErrNoTranscript = errors.New("no transcript: Deckhand journals (JSON lines), " +
	`OpenAI messages ({"messages": […]}, a list, or one message a line) and ReAct text (Thought, Action, Observation) are read`)

// Format names what a transcript was written in.
type Format string

// The formats of a transcript.
const (
	JournalFormat  Format = "journal"
	MessagesFormat Format = "messages"
	ReActFormat    Format = "react"
)

// Transcript is what was read from a file.
type Transcript struct {
	Format Format
	Steps  int // of all traces
	// Newer counts events that only a newer build understands; they are left out.
	Newer int

	traces   []*Trace
	journals []*Journal
	recorded []agent.Finding
}

func (t *Transcript) add(trace *Trace) {
	t.traces = append(t.traces, trace)
	t.Steps += trace.Len()
}

// Examine judges the transcript by all rules that its format has the events
// for. Prose is judged (L5) even where it was refused.
func (t *Transcript) Examine(th Thresholds) []agent.Finding {
	th.ProseAlways = true
	list := []agent.Finding{}
	for _, trace := range t.traces {
		list = append(list, Examine(trace, th)...)
	}
	for _, j := range t.journals {
		list = append(list, j.Plans(th)...)
	}
	return append(list, t.recorded...)
}
