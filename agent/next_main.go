package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxReplans is how often a run plans anew after a failure before a person is
// asked (MODEL.md).
const maxReplans = 2

// nextMain plans, schedules, plans anew, reports and ends the run.
func (r Run) nextMain(st Strand) Move {
	if r.Report != nil {
		return decide(Main, nil, r.ending(""))
	}
	if m, waits := r.review(st); waits {
		return m
	}
	if r.stopping() {
		if r.tasksRunning() > 0 {
			return Move{} // each of them ends itself and wakes the main strand
		}
		if r.Cancelled != nil || r.unanswered() || r.broke() || r.budgetOpen() || r.Plans == 0 || st.Error != "" || r.Talk(Main).Strikes >= maxStrikes {
			return decide(Main, nil, r.plainReport(), r.ending(r.stopReason()))
		}
		if m, busy := r.calls(Main, st); busy { // the report is there
			return m
		}
		return r.ask(Main)
	}
	if reason := r.planless(st); reason != "" {
		return decide(Main, nil, r.failure(reason), r.ending(reason))
	}
	if r.Plans == 0 {
		if r.attaching() {
			return Move{} // the voice fetches the files and its outcome wakes this strand
		}
		return r.ask(Main)
	}
	if r.rethinks() && r.Rethink.Person && r.Replans >= r.Retries {
		if m, asks := r.despair(); asks {
			return m
		}
	}
	if m, busy := r.work(); busy {
		return m
	}
	if r.wantsPlan() {
		return r.ask(Main)
	}
	if m, asks := r.despair(); asks {
		return m
	}
	if st.Error != "" || r.Talk(Main).Strikes >= maxStrikes {
		return decide(Main, nil, r.plainReport(), r.ending(st.Error))
	}
	return r.ask(Main)
}

// planless is why no plan (or no next plan) can be had, empty if it may be asked for.
func (r Run) planless(st Strand) string {
	if r.Plans > 0 && !r.wantsPlan() {
		return ""
	}
	switch t := r.Talk(Main); {
	case st.Error != "":
		return st.Error
	case t.Strikes >= maxStrikes:
		return "the model gave three unusable replies in a row; the last: " + lastNote(t)
	}
	return ""
}

// work schedules tasks; busy while any is running or can start.
func (r Run) work() (m Move, busy bool) {
	running := r.tasksRunning()
	ready := r.readyTasks()
	if r.rethinks() {
		ready = 0 // no task starts by a plan that is not to be worked any more
	}
	if free := r.Brief.Slots - r.tasksActive(); ready > 0 && (free > 0 || running == 0) {
		return steps(Schedule{Free: max(free, 1)}), true
	}
	return Move{}, running > 0
}

func (r Run) tasksRunning() int {
	n := 0
	for _, t := range r.Tasks {
		if t.State == TaskRunning {
			n++
		}
	}
	return n
}

// tasksActive counts running tasks that wait for nobody: only those take a slot.
func (r Run) tasksActive() int {
	n := 0
	for id, t := range r.Tasks {
		if t.State == TaskRunning && r.waitsFor(TaskStrand(id)) == nil {
			n++
		}
	}
	return n
}

func (r Run) readyTasks() int {
	n := 0
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State == TaskPending && !slices.ContainsFunc(t.DependsOn, r.unfinished) {
			n++
		}
	}
	return n
}

func (r Run) unfinished(id TaskID) bool { return r.Tasks[id].State != TaskDone }

// failed lists the tasks of the plan that failed, in plan order.
func (r Run) failed() []TaskID {
	var ids []TaskID
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State == TaskFailed {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func (r Run) anyFailed(kind FailKind) bool {
	return slices.ContainsFunc(r.failed(), func(id TaskID) bool { return r.Tasks[id].Fail == kind })
}

// settled reports whether no task runs or can start.
func (r Run) settled() bool { return r.tasksRunning() == 0 && r.readyTasks() == 0 }

// wantsPlan reports whether a failure calls for a new plan: at most two a run,
// and then each one that a person allows; never for what is impossible, and for
// what is blocked only after a person said so.
func (r Run) wantsPlan() bool {
	if r.Plans == 0 || r.Complete() || r.anyFailed(FailImpossible) || r.stopping() || r.Report != nil {
		return false
	}
	rethinks := r.rethinks()
	if rethinks && r.tasksRunning() > 0 || !rethinks && (!r.settled() || len(r.failed()) == 0) {
		return false
	}
	if r.Replans < r.Retries {
		return true // a person said: try again
	}
	return !r.anyFailed(FailBlocked) && r.Replans < maxReplans && (!rethinks || !r.Rethink.Person)
}

// despair asks a person about failures that no plan of the model can mend.
func (r Run) despair() (m Move, asks bool) {
	failed := r.failed()
	if len(failed) == 0 && !r.rethinks() || r.Complete() || r.anyFailed(FailImpossible) || r.Alone {
		return Move{}, false
	}
	title, tried := r.StuckTitle(Main, fmt.Sprintf("%d new plans did not help", r.Replans)), []string{}
	if r.rethinks() {
		title = r.StuckTitle(Main, format.LineStart(r.Rethink.Reason, maxReason))
		tried = append(tried, fmt.Sprintf("new plans so far: %d", r.Replans))
	}
	for _, id := range failed {
		t, _ := r.Plan.Task(id)
		if r.Tasks[id].Fail == FailBlocked {
			title = "Blocked: “" + format.Line(t.Title, maxStuckTitle) + "” needs something that I do not have"
		}
		tried = append(tried, "“"+format.Line(t.Title, maxStuckTitle)+"” failed: "+r.Tasks[id].Reason)
	}
	c := CheckpointOpened{
		ID:  r.checkpointID("stuck", r.Replans, r.Retries),
		Ask: CheckStuck, Title: title, Detail: Bullets(tried), Expires: r.Expiry(r.Last),
		Choices: []string{DecideRetry, DecideFinish, DecideCancel},
	}
	return decide(Main, nil, c), true
}

// broke reports whether people ended the run because its budget was used up.
func (r Run) broke() bool {
	for _, c := range r.Checks {
		if c.Ask == CheckBudget && !c.Open() && c.Decision.Decision != DecideMore25 && c.Decision.Decision != DecideMore100 {
			return true
		}
	}
	return false
}

// BudgetQuestion is the checkpoint that is opened when a budget is used up: usd,
// tokens, time or steps of the run, or the name of a wider counter.
func (r Run) BudgetQuestion(budget string, at time.Time) CheckpointOpened {
	done, total := r.Progress()
	choices := []string{DecideFinish, DecideCancel}
	if slices.Contains([]string{BudgetUSD, BudgetTokens, BudgetTime, BudgetSteps}, budget) {
		choices = append([]string{DecideMore25, DecideMore100}, choices...)
	}
	cost := "unknown cost"
	if usd := r.Spent.Dollars(); usd != nil {
		cost = "$" + usd.String()
	}
	return CheckpointOpened{
		ID:  r.checkpointID("budget/"+budget, r.Raised[budget], 0),
		Ask: CheckBudget, Budget: budget, Choices: choices, Expires: r.Expiry(at),
		Title: "The budget (" + budget + ") is used up",
		Detail: fmt.Sprintf("Done: %d of %d tasks. Spent: %s, %d tokens, %d model calls, %s of work. The next model call does not fit any more.",
			done, total, cost, r.Spent.Tokens(), r.Spent.Calls, r.Spent.Time.Round(time.Second)),
	}
}
