package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxReview is how much of a goal, a summary or a reason a review shows, in
// characters.
const maxReview = 300

// reviews reports whether the run's results are to be reviewed by a named
// person before they count. A mere reply is no result.
func (r Run) reviews() bool { return len(r.Brief.Reviewers) > 0 && r.Plans > 0 }

func (r Run) reviewID() CheckpointID { return r.checkpointID("review", r.Plans, 0) }

// Review is the open question to the reviewers, nil if there is none. While it
// is open no task is at work.
func (r Run) Review() *Checkpoint {
	if c, asked := r.Checks[r.reviewID()]; asked && c.Review && c.Open() {
		return &c
	}
	return nil
}

// unreviewed reports whether the deliverables are there and no reviewer has
// approved them.
func (r Run) unreviewed() bool {
	if !r.reviews() || !r.Complete() {
		return false
	}
	c := r.Checks[r.reviewID()]
	return c.Open() || c.Decision.Decision != DecideApprove
}

// review asks the reviewers once everything is there, and waits for them. Their
// silence ends the run; a denial gives the deliverables back to be made anew
// (see decideReview).
func (r Run) review(st Strand) (m Move, waits bool) {
	if !r.unreviewed() || r.Cancelled != nil || r.tasksRunning() > 0 || r.readyTasks() > 0 && !r.stopping() {
		return Move{}, false
	}
	c, asked := r.Checks[r.reviewID()]
	switch {
	case !asked:
		return decide(Main, nil, r.reviewQuestion()), true
	case c.Open():
		return r.wait(Main, st, c), true
	}
	reason := r.unreviewedReason()
	rep := r.plainReport()
	rep.Headline, rep.Artifacts = "Not released: "+reason, nil
	return decide(Main, nil, rep, r.ending(reason)), true
}

// unreviewedReason is why a run whose deliverables are there did not succeed.
func (r Run) unreviewedReason() string {
	if c := r.Checks[r.reviewID()]; !c.Open() && c.Decision.Decision == DecideExpired {
		return "not reviewed: no reviewer decided in time"
	}
	return "not reviewed"
}

func (r Run) reviewQuestion() CheckpointOpened {
	var lines []string
	for _, t := range r.delivered() {
		lines = append(lines, deliverable(t, r.Tasks[t.ID]))
	}
	return CheckpointOpened{ID: r.reviewID(), Ask: CheckApproval, Review: true,
		Title: "Review before the report: " + format.LineStart(r.Brief.Goal, maxReview), Detail: Bullets(lines),
		Choices: []string{DecideApprove, DecideDeny}, Expires: r.Expiry(r.Last)}
}

// deliverable is what a task delivered, in one line.
func deliverable(t Task, s TaskStatus) string {
	code := func(text string) string {
		return " `" + strings.ReplaceAll(format.LineStart(text, maxReview), "`", "'") + "`"
	}
	parts := []string{"**" + format.LineStart(t.Title, maxReview) + "**"}
	if s.Summary != "" {
		parts[0] += ": " + format.LineStart(s.Summary, maxReview)
	}
	for _, o := range s.Outputs {
		switch {
		case o.File != "":
			parts = append(parts, "file"+code(o.File))
		case len(o.Value) > 0:
			parts = append(parts, format.LineStart(o.Name, maxReview)+" ="+code(string(o.Value)))
		}
	}
	if s.Confidence > 0 {
		parts = append(parts, fmt.Sprintf("the model's own estimate: %.0f %%", 100*min(s.Confidence, 1)))
	}
	return strings.Join(parts, "; ")
}

// delivered are the tasks whose results are reviewed: the deliverables, or
// where none are marked, what no other task needs.
func (r Run) delivered() []Task {
	var marked, last []Task
	for _, t := range r.Plan.Tasks {
		needed := slices.ContainsFunc(r.Plan.Tasks, func(o Task) bool { return slices.Contains(o.DependsOn, t.ID) })
		if t.Deliverable {
			marked = append(marked, t)
		}
		if !needed {
			last = append(last, t)
		}
	}
	if len(marked) > 0 {
		return marked
	}
	return last
}

// decideReview takes a denial: what was delivered failed for the reviewer's
// reason, so that a new plan is made as after any other failure.
func (r Run) decideReview(b CheckpointDecided) Run {
	if b.Decision == DecideApprove || b.Decision == DecideExpired {
		return r
	}
	reason := "rejected in the review by " + b.By
	if b.Text != "" {
		reason += ": " + format.LineStart(b.Text, maxReview)
		r.Said = push(r.Said, Note{By: b.By, Text: b.Text, Trusted: true})
	}
	for _, t := range r.delivered() {
		s := r.Tasks[t.ID]
		s.State, s.Reason, s.Fail, s.Outputs = TaskFailed, reason, FailOther, nil
		r.Tasks = with(r.Tasks, t.ID, s)
	}
	return r
}

// rejected reports whether the newest review was a denial.
func (r Run) rejected() bool {
	for _, id := range slices.Backward(r.Asked) {
		if c := r.Checks[id]; c.Review {
			return !c.Open() && c.Decision.Decision != DecideApprove && c.Decision.Decision != DecideExpired
		}
	}
	return false
}
