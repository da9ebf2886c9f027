package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// RunInfo is what a store knows of a run without folding it.
type RunInfo struct {
	Run     RunID
	Length  uint64    // events in the journal
	Started time.Time // stamp of the first event
	Ended   time.Time // zero while it lives
	Last    time.Time // stamp of the newest event
	// Due is the earliest time that one of the run's strands but Voice is due
	// at: a time in the past for one that waits for a worker. A strand under
	// somebody's lease is due at the time of the listing, or at the lease's end
	// where the lease ran out. Zero: every strand is parked.
	Due time.Time
}

// RunFilter says which runs are listed. The zero value is every run.
type RunFilter struct {
	// Live leaves out the runs that have ended.
	Live bool
	// EndedAfter, where it is not zero, leaves out the runs that ended then or
	// before.
	EndedAfter time.Time
	// Only, where it is not nil, leaves out all but these.
	Only []RunID
	// Most bounds the list; 0: nothing does.
	Most int
}

// Holds reports whether the filter lists the run; Most aside.
func (f RunFilter) Holds(r RunInfo) bool {
	return (r.Ended.IsZero() || !f.Live && r.Ended.After(f.EndedAfter)) && (f.Only == nil || slices.Contains(f.Only, r.Run))
}

// Run is what is true of a run: the fold of its journal. A Run is a value:
// Apply returns a new one and leaves the old one as it was, so that folds may
// be shared between goroutines. It is also what a snapshot holds, as JSON, in
// which the parts of a Run stand side by side.
type Run struct {
	ID      RunID      `json:"id"`
	Seq     uint64     `json:"seq"`
	Started time.Time  `json:"started"`
	Last    time.Time  `json:"last"` // stamp of the newest event
	Brief   RunStarted `json:"brief"`

	Paused  string `json:"paused,omitempty"`  // who or what paused it; empty: it runs
	Refused string `json:"refused,omitempty"` // the model refused the configuration: why
	// RefusedWhy is the same in a few words for people who do not run the
	// endpoint; empty where the journal does not know them.
	RefusedWhy string         `json:"refused_why,omitempty"`
	Cancelled  *RunControlled `json:"cancelled,omitempty"`
	Stopped    time.Time      `json:"stopped,omitzero"` // when it was cancelled
	Alone      bool           `json:"alone,omitempty"`  // nobody can be asked about trouble
	Finish     bool           `json:"finish,omitempty"` // a person wants what there is

	Work              // the plan and its tasks
	Strands   Strands `json:"strands,omitzero"`
	Questions         // to people, and what their answers allow
	Budget            // what was spent

	Report *Reported `json:"report,omitempty"`
	// Revised is what became of the schedule that the report made: undone or changed.
	Revised  *RunControlled `json:"revised,omitempty"`
	Ended    *RunEnded      `json:"ended,omitempty"`
	Finished time.Time      `json:"finished,omitzero"` // when it ended
	Said     []Note         `json:"said,omitempty"`    // by people, on the way
	Findings []Finding      `json:"findings,omitempty"`
	Recalled *Recalled      `json:"recalled,omitempty"`
	Memories []StrandMemory `json:"memories,omitempty"` // of tasks
	Lessons  Lessons        `json:"lessons,omitempty"`  // of check-ins, the newest of each task
	Rethink  *Rethink       `json:"rethink,omitempty"`  // before another task starts
	Files    []Attachment   `json:"files,omitempty"`    // that people gave
	Touched  []string       `json:"touched,omitempty"`  // workspace files, the newest last

	Posted  // what people were shown
	Hearing // what people said that is to be understood
}

// CheckpointID is the id of a question about a call: the same call asks its
// n-th question under the same id, wherever it is worked.
func (r Run) CheckpointID(effect EffectID) CheckpointID {
	return checkpointID(r.ID, string(effect), len(r.Asked), 0)
}

// Limits is what the run may spend, with what people added.
func (r Run) Limits() Limits { return r.Brief.Limits.raised(r.Raised) }

// stopping reports whether the strands should come to an end.
func (r Run) stopping() bool { return r.Cancelled != nil || r.Finish }

// rethinks reports whether the plan is to be made anew before another task starts.
func (r Run) rethinks() bool {
	return r.Rethink != nil && !r.Complete() && !r.anyFailed(FailImpossible)
}

// maxReplans is how often a run plans anew after a failure before a person is
// asked (MODEL.md).
const maxReplans = 2

