package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// dispatch decides about the calls without intent, as package loop does: about
// all when they only read, else about the first.
func (t *turn) dispatch(view Run) end {
	var undecided []OpenCall
	for _, c := range view.Talk(t.strand).Open {
		if c.Intent == nil {
			undecided = append(undecided, c)
		}
	}
	if slices.ContainsFunc(undecided, func(c OpenCall) bool { return c.Name != "read" }) {
		undecided = undecided[:1]
	}
	before := len(t.batch)
	for _, c := range undecided {
		if t.one(view, c) == crashed {
			return crashed
		}
	}
	if len(t.batch) == before && t.run.Seq == view.Seq-uint64(before) {
		return waits
	}
	return goOn
}

func (t *turn) one(view Run, c OpenCall) end {
	switch c.Name {
	case "reply":
		t.reply(c, "delivered")
		t.event(Reported{Headline: "hello", Body: "hello"})
	case "ask_human":
		t.clarify(view, c)
	case "submit_plan":
		t.submit(view, c)
	case "add_tasks":
		return t.extend(view, c)
	case "finish_task", "fail_task":
		t.finish(c)
	case "judge_task":
		t.judge(view, c)
	case "submit_reflection":
		t.reflect(view, c)
	case "take_message", "answer_question":
		t.hear(view, c)
	case "submit_report":
		t.reply(c, "delivered")
		t.event(Reported{Headline: "the end"})
	case "read", "write", "send":
		t.tool(view, c)
	default:
		t.refuse(c)
	}
	return goOn
}

func (t *turn) clarify(view Run, c OpenCall) {
	if _, asked := view.Checks[c.Checkpoint]; asked {
		t.reply(c, "answered")
		return
	}
	t.openCheckpoint(view, CheckpointOpened{Ask: CheckClarify, Effect: c.Effect, Choices: []string{DecideAnswer, DecideForMe, DecideCancel}})
}

// submit mends a broken plan twice, then asks; a sound one may need approval.
func (t *turn) submit(view Run, c OpenCall) {
	ask := func(choices ...string) {
		plan := t.plan(view)
		t.openCheckpoint(view, CheckpointOpened{Ask: CheckPlan, Effect: c.Effect, Plan: &plan, Choices: choices})
	}
	check, asked := view.Checks[c.Checkpoint]
	switch {
	case asked && slices.Contains([]string{DecideApprove, DecideEdit, DecideAlways}, check.Decision.Decision):
		t.reply(c, "accepted")
		t.event(PlanAccepted{Plan: t.plan(view), By: check.Decision.By})
	case asked:
		t.reply(c, "denied: submit another plan")
	case t.oneIn(5, "broken plan") && view.Talk(t.strand).Repairs < 2:
		t.event(CallReplied{Effect: c.Effect, Text: "error: V4", Problem: true, Repair: true})
	case t.oneIn(6, "plan stays broken"):
		ask(DecideEdit, DecideRetry, DecideCancel)
	case t.oneIn(4, "plan needs approval"):
		ask(DecideApprove, DecideEdit, DecideDeny, DecideCancel)
	default:
		t.reply(c, "accepted")
		t.event(PlanAccepted{Plan: t.plan(view)})
	}
}

// reflect weighs a ledger: the verdict is anybody's, and a stop may want a
// second model.
func (t *turn) reflect(view Run, c OpenCall) {
	t.reply(c, "noted")
	verdict := CheckInContinue
	if !t.kind {
		verdict = rapid.SampledFrom(someVerdicts).Draw(t.t, "verdict")
	}
	first := view.Strands.Of(t.strand).CheckIn.First
	b := CheckInMade{Verdict: verdict, Reason: "so it says", Confirm: verdict == CheckInStop && first == nil,
		Ledger: &Ledger{Verdict: verdict, Lesson: fmt.Sprint("lesson ", rapid.IntRange(0, 9).Draw(t.t, "lesson"))}}
	d := FinishCheckIn(view, t.strand, b, "think", t.now)
	t.add(d.Wake, d.Events...)
}

var someMeanings = []Meaning{MeansStop, MeansGoOn, MeansConsent, MeansRefusal, MeansExtension, MeansQuestion, MeansSteering, MeansSchedule, MeansOther}

// hear takes what a model says of the first words that it said nothing of yet.
func (t *turn) hear(view Run, c OpenCall) {
	t.reply(c, "noted")
	list := view.Unanswered()
	if len(list) == 0 {
		return
	}
	w, b := list[0], Understood{Meaning: MeansSteering}
	if !t.kind {
		b.Meaning = rapid.SampledFrom(someMeanings).Draw(t.t, "meaning")
	}
	if c.Name == "answer_question" {
		b.Meaning, b.Text = MeansQuestion, "well"
	}
	events := Means(view, w, b, w.Trusted)
	if b.Meaning == MeansQuestion && c.Name == "take_message" && w.Trusted {
		events = []Event{{Strand: Hear, Body: Understood{Said: w.Seq, Meaning: b.Meaning, Later: true}}}
	}
	t.add(view.Strands.Wakeful(), events...)
}

