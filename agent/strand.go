package agent

import (
	"encoding/json"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Strand is one line of work within a run: what it said to the model, what
// came back, and which of the model's calls are still open.
type Strand struct {
	Talks Talks `json:"talks,omitempty"`
	// Call is the model call under way, nil if none. After a crash it is lost.
	Call *ModelAsked `json:"call,omitempty"`
	// Calls counts the strand's model calls, so that effect ids never repeat.
	Calls     int            `json:"calls"`
	Finishing *TaskFinishing `json:"finishing,omitempty"`
	Judged    *TaskJudged    `json:"judged,omitempty"`
	CheckIn   CheckIn        `json:"check_in,omitzero"`
	// Error is why the model could not be asked, empty if it could.
	Error  string    `json:"error,omitempty"`
	Ticked time.Time `json:"ticked,omitzero"` // newest TimePassed
	Ended  bool      `json:"ended,omitempty"`
}

// Talk is one conversation of a strand, for one purpose. Entries only grow, so
// that requests keep their prefix.
type Talk struct {
	Entries History `json:"entries,omitzero"`
	// Open are the calls of the newest answer that have no reply yet, in order.
	Open []OpenCall `json:"open,omitempty"`
	// Held are notes that came while calls were open: the protocol wants every
	// call answered first.
	Held    []Entry `json:"held,omitempty"`
	Strikes int     `json:"strikes,omitempty"` // unusable replies in a row
	Struck  bool    `json:"struck,omitempty"`  // the newest answer is one of them
	Repairs int     `json:"repairs,omitempty"` // plans refused in a row
	// Cut counts how often something was taken out of the entries: they are to
	// be rendered anew then.
	Cut int `json:"cut,omitempty"`
}

// Entry is one turn: exactly one of Answer, Reply and Note is set. Seq is the
// event that a reply came with.
type Entry struct {
	Answer *llm.Message `json:"answer,omitempty"`
	Reply  *Reply       `json:"reply,omitempty"`
	Note   *Note        `json:"note,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
}

// Reply is the answer to one of the model's calls.
type Reply struct {
	Call     string `json:"call"`
	Name     string `json:"name"`
	Text     string `json:"text"`
	Trust    Trust  `json:"trust,omitempty"` // empty: Deckhand's own words
	Artifact string `json:"artifact,omitempty"`
}

// Note is something that was said to the model on the way.
type Note struct {
	By      string `json:"by"` // "deckhand" for the engine
	Text    string `json:"text"`
	Trusted bool   `json:"trusted"`
	// Lesson marks what a check-in learnt, in a model's words.
	Lesson bool `json:"lesson,omitempty"`
}

// Deckhand is the author of notes that the engine itself writes.
const Deckhand = "deckhand"

// OpenCall is one of the model's calls on its way to a reply.
type OpenCall struct {
	llm.Call
	Effect EffectID `json:"effect"`
	// Edited replaces the model's arguments where a person edited them.
	Edited json.RawMessage `json:"edited,omitempty"`
	// Checkpoint is the newest question about this call, empty if none.
	Checkpoint CheckpointID `json:"checkpoint,omitempty"`
	Intent     *ToolIntent  `json:"intent,omitempty"`
	Until      time.Time    `json:"until,omitzero"` // deferred
	Deferred   int          `json:"deferred,omitempty"`
	// Again asks for a new attempt of an intent that a probe found undone.
	Again int `json:"again,omitempty"`
}

// Purpose is what the strand asks the model for at this point of the run.
func (r Run) Purpose(s StrandID) llm.Purpose {
	if _, ok := s.Task(); ok {
		st := r.Strands[s]
		if r.checksIn(s, st) {
			return llm.CheckIn
		}
		if st.Finishing != nil {
			return llm.Judge
		}
		return llm.Work
	}
	switch {
	case s == Voice:
		return voice
	case r.Plans == 0:
		return llm.Intake
	case r.wantsPlan():
		return llm.Plan
	}
	return llm.Report
}

// Talk is the conversation that the strand is in.
func (r Run) Talk(s StrandID) Talk { return r.Strands[s].Talks.Of(r.Purpose(s)) }

func jsonString(s string) json.RawMessage {
	b, _ := format.JSON(s) // a string always encodes
	return b
}
