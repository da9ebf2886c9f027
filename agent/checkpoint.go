package agent

// This file defines the questions that a run puts to people, the words of
// their decisions, and what a run keeps of both: which are open, what was
// granted, what was denied.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// CheckpointKind says what people are asked for.
type CheckpointKind string

// The kinds of checkpoint.
const (
	CheckClarify   CheckpointKind = "clarify"
	CheckPlan      CheckpointKind = "plan"
	CheckApproval  CheckpointKind = "approval"
	CheckBudget    CheckpointKind = "budget"
	CheckStuck     CheckpointKind = "stuck"
	CheckUncertain CheckpointKind = "uncertain"
)

// The words of decisions. The words that buttons show are these, capitalised.
const (
	DecideApprove = "approve"
	DecideDeny    = "deny"
	DecideEdit    = "edit"
	DecideAlways  = "always"
	DecideCancel  = "cancel"
	DecideAnswer  = "answer"        // clarify: Answers or Text
	DecideForMe   = "decide for me" // clarify: the model decides
	DecideMore25  = "+25 %"         // budget
	DecideMore100 = "+100 %"        // budget
	DecideFinish  = "finish with what you have"
	DecideRetry   = "try again" // stuck
	DecideRepeat  = "repeat"    // uncertain: run it again
	DecideSkip    = "skip"      // uncertain: treat it as not needed; stuck: fail this task, go on with the rest
	DecideDone    = "done"      // uncertain: it happened
	DecideExpired = "expired"   // nobody decided in time
)

// MarshalJSON writes expires as null where the question never expires: scripts
// rely on the field (CONTRACT.md).
func (c CheckpointOpened) MarshalJSON() ([]byte, error) {
	if !c.Expires.IsZero() {
		return format.JSON(question(c))
	}
	return format.JSON(struct {
		question
		Expires *time.Time `json:"expires"`
	}{question: question(c)})
}

func checkpointID(run RunID, about string, n, m int) CheckpointID {
	return CheckpointID(string(run) + "-" + derive(string(run), about, fmt.Sprint(n, " ", m))[:8])
}

// Run is the run that the checkpoint belongs to: its id begins with it.
func (c CheckpointID) Run() RunID {
	run, _, _ := strings.Cut(string(c), "-")
	return RunID(run)
}

// Expiry is when a question of the run that is opened at the time runs out,
// zero: never.
func (b RunStarted) Expiry(opened time.Time) time.Time {
	if b.Expires <= 0 {
		return time.Time{}
	}
	return opened.Add(b.Expires)
}

// question has the fields of CheckpointOpened without being an event.
type question CheckpointOpened

// Checkpoint is a question to people and, once given, the decision. Its fields
// are those of CheckpointOpened and these.
type Checkpoint struct {
	question
	Strand   StrandID           `json:"strand"`
	Opened   time.Time          `json:"opened"`
	Votes    []CheckpointVoted  `json:"votes,omitempty"` // approvals so far, where a quorum is set
	Decision *CheckpointDecided `json:"decided,omitempty"`
	Closed   time.Time          `json:"closed,omitzero"` // when it was decided
}

// Voted reports whether the person approved already.
func (c Checkpoint) Voted(by string) bool {
	return slices.ContainsFunc(c.Votes, func(v CheckpointVoted) bool { return v.By == by })
}

// Open reports whether nobody has decided yet.
func (c Checkpoint) Open() bool { return c.Decision == nil }

// Questions are a run's checkpoints, and what their decisions allow and deny
// from then on.
type Questions struct {
	Asked  []CheckpointID              `json:"asked,omitempty"` // in the order of opening
	Checks map[CheckpointID]Checkpoint `json:"checks,omitempty"`
	Grants []string                    `json:"grants,omitempty"`
	Denied map[string]string           `json:"denied,omitempty"` // Digest of a call → what the model is told
}

// ask adds a question.
func (q Questions) ask(c Checkpoint) Questions {
	q.Asked = push(q.Asked, c.ID)
	q.Checks = with(q.Checks, c.ID, c)
	return q
}

// vote counts an approval; a second one of the same person changes nothing.
func (q Questions) vote(b CheckpointVoted) Questions {
	c, known := q.Checks[b.ID]
	if known && c.Open() && !c.Voted(b.By) {
		c.Votes = push(c.Votes, b)
		q.Checks = with(q.Checks, b.ID, c)
	}
	return q
}

// grant allows something for the rest of the run.
func (q Questions) grant(word string) Questions {
	if word != "" && !slices.Contains(q.Grants, word) {
		q.Grants = push(q.Grants, word)
	}
	return q
}

// first is the oldest question of which it is so, nil if there is none.
func (q Questions) first(is func(c Checkpoint) bool) *Checkpoint {
	for _, id := range q.Asked {
		if c := q.Checks[id]; is(c) {
			found := c // only this one goes to the heap
			return &found
		}
	}
	return nil
}

// OpenCheckpoint is the oldest question that nobody has decided, nil if none.
func (q Questions) OpenCheckpoint() *Checkpoint { return q.first(Checkpoint.Open) }

// OpenCheckpoints lists the undecided questions, the oldest first.
func (q Questions) OpenCheckpoints() []Checkpoint {
	var open []Checkpoint
	for _, id := range q.Asked {
		if c := q.Checks[id]; c.Open() {
			open = append(open, c)
		}
	}
	return open
}

// waitsFor is the strand's own open checkpoint, nil if none.
func (q Questions) waitsFor(s StrandID) *Checkpoint {
	return q.first(func(c Checkpoint) bool { return c.Open() && c.Strand == s })
}

// budgetOpen reports whether a question about a budget waits for an answer.
func (q Questions) budgetOpen() bool {
	return q.first(func(c Checkpoint) bool { return c.Open() && c.Ask == CheckBudget }) != nil
}

// broke reports whether people ended the run because its budget was used up.
func (q Questions) broke() bool {
	return q.first(func(c Checkpoint) bool {
		return c.Ask == CheckBudget && !c.Open() && c.Decision.Decision != DecideMore25 && c.Decision.Decision != DecideMore100
	}) != nil
}

// gaveUp is the question about a way out that ended the run: nobody answered it
// in time, or a person said that what there is must do. Nil if there is none.
func (q Questions) gaveUp() *Checkpoint {
	return q.first(func(c Checkpoint) bool {
		return c.Ask == CheckStuck && !c.Open() && !slices.Contains([]string{DecideRetry, DecideSkip, DecideCancel}, c.Decision.Decision)
	})
}

// rejected reports whether the newest review was a denial.
func (q Questions) rejected() bool {
	for _, id := range slices.Backward(q.Asked) {
		if c := q.Checks[id]; c.Review {
			return !c.Open() && c.Decision.Decision != DecideApprove && c.Decision.Decision != DecideExpired
		}
	}
	return false
}
