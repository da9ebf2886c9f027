package agent

import (
	"cmp"
	"slices"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Apply folds one event into the run and returns the new run; the old one
// stays as it was. It is total: an event that no longer fits (a second outcome
// of an effect, a second decision of a checkpoint) changes nothing but Seq.
func (r Run) Apply(e Event) Run {
	r.Seq, r.Last = e.Seq, e.At
	switch b := e.Body.(type) {
	case RunStarted:
		r = r.start(e, b)
	case PersonSaid:
		r = r.note(Note{By: b.By, Text: b.Text, Trusted: b.Trusted}).give(b.Files, b.By)
	case RunWatched:
		r = r.watch(b)
	case RunControlled:
		r = r.control(b)
	case TimePassed:
		r = r.strand(e.Strand, func(s *Strand) { s.Ticked = e.At })
	case ModelAsked:
		r = r.strand(e.Strand, func(s *Strand) { s.Call, s.Calls = &b, s.Calls+1 })
	case ModelAnswered:
		r = r.answered(e.Strand, b)
	case CallReplied:
		r = r.replied(e.Strand, b)
	case PlanAccepted:
		r = r.accept(e, b)
	case TaskStarted:
		r = r.startTask(e, b)
	case TaskFinishing:
		r = r.strand(e.Strand, func(s *Strand) { s.finish(&b) })
	case TaskJudged:
		r = r.judged(e.Strand, b)
	case TaskEnded:
		r = r.endTask(e, b)
	case ToolIntent:
		r = r.intend(e.Strand, b)
	case ToolDeferred:
		r = r.updateCall(e.Strand, b.Effect, func(c *OpenCall) { c.Until = b.Until; c.Deferred++ })
	case ToolOutcome:
		r = r.outcome(e.Strand, b)
	case CheckpointOpened:
		r = r.open(e, b)
	case CheckpointDecided:
		r = r.decide(b)
	case CheckpointVoted:
		r = r.vote(b)
	case BudgetNotice:
		r.Notices = with(r.Notices, b.Budget, max(b.Percent, r.Notices[b.Budget]))
	case CheckInDue:
		r = r.dueCheckIn(e.Strand, b.Reason, 0)
	case CheckInMade:
		r = r.checkedIn(e.Strand, b)
	case Finding:
		r = r.found(b)
	case Feedback: // kept in the journal for later runs; this run has ended
	case Recalled:
		r.Recalled = cmp.Or(r.Recalled, &b)
	case Reported:
		r.Report = cmp.Or(r.Report, &b)
	case RunEnded:
		r = r.end(e, b)
	}
	return r
}

// strand changes a strand of the run. An event about any other is nobody's:
// a strand that nothing started must not begin to move.
func (r Run) strand(id StrandID, change func(s *Strand)) Run {
	if s, ok := r.Strands[id]; ok {
		change(&s)
		r.Strands = with(r.Strands, id, s)
	}
	return r
}

func (r Run) start(e Event, b RunStarted) Run {
	if r.Started.IsZero() {
		r.ID, r.Started, r.Brief, r.Alone = e.Run, e.At, b, b.Unattended
		r.Strands = map[StrandID]Strand{Main: {}}
		if b.ReplyTo != "" {
			r.Strands[Voice] = Strand{}
		}
		r = r.give(b.Files, b.Requester)
	}
	return r
}

func (r Run) control(b RunControlled) Run {
	switch b.Word {
	case WordPause:
		r.Paused = b.By
		if b.By == Deckhand && b.Reason != "" {
			r.Paused += ": " + b.Reason
		}
	case WordResume:
		r.Paused, r.Refused, r.Alone = "", "", r.Brief.Unattended
	case WordCancel:
		r.Cancelled, r.Paused = &b, ""
	case WordLeave:
		r.Alone = true
	case WordWake: // the wake-up itself is in the commit
	}
	return r
}

// accept makes the plan the run's plan. Finished and running tasks keep their
// state; tasks that failed or were skipped begin anew when a new plan names
// them. A task that adds work on the way brings no failed task back: that is
// for a re-plan, and those are counted.
func (r Run) accept(e Event, b PlanAccepted) Run {
	if r.Plans > 0 && e.Strand == Main {
		r.Replans++
	}
	if e.Strand == Main { // the next re-plan is a conversation of its own
		r = r.strand(Main, func(s *Strand) {
			s.Talks = s.Talks.without(llm.Plan)
		})
		r.Rethink = nil
	}
	if parent, adds := e.Strand.Task(); adds {
		for _, t := range b.Plan.Tasks {
			if _, old := r.Plan.Task(t.ID); !old {
				r.Parents = with(r.Parents, t.ID, parent)
			}
		}
	}
	r.Plan, r.Plans = b.Plan, r.Plans+1
	tasks := make(map[TaskID]TaskStatus, len(b.Plan.Tasks))
	for _, t := range b.Plan.Tasks {
		old, known := r.Tasks[t.ID]
		if old.State == TaskDone || old.State == TaskRunning || (known && e.Strand != Main) {
			tasks[t.ID] = old
			continue
		}
		tasks[t.ID] = TaskStatus{State: TaskPending}
	}
	r.Tasks = tasks
	return r
}

func (r Run) startTask(e Event, b TaskStarted) Run {
	t, planned := r.Tasks[b.Task]
	if !planned || t.State != TaskPending {
		return r
	}
	t.State, t.Started, t.Instructions, t.Heard = TaskRunning, e.At, b.Instructions, len(r.Said)
	r.Tasks = with(r.Tasks, b.Task, t)
	id := TaskStrand(b.Task)
	r.Strands = with(r.Strands, id, Strand{Calls: r.Strands[id].Calls,
		CheckIn: CheckIn{Found: len(r.Findings), Learnt: r.LessonsOf(b.Task)}})
	return r
}

func (s *Strand) finish(b *TaskFinishing) {
	s.Finishing, s.Judged = b, nil
	s.Talks = s.Talks.with(llm.Judge, Talk{})
}

func (r Run) judged(id StrandID, b TaskJudged) Run {
	s := r.Strands[id]
	if s.Finishing == nil {
		return r
	}
	s.Judged = &b
	if !b.Accepted {
		s.Finishing = nil
		t := r.Tasks[b.Task]
		t.Rejections++
		r.Tasks = with(r.Tasks, b.Task, t)
	}
	r.Strands = with(r.Strands, id, s)
	return r
}

func (r Run) endTask(e Event, b TaskEnded) Run {
	t, planned := r.Tasks[b.Task]
	if planned && t.State != TaskDone {
		t.State, t.Ended, t.Summary, t.Outputs = b.State, e.At, b.Summary, b.Outputs
		t.Reason, t.Fail, t.Confidence = b.Reason, b.Fail, b.Confidence
		r.Tasks = with(r.Tasks, b.Task, t)
	}
	return r.endStrand(TaskStrand(b.Task))
}

// endStrand forgets the strand's conversations: its task's outputs are what
// counts from now on, and a fold must not grow with everything ever said.
func (r Run) endStrand(id StrandID) Run {
	if s, ok := r.Strands[id]; ok {
		r.Strands = with(r.Strands, id, Strand{Calls: s.Calls, Ended: true})
	}
	return r
}

func (r Run) end(e Event, b RunEnded) Run {
	if r.Ended != nil {
		return r
	}
	r.Ended, r.Finished = &b, e.At
	return r.endStrands()
}

func (r Run) endStrands() Run {
	for id := range r.Strands {
		if id != Voice { // it has the report to post
			r = r.endStrand(id)
		}
	}
	return r
}

func (r Run) open(e Event, b CheckpointOpened) Run {
	if _, known := r.Checks[b.ID]; known {
		return r
	}
	r.Asked = push(r.Asked, b.ID)
	r.Checks = with(r.Checks, b.ID, Checkpoint{question: question(b), Strand: e.Strand, Opened: e.At})
	return r.updateOpen(e.Strand, func(c *OpenCall) bool {
		mine := b.Effect != "" && c.Effect == b.Effect
		if mine {
			c.Checkpoint = b.ID
		}
		return mine
	})
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
			return r.decideReview(b)
		}
		r = r.decideApproval(c, b)
	case CheckPlan, CheckClarify:
		if b.Decision == DecideCancel || (c.Ask == CheckPlan && b.Decision == DecideExpired) {
			r.Cancelled = &RunControlled{Word: WordCancel, By: b.By, Reason: b.Text}
		}
	case CheckBudget:
		r = r.decideBudget(c, b)
	case CheckStuck:
		r = r.decideStuck(c, b)
	case CheckUncertain:
		if b.Decision == DecideRepeat {
			r = r.updateCall(c.Strand, c.Effect, func(o *OpenCall) {
				o.Again, o.Intent, o.Checkpoint = o.Again+1, nil, ""
			})
		}
	}
	return r
}

