package agent

// This file defines the questions that a run puts to people, the words of
// their decisions, and what a run keeps of both: which are open, what was
// granted, what was denied. It carries out the decisions, kind of question by
// kind, and words the reasons that follow from them, so that models and reports
// are told why work stopped.

import (
	"cmp"
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

// Asking is the run as the question sees it: its brief has the question's own
// approvers and quorum, where it has any.
func (r Run) Asking(c Checkpoint) Run {
	if len(c.Approvers) > 0 {
		r.Brief.Approvers = c.Approvers
	}
	if c.Quorum > 0 {
		r.Brief.Quorum = c.Quorum
	}
	return r
}

// Questions are a run's checkpoints, and what their decisions allow and deny
// from then on.
type Questions struct {
	Asked  []CheckpointID              `json:"asked,omitempty"` // in the order of opening
	Checks map[CheckpointID]Checkpoint `json:"checks,omitempty"`
	Grants []string                    `json:"grants,omitempty"`
	Denied map[string]string           `json:"denied,omitempty"` // Digest of a call → what the model is told
	// Under names the policy version under which a word of Grants was granted;
	// a word that is not in it holds under each.
	Under map[string]string `json:"under,omitempty"`
}

// Granted reports whether the word was granted under this version of the policy.
func (q Questions) Granted(word, version string) bool {
	under := q.Under[word]
	return slices.Contains(q.Grants, word) && (under == "" || under == version)
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

// grant allows something for the rest of the run, as long as the policy stays
// the one that it was asked under.
func (q Questions) grant(word, policy string) Questions {
	if word == "" {
		return q
	}
	if !slices.Contains(q.Grants, word) {
		q.Grants = push(q.Grants, word)
	}
	if policy != "" {
		q.Under = with(q.Under, word, policy)
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
		return c.Ask == CheckBudget && !c.Open() && Raise(c.Decision.Decision) == 0
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

func (r Run) openQuestion(e Event, b CheckpointOpened) Run {
	if _, known := r.Checks[b.ID]; known {
		return r
	}
	r.Questions = r.ask(Checkpoint{question: question(b), Strand: e.Strand, Opened: e.At})
	if b.Effect != "" {
		r.Strands = r.Strands.updateCall(e.Strand, b.Effect, func(c *OpenCall) { c.Checkpoint = b.ID })
	}
	return r
}

func (r Run) decide(b CheckpointDecided) Run {
	c, known := r.Checks[b.ID]
	if !known || !c.Open() {
		return r
	}
	c.Decision, c.Closed = &b, r.Last
	r.Checks = with(r.Checks, b.ID, c)
	switch c.Ask {
	case CheckApproval:
		if c.Review {
			return decideReview(r, b)
		}
		return decideApproval(r, c, b)
	case CheckPlan, CheckClarify:
		for _, path := range b.covered(c) {
			r.Questions = r.grant(GrantWrite(path), c.Policy)
		}
		if b.Decision == DecideCancel || (c.Ask == CheckPlan && b.Decision == DecideExpired) {
			r = r.cancel(b.cancels())
		}
	case CheckBudget:
		return decideBudget(r, c, b)
	case CheckStuck:
		return decideStuck(r, c, b)
	case CheckUncertain:
		if b.Decision == DecideRepeat {
			r.Strands = r.Strands.updateCall(c.Strand, c.Effect, func(o *OpenCall) {
				o.Again, o.Intent, o.Checkpoint = o.Again+1, nil, ""
			})
		}
	}
	return r
}

// covered are the files that the decision on a plan covers, of those that the
// question named.
func (b CheckpointDecided) covered(c Checkpoint) []string {
	if c.Ask != CheckPlan || b.Decision != DecideApprove {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.Covers), func(p string) bool { return !slices.Contains(c.Writes, p) })
}

// cancels is the decision as the word that cancels the run.
func (b CheckpointDecided) cancels() *RunControlled {
	return &RunControlled{Word: WordCancel, By: b.By, Reason: b.Text}
}

func decideApproval(r Run, c Checkpoint, b CheckpointDecided) Run {
	switch b.Decision {
	case DecideApprove:
		r.Questions = r.grant(c.Grant, c.Policy)
	case DecideAlways:
		r.Questions = r.grant(c.Grant, c.Policy).grant("tool:"+c.Tool, c.Policy)
	case DecideEdit:
		r.Strands = r.Strands.updateOpen(c.Strand, func(o *OpenCall) bool {
			mine := o.Checkpoint == c.ID
			if mine {
				o.Edited, o.Checkpoint = b.Arguments, ""
			}
			return mine
		})
	default:
		r.Denied = with(r.Denied, Digest(c.Tool, c.Arguments), denial(b))
	}
	return r
}

// denial is what the model is told of a call that people did not allow.
func denial(b CheckpointDecided) string {
	if b.Decision == DecideExpired {
		return "expired: nobody approved this call in time"
	}
	if b.Text == "" {
		return "denied by " + b.By
	}
	return "denied by " + b.By + ": " + b.Text
}

// decideReview takes a denial: what was delivered failed for the reviewer's
// reason, so that a new plan is made as after any other failure.
func decideReview(r Run, b CheckpointDecided) Run {
	if b.Decision == DecideApprove || b.Decision == DecideExpired {
		return r
	}
	reason := "rejected in the review by " + b.By
	if b.Text != "" {
		reason += ": " + format.LineStart(b.Text, maxReview)
		r.Said = push(r.Said, Note{By: b.By, Text: b.Text, Trusted: true})
	}
	r.Work = r.reject(reason)
	return r
}

func decideBudget(r Run, c Checkpoint, b CheckpointDecided) Run {
	more := Raise(b.Decision)
	switch {
	case more > 0:
		r.Raised = with(r.Raised, c.Budget, r.Raised[c.Budget]+more)
	case b.Decision == DecideCancel:
		r = r.cancel(b.cancels())
	default:
		r.Finish = true
	}
	return r
}

func decideStuck(r Run, c Checkpoint, b CheckpointDecided) Run {
	switch b.Decision {
	case DecideRetry:
		if c.Strand == Main {
			r.Retries = r.Replans + 1
		}
		r.Strands = r.Strands.change(c.Strand, func(s *Strand) {
			s.Error, s.CheckIn.Due = "", ""
			s.afresh(len(r.Findings))
		})
		if b.Text != "" {
			n := Note{By: b.By, Text: b.Text, Trusted: true}
			r.Said = push(r.Said, n)
			r = r.noteTo(c.Strand, n)
		}
	case DecideSkip: // the task fails, the rest goes on
		r.Strands = r.Strands.change(c.Strand, func(s *Strand) { s.Error = skipped(r, c, b) })
	case DecideCancel:
		r = r.cancel(b.cancels())
	default:
		r.Finish = true
	}
	return r
}

// maxStuckTitle bounds a task's title within a question about a way out.
const maxStuckTitle = 60 // characters

// StuckTitle is the title of a question about a way out: of which task, and why
// the work stopped.
func StuckTitle(p Plan, s StrandID, why string) string {
	id, _ := s.Task()
	if t, known := p.Task(id); known && t.Title != "" {
		return "Stuck on “" + format.Line(t.Title, maxStuckTitle) + "”: " + why
	}
	return "Stuck: " + why
}

// Bullets are the lines as a list, each of them in one line.
func Bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("- " + strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}

// stopped is what last stopped the strand, empty if nothing did.
func stopped(found []Finding, s StrandID) string {
	for _, f := range slices.Backward(found) {
		if f.Strand == s && f.Severity == FindingStop {
			return "stuck: " + f.Message
		}
	}
	return ""
}

// stuckOn is why the strand of the question was stopped, as fully as it is known.
func stuckOn(r Run, c Checkpoint) string {
	if c.Strand == Main {
		return c.Title
	}
	return cmp.Or(stopped(r.Findings, c.Strand), c.Title)
}

// skipped is why the task failed whose question was answered with a skip.
func skipped(r Run, c Checkpoint, b CheckpointDecided) string {
	if b.By == Deckhand && b.Text != "" {
		return stuckOn(r, c) + "; " + b.Text
	}
	return stuckOn(r, c) + "; skipped by " + b.By
}

// Refusal is the approval whose denial a question about a way out goes back to:
// the newest that its strand asked for, or one of the tasks that failed.
func (r Run) Refusal(c Checkpoint) (denied Checkpoint, is bool) {
	if c.Ask != CheckStuck {
		return Checkpoint{}, false
	}
	about := map[StrandID]bool{c.Strand: true}
	if c.Strand == Main {
		for _, id := range r.failed() {
			about[TaskStrand(id)] = true
		}
	}
	for _, id := range slices.Backward(r.Asked) {
		if k := r.Checks[id]; k.Ask == CheckApproval && !k.Review && about[k.Strand] && !k.Open() && !k.Closed.After(c.Opened) {
			return k, k.Decision.Decision == DecideDeny || k.Decision.Decision == DecideExpired
		}
	}
	return Checkpoint{}, false
}

// FinishedEarly is the decision to end the run with what there is, nil where
// nobody took it or everything was there.
func FinishedEarly(r Run) *CheckpointDecided {
	if !r.Finish || r.Cancelled != nil || r.Complete() {
		return nil
	}
	return r.finishing()
}

// finishing is the decision that what there is must do, nil if nobody took it.
func (q Questions) finishing() *CheckpointDecided {
	c := q.first(func(c Checkpoint) bool {
		return !c.Open() && (c.Ask == CheckBudget || c.Ask == CheckStuck) &&
			(c.Decision.Decision == DecideFinish || c.Decision.Decision == DecideExpired)
	})
	if c == nil {
		return nil
	}
	return c.Decision
}

// unanswered reports whether the run ends because nobody showed it a way out,
// without all of what it was to deliver.
func unanswered(r Run) bool {
	c := r.gaveUp()
	return c != nil && c.Decision.Decision == DecideExpired && !r.Complete()
}

// gaveUpTask is why the task failed at which the run ended, in a few words: the
// run's own reason says it all.
func gaveUpTask(r Run, c Checkpoint) string {
	why := stuckOn(r, c)
	if message, is := strings.CutPrefix(why, "stuck: "); is {
		head, _, _ := strings.Cut(message, ": ")
		why = "stuck: " + head
	}
	if c.Decision.Decision == DecideExpired {
		return why + "; nobody said in time what to do"
	}
	return why + "; the run ends with what there is"
}

// gaveUpReason is why the run ended at a question about a way out.
func gaveUpReason(r Run, c Checkpoint) string {
	why := c.Title
	if c.Strand != Main {
		if _, message, is := strings.Cut(stuckOn(r, c), "stuck: "); is {
			why = StuckTitle(r.Plan, c.Strand, message)
		}
	}
	if c.Decision.Decision == DecideExpired {
		return why + ". Nobody said in time what to do"
	}
	return why + ". Ended by " + c.Decision.By + " with what there was"
}