// wantsPlan reports whether a failure calls for a new plan: at most two a run,
// and then each one that a person allows; never for what is impossible, and for
// what is blocked only after a person said so.
func (r Run) wantsPlan() bool {
	if r.Plans == 0 || r.Complete() || r.anyFailed(FailImpossible) || r.stopping() || r.Report != nil {
		return false
	}
	rethinks := r.rethinks()
	if rethinks && r.running() > 0 || !rethinks && (!r.settled() || len(r.failed()) == 0) {
		return false
	}
	if r.Replans < r.Retries {
		return true // a person said: try again
	}
	return !r.anyFailed(FailBlocked) && r.Replans < maxReplans && (!rethinks || !r.Rethink.Person)
}

// Schedulable reports whether the goal may turn out to be a schedule: a person
// gave it in their own words, in chat.
func (b RunStarted) Schedulable() bool {
	return b.Zone != "" && b.ReplyTo != "" && b.Tick == nil && len(b.Files) == 0
}

// Purpose is what the strand asks the model for at this point of the run.
func (r Run) Purpose(s StrandID) llm.Purpose {
	if _, ok := s.Task(); ok {
		st := r.Strands.Of(s)
		switch {
		case st.checksIn(r.Brief.CheckIns):
			return llm.CheckIn
		case st.compacts():
			return llm.Compact
		case st.Finishing != nil && toCheck(r, st):
			return llm.Check
		case st.Finishing != nil:
			return llm.Judge
		}
		return llm.Work
	}
	switch {
	case s == Voice:
		return voice
	case s == Hear:
		return llm.Hear
	case r.Plans == 0:
		return llm.Intake
	case r.wantsPlan():
		return llm.Plan
	}
	return llm.Report
}

// toCheck reports whether a program is to look at what the strand's task delivers.
func toCheck(r Run, s Strand) bool {
	task, _ := r.Plan.Task(s.Finishing.Task)
	return task.Check != nil && s.Judged == nil && !s.Passed
}

// Talk is the conversation that the strand is in.
func (r Run) Talk(s StrandID) Talk { return r.Strands.Of(s).Talks.Of(r.Purpose(s)) }

// Values are the outputs that are there, by name, with goal.text.
func Values(r Run) map[string]Output {
	goal, _ := format.JSON(r.Brief.Goal) // a string always encodes
	values := map[string]Output{"goal.text": {Name: "goal.text", Value: goal}}
	for _, t := range r.Plan.Tasks {
		for _, o := range r.Tasks[t.ID].Outputs {
			values[o.Name] = o
		}
	}
	return values
}

// Scheduled reports whether the run is a scheduled report, which has neither a
// card nor work.
func (r Run) Scheduled() bool { return r.Brief.Tick != nil && r.Brief.Tick.Report }

// Replied reports whether the run was a mere answer: its card is the answer.
func (r Run) Replied() bool {
	return r.Ended != nil && r.Report != nil && r.Plans == 0 && r.Ended.State == RunDone && !r.Scheduled()
}

// Thread is the thread that the run is talked about in, empty if none is known
// (yet): where the run was started, or the one that its card opened.
func (r Run) Thread() string {
	if s := r.Shown[KeyCard]; s.Thread != "" {
		return s.Thread
	}
	if strings.HasSuffix(r.Brief.ReplyTo, ":") {
		return ""
	}
	return r.Brief.ReplyTo
}

// What the parts of a fold take in memory beside their texts, in bytes, by
// measurement.
const (
	runBytes  = 4 << 10
	partBytes = 512
)

// Size is about what a fold takes in memory, in bytes: its texts, and something
// for each of its parts.
func Size(r Run) int {
	n := runBytes + partBytes*(r.Strands.Len()+len(r.Plan.Tasks)+len(r.Findings)+len(r.Checks))
	for _, s := range r.Strands.All() {
		for _, in := range s.Talks {
			n += in.Talk.Entries.bytes
			for _, e := range in.Talk.Held {
				n += e.bytes()
			}
		}
	}
	for _, t := range r.Plan.Tasks {
		s := r.Tasks[t.ID]
		n += len(t.Instructions) + len(s.Instructions) + len(s.Summary)
		for _, o := range s.Outputs {
			n += len(o.Value)
		}
	}
	for _, c := range r.Checks {
		n += len(c.Detail) + len(c.Arguments)
	}
	for _, s := range r.Said {
		n += len(s.Text)
	}
	return n + r.size()
}
