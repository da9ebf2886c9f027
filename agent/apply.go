package agent

// This file folds events into a run: Apply is the only place where an event
// changes what is known, so that replaying a journal always gives the same
// run.

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Fold applies the events in order.
func (r Run) Fold(events []Event) Run {
	for _, e := range events {
		r = r.Apply(e)
	}
	return r
}

// Apply folds one event into the run and returns the new run; the old one
// stays as it was. It is total: an event that no longer fits (a second outcome
// of an effect, a second decision of a checkpoint) changes nothing but Seq.
func (r Run) Apply(e Event) Run { //nolint:cyclop,funlen // the closed switch over all kinds of events
	r.Seq, r.Last = e.Seq, e.At
	switch b := e.Body.(type) { //nolint:gochecksumtype // Words and Told hold bodies and are none
	case RunStarted:
		r = r.start(e, b)
	case PersonSaid:
		r = takeWords(r, e, b)
	case Understood:
		r = understand(r, b)
	case RunWatched:
		r = r.watched(b)
	case RunControlled:
		r = r.control(b)
	case TimePassed:
		r.Strands = r.Strands.change(e.Strand, func(s *Strand) { s.Ticked = e.At })
	case ModelAsked:
		r.Strands = r.Strands.change(e.Strand, func(s *Strand) { s.Call, s.Calls = &b, s.Calls+1 })
		if e.Strand == Hear {
			r = listen(r)
		}
	case ModelAnswered:
		r = r.answered(e.Strand, b)
	case CallReplied:
		r.Strands = r.Strands.replied(e.Strand, b, r.Seq)
	case PlanAccepted:
		r = r.accept(e.Strand, b)
	case TaskStarted:
		r = r.startTask(e, b)
	case TaskFinishing:
		r.Strands = r.Strands.change(e.Strand, func(s *Strand) { s.finish(&b) })
	case TaskJudged:
		r = r.judged(e.Strand, b)
	case TaskEnded:
		r.Work, r.Strands = r.endTask(b, e.At), r.Strands.end(TaskStrand(b.Task))
	case ToolIntent:
		r.Strands = r.Strands.intend(e.Strand, b)
	case ToolDeferred:
		r.Strands = r.Strands.updateCall(e.Strand, b.Effect, func(c *OpenCall) { c.Until = b.Until; c.Deferred++ })
	case ToolProgressed:
		r.Strands = r.Strands.updateCall(e.Strand, b.Effect, func(c *OpenCall) { c.Progress = b.Text })
	case ToolOutcome:
		r = r.outcome(e.Strand, b)
	case CheckpointOpened:
		r = r.openQuestion(e, b)
	case CheckpointDecided:
		r = r.decide(b)
	case CheckpointVoted:
		r.Questions = r.vote(b)
	case BudgetNotice:
		r.Notices = with(r.Notices, b.Budget, max(b.Percent, r.Notices[b.Budget]))
	case CheckInDue:
		r.Strands = r.Strands.dueCheckIn(e.Strand, b.Reason, 0)
	case CheckInMade:
		r = r.checkedIn(e.Strand, b)
	case Finding:
		r = r.found(b)
	case ToolsOffered:
		r.Strands = r.Strands.offered(e.Strand, b)
	case PolicyDecided: // kept for those who look back; what came of it is the next event
	case Feedback: // kept in the journal for later runs; this run has ended
	case Recalled:
		r = withRecalled(r, e.Strand, b)
	case ContextFull:
		r.Strands = r.Strands.change(e.Strand, func(s *Strand) { s.Window.full(b) })
	case Compacted:
		r.Strands = r.Strands.change(e.Strand, func(s *Strand) { s.compact(b) })
	case Reported:
		r.Report = cmp.Or(r.Report, &b)
	case RunEnded:
		if r.Ended == nil {
			r.Ended, r.Finished, r.Strands, r.Unread = &b, e.At, r.Strands.endAll(), nil
		}
	}
	return r
}

// Timeless reports whether an event of the body, folded with another stamp,
// gives the same run but for Last.
func Timeless(b Body) bool {
	switch b.Kind() {
	case "model.asked", "call.replied", "tool.intent", "tool.deferred", "tool.outcome":
		return true
	}
	a, answered := b.(ModelAnswered)
	return answered && a.RetryAt.IsZero()
}