// vote counts an approval; a second one of the same person changes nothing.
func (r Run) vote(b CheckpointVoted) Run {
	c, known := r.Checks[b.ID]
	if !known || !c.Open() || c.Voted(b.By) {
		return r
	}
	c.Votes = push(c.Votes, b)
	r.Checks = with(r.Checks, b.ID, c)
	return r
}

func (r Run) decideApproval(c Checkpoint, b CheckpointDecided) Run {
	grant := func(word string) {
		if word != "" && !slices.Contains(r.Grants, word) {
			r.Grants = push(r.Grants, word)
		}
	}
	switch b.Decision {
	case DecideApprove:
		grant(c.Grant)
	case DecideAlways:
		grant(c.Grant)
		grant("tool:" + c.Tool)
	case DecideEdit:
		r = r.updateOpen(c.Strand, func(o *OpenCall) bool {
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

func (r Run) decideBudget(c Checkpoint, b CheckpointDecided) Run {
	more := map[string]int{DecideMore25: 25, DecideMore100: 100}[b.Decision]
	switch {
	case more > 0:
		r.Raised = with(r.Raised, c.Budget, r.Raised[c.Budget]+more)
	case b.Decision == DecideCancel:
		r.Cancelled = &RunControlled{Word: WordCancel, By: b.By, Reason: b.Text}
	default:
		r.Finish = true
	}
	return r
}

func (r Run) decideStuck(c Checkpoint, b CheckpointDecided) Run {
	switch b.Decision {
	case DecideRetry:
		if c.Strand == Main {
			r.Retries = r.Replans + 1
		}
		r = r.strand(c.Strand, func(s *Strand) { s.Error, s.CheckIn.Due = "", "" }).afresh(c.Strand)
		if b.Text != "" {
			n := Note{By: b.By, Text: b.Text, Trusted: true}
			r.Said = push(r.Said, n)
			r = r.noteTo(c.Strand, n)
		}
	case DecideSkip: // the task fails, the rest goes on
		r = r.strand(c.Strand, func(s *Strand) { s.Error = r.skipped(c, b) })
	case DecideCancel:
		r.Cancelled = &RunControlled{Word: WordCancel, By: b.By, Reason: b.Text}
	default:
		r.Finish = true
	}
	return r
}