// plan keeps what is finished and adds one to three tasks.
func (w *world) plan(r Run) Plan {
	p := Plan{Name: fmt.Sprint("plan ", r.Plans)}
	var ids []TaskID
	for _, task := range r.Plan.Tasks {
		if r.Tasks[task.ID].State == TaskDone {
			p.Tasks, ids = append(p.Tasks, task), append(ids, task.ID)
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(w.t, "new tasks") {
		task := w.task(TaskID(fmt.Sprintf("p%d.%d", r.Plans, i)), ids)
		p.Tasks, ids = append(p.Tasks, task), append(ids, task.ID)
	}
	return p
}

func (w *world) task(id TaskID, earlier []TaskID) Task {
	task := Task{ID: id, Title: "do " + string(id), Deliverable: rapid.Bool().Draw(w.t, "deliverable")}
	if len(earlier) > 0 && rapid.Bool().Draw(w.t, "depends") {
		task.DependsOn = []TaskID{rapid.SampledFrom(earlier).Draw(w.t, "on")}
	}
	return task
}

// extend adds a task to the newest plan; others may not have changed it since.
func (t *turn) extend(view Run, c OpenCall) end {
	if t.flush() == crashed {
		return crashed
	}
	if len(view.Plan.Tasks) > 12 || view.Rethink != nil || t.run.Seq != view.Seq {
		t.refuse(c)
		return goOn
	}
	p := t.run.Plan
	var ids []TaskID
	for _, task := range p.Tasks {
		ids = append(ids, task.ID)
	}
	p.Tasks = push(p.Tasks, t.task(TaskID(fmt.Sprintf("x%d", t.run.Seq)), ids))
	t.reply(c, "added")
	if t.oneIn(4, "the backlog grows") {
		t.add(nil, Event{Strand: Main, Body: Finding{Rule: "L11", Strand: Main, Message: "the backlog grew",
			Severity: rapid.SampledFrom([]string{"nudge", "stop"}).Draw(t.t, "severity")}})
	}
	t.add(wakeMain(), Event{Strand: t.strand, Body: PlanAccepted{Plan: p, By: string(t.strand)}})
	return t.flush()
}

func (t *turn) finish(c OpenCall) {
	id, _ := t.strand.Task()
	switch {
	case t.oneIn(5, "outputs are missing"):
		t.refuse(c)
	case c.Name == "finish_task":
		t.event(TaskFinishing{Task: id, Effect: c.Effect, Summary: "done"})
	default:
		t.reply(c, "noted")
		kind := rapid.SampledFrom([]FailKind{FailOther, FailOther, FailBlocked, FailBlocked, FailBudget, FailImpossible}).Draw(t.t, "fail")
		t.add(wakeMain(), Event{Strand: t.strand, Body: TaskEnded{Task: id, State: TaskFailed, Reason: "no way", Fail: kind}})
	}
}

func (t *turn) judge(view Run, c OpenCall) {
	finishing := view.Strands.Of(t.strand).Finishing
	t.reply(c, "noted")
	accepted := !t.oneIn(3, "rejected")
	t.event(TaskJudged{Task: finishing.Task, Accepted: accepted})
	if !accepted {
		t.event(CallReplied{Effect: finishing.Effect, Text: "not accepted"})
	}
}

// tool asks for every send and, once a run, for writes.
func (t *turn) tool(view Run, c OpenCall) {
	args := json.RawMessage(`{"text":"<` + string(c.Effect) + `>"}`)
	if c.Edited != nil {
		args = c.Edited
	}
	digest := Digest(c.Name, args)
	check := view.Checks[c.Checkpoint]
	intent := ToolIntent{Effect: c.Effect, Tool: c.Name, Arguments: args, Repeat: RepeatOnce, Again: c.Again}
	grant := ""
	switch c.Name {
	case "read":
		intent.Repeat = RepeatRead
	case "write":
		intent.Repeat, grant = RepeatIdempotent, "writes"
	}
	approved := check.Digest == digest && !check.Open() && slices.Contains([]string{DecideApprove, DecideAlways}, check.Decision.Decision)
	switch text, denied := view.Denied[digest]; {
	case denied:
		t.reply(c, text)
	case c.Again > 0, c.Name == "read", approved, grant != "" && slices.Contains(view.Grants, grant), slices.Contains(view.Grants, "tool:"+c.Name):
		t.event(intent)
		t.fresh[c.Effect] = true
	case slices.ContainsFunc(view.OpenCheckpoints(), func(o Checkpoint) bool { return grant != "" && o.Grant == grant }):
		// the answer to that question is the answer to this one
	default:
		t.openCheckpoint(view, CheckpointOpened{Ask: CheckApproval, Effect: c.Effect, Tool: c.Name, Arguments: args, Digest: digest,
			Grant: grant, Choices: []string{DecideApprove, DecideDeny, DecideEdit, DecideAlways}})
	}
}

// A run always goes on: it ends, or it waits for something that can happen.
func (w *world) play(steps int) {
	for range steps {
		if w.run.Ended != nil && len(w.due) == 0 {
			return // and the voice has said so
		}
		if w.run.Ended == nil && w.oneIn(12, "meddle") {
			w.meddle()
		}
		if s, due := w.next(); due {
			w.take(s)
			continue
		}
		if w.run.Ended != nil {
			w.pass()
			continue
		}
		w.rest()
		if (w.kind || rapid.Bool().Draw(w.t, "answer before the timer")) && w.unblock() {
			continue
		}
		if !w.pass() && !w.unblock() {
			w.t.Fatalf("the run is dead: nobody is due, nothing is asked, and it has not ended: %s", encode(w.t, w.run))
		}
		w.now = w.now.Add(time.Second)
	}
}