func (r Run) start(e Event, b RunStarted) Run {
	if !r.Started.IsZero() {
		return r
	}
	r.ID, r.Started, r.Brief, r.Alone = e.Run, e.At, b, b.Unattended
	r.Strands = Strands{}.with(Main, Strand{})
	if b.ReplyTo != "" {
		r.Strands = r.Strands.with(Voice, Strand{})
	}
	r.Files = given(r.Files, b.Files, b.Requester)
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
		if len(b.YesTo) > 0 {
			r.Brief.YesTo, r.Brief.Unattended = b.YesTo, true
		}
		r.Paused, r.Refused, r.RefusedWhy, r.Alone = "", "", "", r.Brief.Unattended
		r.Strands = r.Strands.retryNow()
	case WordCancel:
		r = r.cancel(&b)
		r.Paused = ""
	case WordLeave:
		r.Alone = true
	case WordUndo, WordChange:
		r.Revised = &b
	case WordWake: // the wake-up itself is in the commit
		r.Posted = r.placed(b, r.Last)
	}
	return r
}

// cancel ends the run. The first to do so is named.
func (r Run) cancel(b *RunControlled) Run {
	if r.Cancelled == nil {
		r.Cancelled, r.Stopped = b, r.Last
	}
	return r
}

// watched shows the run in one more place. A run of the terminal gets a voice
// by it.
func (r Run) watched(b RunWatched) Run {
	before := len(r.Watched)
	r.Posted = r.watch(b.Where, r.Thread(), r.Brief.ReplyTo)
	switch fresh := len(r.Watched) > before; {
	case b.CardOnly && fresh:
		r.Unreported = push(r.Unreported, b.Where)
	case b.CardOnly:
		r.Further = push(r.Further, b.Where)
	default: // whoever watches is told the report, too
		r.Unreported = slices.DeleteFunc(slices.Clone(r.Unreported), func(where string) bool { return where == b.Where })
	}
	if speaks := r.Strands.Has(Voice); !speaks && len(r.Watched) > before {
		r.Strands = r.Strands.with(Voice, Strand{})
	}
	return r
}

// answered settles a model call and, where its answer was usable, opens the
// calls that it made.
func (r Run) answered(id StrandID, b ModelAnswered) Run {
	if b.Given != "" {
		return takeGiven(r, id, b)
	}
	s := r.Strands.Of(id)
	if s.Call == nil || s.Call.Call != b.Call {
		return r // settled already
	}
	s.Call = nil
	aside := b.Purpose == llm.CheckIn || b.Purpose == llm.Hear // no trouble of the work's
	usable := b.Error == "" && !b.Lost && b.RetryAt.IsZero()
	if !b.Lost {
		s.Retry = s.Retry.after(b, r.Last)
	}
	r, s.Error, s.CheckIn.Failed = faultOf(r, s, b)
	s.Window.answered(b)
	if usable && b.Purpose == llm.Work {
		s.CheckIn.Calls++
	}
	r.Strands = r.Strands.with(id, s)
	r.Spent = r.Spent.settle(b)
	if !usable || b.Refused && !aside {
		return r
	}
	prefix := string(id) + "." + strconv.Itoa(s.Calls)
	r.Strands = r.Strands.talk(id, b.Purpose, func(t *Talk) { t.take(b, prefix, r.Seq) })
	return r
}

// faultOf is what an answer's error means: to the run, for the strand's work, and
// for its check-ins.
func faultOf(r Run, s Strand, b ModelAnswered) (_ Run, work, checkIn string) {
	switch {
	case b.Purpose == llm.Hear:
		r.Hearing = r.answeredBy(b)
		return r, b.Error, s.CheckIn.Failed
	case b.Purpose == llm.CheckIn:
		return r, s.Error, b.Error
	case b.Refused:
		r.Refused, r.RefusedWhy = b.Error, b.RetryReason
		return r, "", s.CheckIn.Failed
	case b.Purpose == llm.Compact:
		return r, s.Error, s.CheckIn.Failed
	}
	return r, b.Error, s.CheckIn.Failed
}

// accept makes the plan the run's plan. By the main strand: the next re-plan is
// a conversation of its own.
func (r Run) accept(by StrandID, b PlanAccepted) Run {
	if by == Main {
		r.Strands = r.Strands.change(Main, func(s *Strand) { s.Talks = s.Talks.without(llm.Plan) })
		r.Rethink = nil
	}
	r.Work = r.Work.accept(by, b)
	return r
}

func (r Run) startTask(e Event, b TaskStarted) Run {
	if t, planned := r.Tasks[b.Task]; !planned || t.State != TaskPending {
		return r
	}
	r.Work = r.update(b.Task, func(t *TaskStatus) {
		t.State, t.Started, t.Instructions, t.Heard = TaskRunning, e.At, b.Instructions, len(r.Said)
	})
	id := TaskStrand(b.Task)
	r.Strands = r.Strands.with(id, Strand{Calls: r.Strands.Of(id).Calls,
		CheckIn: CheckIn{Found: len(r.Findings), Learnt: r.Lessons.Of(b.Task)}})
	return r
}

func (r Run) judged(id StrandID, b TaskJudged) Run {
	if r.Strands.Of(id).Finishing == nil {
		return r
	}
	task, _ := r.Plan.Task(b.Task)
	checked := b.Accepted && task.Reviewer != "" && r.Purpose(id) == llm.Check
	if b.Accepted && b.Checked != "" {
		r.Work = r.update(b.Task, func(t *TaskStatus) { t.Checked = push(t.Checked, b.Checked) })
	}
	r.Strands = r.Strands.change(id, func(s *Strand) {
		if s.Passed = checked; checked {
			return // the reviewer's turn
		}
		s.Judged = &b
		if !b.Accepted {
			s.Finishing = nil
		}
	})
	if !b.Accepted {
		r.Work = r.update(b.Task, func(t *TaskStatus) { t.Rejections++ })
	}
	return r
}

// outcome closes the call of an effect. A question whether the effect happened
// is answered by it.
func (r Run) outcome(id StrandID, b ToolOutcome) Run {
	if id == Voice {
		return r.spoke(b)
	}
	c, purpose, i, open := r.Strands.openCall(id, b.Effect)
	if !open {
		return r
	}
	r.Touched = touched(r.Touched, b.Files)
	if check, asked := r.Checks[c.Checkpoint]; asked && check.Open() {
		check.Decision = &CheckpointDecided{ID: check.ID, Decision: DecideDone, By: Deckhand, Text: "its outcome arrived"}
		r.Checks = with(r.Checks, check.ID, check)
	}
	r.Spent.Tools++
	r.Spent.Time += b.Took
	r.Strands = r.Strands.talk(id, purpose, func(t *Talk) {
		t.Strikes = 0
		t.close(i, Reply{Text: b.Text, Trust: b.Trust, Artifact: b.Artifact, Failed: b.State == OutcomeError}, r.Seq)
	})
	return r
}

// spoke closes a post. The first outcome counts, unless it is that the post is
// tried again.
func (r Run) spoke(b ToolOutcome) Run {
	key := b.Effect.postKey()
	speaks := r.Strands.Has(Voice)
	if old, known := r.Shown[key]; known && !old.pending() || !speaks {
		return r
	}
	var s Shown
	if err := json.Unmarshal([]byte(b.Text), &s); err != nil || b.State != OutcomeOK && !s.pending() {
		s = Shown{Failed: b.Text}
	}
	r.Shown, r.Strands = with(r.Shown, key, s), r.Strands.closePost(b.Effect)
	if i, is := fileOf(key); is && i < len(r.Files) {
		return r.note(Note{By: Deckhand, Text: r.Files[i].arrival(s), Trusted: true})
	}
	return r
}

// What a note of Deckhand's holds of others' texts, in characters.
const (
	maxFileName   = 100
	maxFileReason = 300
)

// arrival is what the strands are told of a file that a person gave.
func (a Attachment) arrival(s Shown) string {
	name := format.LineStart(a.Name, maxFileName)
	if s.Failed != "" {
		return "The file " + name + " that " + a.By + " attached could not be fetched: " + format.LineStart(s.Failed, maxFileReason)
	}
	return "The file " + name + " that " + a.By + " attached is in the workspace at " + s.Path + "."
}

// given adds files that a person gave.
func given(list, files []Attachment, by string) []Attachment {
	for _, f := range files {
		f.By = by
		list = push(list, f)
	}
	return list
}

// maxTouched is how many changed files a fold keeps, the newest.
const maxTouched = 50

// touched adds files to the list of what the run wrote or deleted; one that is
// changed again moves to its end.
func touched(list, files []string) []string {
	if len(files) == 0 {
		return list
	}
	list = slices.Clone(list)
	for _, f := range files {
		list = append(slices.DeleteFunc(list, func(old string) bool { return old == f }), f)
	}
	return list[max(0, len(list)-maxTouched):]
}

// note adds what somebody said to every conversation that goes on.
func (r Run) note(n Note) Run {
	r.Said = push(r.Said, n)
	if n.idle() {
		r.Said = newestIdle(r.Said)
	}
	for id, s := range r.Strands.All() {
		if !s.Ended && id != Voice && id != Hear && r.hears(id, n) {
			r = r.noteTo(id, n)
			if n.By != Deckhand && n.Trusted {
				r.Strands = r.Strands.change(id, func(s *Strand) { s.afresh(len(r.Findings)) })
			}
		}
	}
	return r
}

// idle reports whether the note is a message of somebody who has no say in the run.
func (n Note) idle() bool { return !n.Trusted && n.Message != "" }

// newestIdle is the list with as many words of people without a say as a run keeps,
// the newest. The others stay as notes without words: tasks know how many they heard.
func newestIdle(said []Note) []Note {
	kept, bytes := 0, 0
	for i, n := range slices.Backward(said) {
		if !n.idle() || n.Text == "" {
			continue
		}
		kept, bytes = kept+1, bytes+len(n.Text)
		if kept > bounds.Messages || bytes > bounds.MessageBytes {
			said = slices.Clone(said)
			said[i].Text = ""
			kept, bytes = kept-1, bytes-len(n.Text)
		}
	}
	return said
}

// hears reports whether the strand is told what somebody said: work never hears
// people without a say, a first plan as many of their words as a run keeps.
func (r Run) hears(id StrandID, n Note) bool {
	_, works := id.Task()
	return n.Trusted || !works && (!n.idle() || !r.dropped())
}

// dropped reports whether people without a say said more than a run keeps.
func (r Run) dropped() bool {
	return slices.ContainsFunc(r.Said, func(n Note) bool { return n.idle() && n.Text == "" })
}

// noteTo says something to a strand: to a task's worker even while a judge
// looks at its result, to the main strand while it plans for the first time
// (later plans and the report have Run.Said in their briefs).
func (r Run) noteTo(id StrandID, n Note) Run {
	purpose := llm.Work
	if _, works := id.Task(); !works {
		if purpose = r.Purpose(id); purpose != llm.Intake {
			return r
		}
	}
	r.Strands = r.Strands.tell(id, purpose, n)
	return r
}

// checkedIn ends a check-in, or goes on to the second model.
func (r Run) checkedIn(id StrandID, b CheckInMade) Run {
	if _, works := id.Task(); !works || r.Strands.Of(id).Ended {
		return r
	}
	found, since := len(r.Findings), r.Strands.Of(id).CheckIn.Found
	r.Strands = r.Strands.change(id, func(s *Strand) {
		s.Talks = s.Talks.without(llm.CheckIn)
		if b.Confirm {
			s.CheckIn.First, s.CheckIn.Failed = &b, ""
			return
		}
		s.CheckIn = CheckIn{Last: r.Last, Found: found, Progress: b.Progress, Stall: b.Stall, Learnt: s.CheckIn.Learnt,
			Ledger: b.Ledger}
	})
	if b.Ledger != nil {
		r = r.learn(id, b.Ledger.Lesson)
	}
	if b.Verdict == CheckInReplan && !b.Confirm {
		r.Rethink = r.Rethink.again(b.Reason, false, advice(r.Findings[min(since, found):], id, b.Ledger))
	}
	return r
}

// advice is what a task would have been told whose plan is made anew: it goes to
// who makes the plan.
func advice(found []Finding, id StrandID, l *Ledger) []string {
	var list []string
	for _, f := range found {
		if f.Strand == id && f.Severity == FindingNudge && f.Rule != RuleCheckIn {
			list = append(list, f.Message)
		}
	}
	if l != nil && l.Nudge != "" {
		list = append(list, l.Nudge)
	}
	return list
}

// learn keeps the newest lessons of a task, in the run and in the prompt. What
// is forgotten leaves the conversation, which begins anew by that.
func (r Run) learn(id StrandID, text string) Run {
	task, _ := id.Task()
	text = format.LineStart(text, maxLesson)
	kept := r.Lessons.Of(task)
	if text == "" || slices.Contains(kept, text) {
		return r
	}
	r.Lessons = push(r.Lessons, Lesson{Task: task, Text: text})
	if len(kept) == maxLessons {
		oldest := slices.IndexFunc(r.Lessons, func(l Lesson) bool { return l.Task == task })
		r.Lessons = slices.Delete(slices.Clone(r.Lessons), oldest, oldest+1)
		r.Strands = r.Strands.change(id, (*Strand).forget)
	}
	return r.noteTo(id, Note{By: Deckhand, Text: text, Lesson: true})
}

// found keeps a finding, tells the model and does what else follows from it.
func (r Run) found(b Finding) Run {
	r.Findings = push(r.Findings, b)
	if b.Note != "" {
		r = r.noteTo(b.Strand, Note{By: Deckhand, Text: b.Note, Trusted: true})
	}
	switch {
	case b.Severity == FindingCheckIn:
		r.Strands = r.Strands.dueCheckIn(b.Strand, b.Rule, findingGrace)
	case b.Rule == RulePlanLevel:
		r.Rethink = r.Rethink.again(b.Message, b.Severity == FindingStop, nil)
	}
	return r
}
