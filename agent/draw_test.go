package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// The names that drawn events use: few, so that they meet.
var (
	someStrands  = []StrandID{Main, Voice, "task/a", "task/b", "task/nobody", "agent/x"}
	someTasks    = []TaskID{"a", "b", "c", "nobody"}
	somePurposes = []llm.Purpose{llm.Intake, llm.Plan, llm.Work, llm.CheckIn, llm.Judge, llm.Report}
	someVerdicts = []CheckInVerdict{CheckInContinue, CheckInNudge, CheckInReplan, CheckInEscalate, CheckInStop, "meh"}
	someChecks   = []CheckpointID{"r1-aaaaaaaa", "r1-bbbbbbbb", "r1-cccccccc", "r2-elsewhere"}
	someWords    = []string{DecideApprove, DecideDeny, DecideEdit, DecideAlways, DecideCancel, DecideAnswer, DecideForMe,
		DecideMore25, DecideMore100, DecideFinish, DecideRetry, DecideRepeat, DecideSkip, DecideDone, DecideExpired, "blue"}
)

// drawHistory is a journal of up to n events: most of them fit what happened
// before, the others are nonsense that a fold must survive.
func drawHistory(t *rapid.T, n int) []Event {
	events := []Event{{Run: "r1", Strand: Main, Seq: 1, At: noon, Body: drawBrief(t)}}
	r := Run{}.Fold(events)
	for range rapid.IntRange(0, n).Draw(t, "length") {
		e := drawEvent(t, r)
		events = append(events, e)
		r = r.Apply(e)
	}
	return events
}

// drawEvent is an event that may follow in the run's journal.
func drawEvent(t *rapid.T, r Run) Event {
	e := Event{Run: r.ID, Seq: r.Seq + 1, At: r.Last.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)}
	e.Strand = rapid.SampledFrom(someStrands).Draw(t, "strand")
	if rapid.IntRange(0, 3).Draw(t, "nonsense") > 0 {
		e.Strand = rapid.SampledFrom(known(r)).Draw(t, "strand")
		e.Body = drawFitting(t, r, e.Strand)
		return e
	}
	e.Body = drawAny(t)
	return e
}

func known(r Run) []StrandID {
	ids := []StrandID{Main}
	for id := range r.Strands.All() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// drawFitting is something that could happen to the strand now.
func drawFitting(t *rapid.T, r Run, s StrandID) Body {
	st := r.Strands.Of(s)
	if st.Call != nil {
		return drawAnswer(t, st.Call.Call, r.Purpose(s))
	}
	if r.Purpose(s) == llm.CheckIn && rapid.Bool().Draw(t, "made") {
		return drawCheckIn(t)
	}
	for _, check := range r.OpenCheckpoints() {
		if rapid.Bool().Draw(t, "decide") {
			return drawDecision(t, check.ID)
		}
	}
	talk := r.Talk(s)
	if len(talk.Open) > 0 {
		return drawProgress(t, rapid.SampledFrom(talk.Open).Draw(t, "call"))
	}
	starts := false
	stand(r, Main, func(p *point) { starts = p.startable() || p.working() })
	if s == Main && starts {
		return TaskStarted{Task: rapid.SampledFrom(someTasks).Draw(t, "task")}
	}
	if id, ok := s.Task(); ok && rapid.IntRange(0, 5).Draw(t, "end") == 0 {
		return drawTaskEnd(t, id)
	}
	return ModelAsked{Call: fmt.Sprintf("%s.%d", s, st.Calls+1), Purpose: r.Purpose(s), Model: "m", ReserveTokens: 300}
}

// drawProgress is something that could happen to an open call.
func drawProgress(t *rapid.T, c OpenCall) Body {
	switch rapid.IntRange(0, 9).Draw(t, "progress") {
	case 0:
		return CallReplied{Effect: c.Effect, Text: "noted", Problem: rapid.Bool().Draw(t, "problem"), Repair: rapid.Bool().Draw(t, "repair")}
	case 1:
		return PlanAccepted{Plan: drawPlan(t)}
	case 2:
		return ToolDeferred{Effect: c.Effect, Until: noon.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "until")) * time.Minute)}
	case 3:
		return TaskFinishing{Task: "a", Effect: c.Effect, Summary: "done", Outputs: sampleOutputs}
	case 4:
		return TaskJudged{Task: "a", Accepted: rapid.Bool().Draw(t, "accepted")}
	case 5, 6:
		return drawQuestion(t, c.Effect)
	case 7:
		return ToolIntent{Effect: c.Effect, Tool: "write", Arguments: json.RawMessage(`{"path":"<&>"}`), Repeat: RepeatOnce}
	}
	return drawOutcome(t, c.Effect)
}

// drawAny is any event at all, about anything.
func drawAny(t *rapid.T) Body {
	effect := EffectID(fmt.Sprintf("%s.%d.%d", rapid.SampledFrom(someStrands).Draw(t, "of"),
		rapid.IntRange(1, 3).Draw(t, "nth"), rapid.IntRange(0, 1).Draw(t, "call")))
	task := rapid.SampledFrom(someTasks).Draw(t, "task")
	purpose := rapid.SampledFrom(somePurposes).Draw(t, "purpose")
	return rapid.SampledFrom([]func() Body{
		func() Body { return drawBrief(t) },
		func() Body { return TimePassed{} },
		func() Body {
			return PersonSaid{By: "slack:U1", Text: "hurry", Trusted: rapid.Bool().Draw(t, "trusted")}
		},
		func() Body {
			return RunControlled{By: "slack:U1", Word: rapid.SampledFrom([]Word{WordPause, WordResume, WordCancel, WordLeave, WordWake, "jump"}).Draw(t, "word")}
		},
		func() Body { return ModelAsked{Call: "main.1", Purpose: purpose, Model: "m"} },
		func() Body { return drawAnswer(t, "main.1", purpose) },
		func() Body { return CallReplied{Effect: effect, Text: "noted"} },
		func() Body { return PlanAccepted{Plan: drawPlan(t)} },
		func() Body { return TaskStarted{Task: task} },
		func() Body { return TaskFinishing{Task: task, Effect: effect} },
		func() Body { return TaskJudged{Task: task, Accepted: rapid.Bool().Draw(t, "accepted")} },
		func() Body { return drawTaskEnd(t, task) },
		func() Body { return ToolIntent{Effect: effect, Tool: "write"} },
		func() Body {
			return RunWatched{Where: rapid.SampledFrom([]string{"discord:1:2:3", "discord:1:2:", "slack:T1:C1:1.2"}).Draw(t, "where"), By: "discord:5", CardOnly: rapid.Bool().Draw(t, "card only")}
		},
		func() Body { return Post{Key: KeyCard, Kind: PostCard}.Intent(noon) },
		func() Body {
			return ToolOutcome{Effect: "post/card", State: OutcomeOK, Text: Shown{Message: "m"}.Text()}
		},
		func() Body {
			return CheckpointVoted{ID: rapid.SampledFrom(someChecks).Draw(t, "voted"), Decision: DecideApprove, By: "slack:U2"}
		},
		func() Body { return ToolDeferred{Effect: effect, Until: noon.Add(time.Hour)} },
		func() Body { return drawOutcome(t, effect) },
		func() Body { return drawQuestion(t, effect) },
		func() Body { return drawDecision(t, rapid.SampledFrom(someChecks).Draw(t, "check")) },
		func() Body {
			return BudgetNotice{Budget: "usd", Percent: rapid.SampledFrom([]int{50, 80, 100}).Draw(t, "percent")}
		},
		func() Body { return Finding{Rule: "L1", Events: []uint64{1, 2}} },
		func() Body {
			return Finding{Rule: rapid.SampledFrom([]string{"L9", "L11"}).Draw(t, "rule"), Message: "on and on",
				Severity: rapid.SampledFrom([]string{"check-in", "nudge", "stop"}).Draw(t, "severity"),
				Strand:   rapid.SampledFrom(someStrands).Draw(t, "found on")}
		},
		func() Body { return CheckInDue{Reason: "10m0s passed", Tick: noon} },
		func() Body { return drawCheckIn(t) },
		func() Body { return Feedback{Rating: 1} },
		func() Body {
			return Recalled{Episodes: []Episode{{Run: "r0", State: RunDone, Headline: "so far", Rating: rapid.IntRange(-1, 1).Draw(t, "rating")}}}
		},
		func() Body { return Reported{Headline: "so far"} },
		func() Body { return RunEnded{State: RunDone} },
	}).Draw(t, "body")()
}

func drawBrief(t *rapid.T) RunStarted {
	b := RunStarted{
		Goal: "count <lines> & files", Requester: "slack:U1", Slots: rapid.IntRange(0, 3).Draw(t, "slots"),
		Expires:    time.Duration(rapid.IntRange(0, 2).Draw(t, "expires")) * time.Hour,
		CheckIns:   rapid.IntRange(0, 3).Draw(t, "check-in steps"),
		Limits:     Limits{Time: time.Duration(rapid.IntRange(0, 2).Draw(t, "time")) * time.Minute},
		Unattended: rapid.Bool().Draw(t, "unattended"),
	}
	if rapid.Bool().Draw(t, "reviewed") {
		b.Reviewers = []string{"slack:U7"}
	}
	if rapid.Bool().Draw(t, "in chat") {
		b.ReplyTo = rapid.SampledFrom([]string{"slack:T1:C1:1.2", "slack:T1:C1:"}).Draw(t, "thread")
		b.Files = []Attachment{{ID: "F1", Name: "a.csv"}}[:rapid.IntRange(0, 1).Draw(t, "files")]
	}
	return b
}

func drawCheckIn(t *rapid.T) CheckInMade {
	b := CheckInMade{Model: "m", Confirm: rapid.IntRange(0, 3).Draw(t, "confirm") == 0, Reason: "on and on",
		Verdict: rapid.SampledFrom(someVerdicts).Draw(t, "verdict"), Stall: rapid.IntRange(0, 3).Draw(t, "stall")}
	if rapid.Bool().Draw(t, "ledger") {
		b.Ledger = &Ledger{Verdict: b.Verdict, Evidence: []uint64{1}, Lesson: fmt.Sprint("lesson ", rapid.IntRange(0, 5).Draw(t, "lesson"))}
	}
	return b
}

// drawPlan may depend on tasks that are not there and on itself.
func drawPlan(t *rapid.T) Plan {
	p := Plan{Name: "plan"}
	for _, id := range someTasks[:rapid.IntRange(0, 3).Draw(t, "tasks")] {
		task := Task{ID: id, Title: "do " + string(id), Deliverable: rapid.Bool().Draw(t, "deliverable")}
		if rapid.IntRange(0, 2).Draw(t, "depends") == 0 {
			task.DependsOn = []TaskID{rapid.SampledFrom(someTasks).Draw(t, "on")}
		}
		p.Tasks = append(p.Tasks, task)
	}
	return p
}

func drawAnswer(t *rapid.T, call string, p llm.Purpose) ModelAnswered {
	a := ModelAnswered{Call: call, Purpose: p, Model: "m", Prompt: 100, Completion: 10, Took: 20 * time.Second}
	if rapid.Bool().Draw(t, "priced") {
		a.Cost = new(Nano(1234))
	}
	calls := []llm.Call{{ID: "c1", Name: "f", Arguments: `{"text": "<b>"}`}, {ID: "c2", Name: "g", Arguments: `{}`}}
	switch rapid.IntRange(0, 7).Draw(t, "answer") {
	case 0:
		a.Error, a.Refused = "model: unauthorised", rapid.Bool().Draw(t, "refused")
	case 1:
		a.Lost = true
	case 2:
		a.Problem = "empty"
	case 3:
		a.Problem, a.Message = "text alone", &llm.Message{Role: llm.Assistant, Content: "well"}
	case 4:
		a.Problem, a.Message = "cut off", &llm.Message{Role: llm.Assistant, Calls: calls}
	default:
		a.Message = &llm.Message{Role: llm.Assistant, Calls: calls[:rapid.IntRange(1, 2).Draw(t, "calls")]}
	}
	return a
}

func drawTaskEnd(t *rapid.T, id TaskID) TaskEnded {
	return TaskEnded{Task: id, Outputs: sampleOutputs, Reason: "because",
		State: rapid.SampledFrom([]TaskState{TaskDone, TaskFailed, TaskSkipped}).Draw(t, "state"),
		Fail:  rapid.SampledFrom([]FailKind{FailImpossible, FailBlocked, FailBudget, FailOther}).Draw(t, "fail")}
}

func drawOutcome(t *rapid.T, effect EffectID) ToolOutcome {
	return ToolOutcome{Effect: effect, Trust: Untrusted, Took: time.Second,
		State: rapid.SampledFrom([]OutcomeState{OutcomeOK, OutcomeError, OutcomeUnknown}).Draw(t, "outcome"),
		Text:  rapid.SampledFrom([]string{"5 lines", "error: no such file"}).Draw(t, "text")}
}

func drawQuestion(t *rapid.T, effect EffectID) CheckpointOpened {
	c := CheckpointOpened{
		ID: rapid.SampledFrom(someChecks).Draw(t, "check"), Effect: effect, Title: "May I?",
		Ask:  rapid.SampledFrom([]CheckpointKind{CheckClarify, CheckPlan, CheckApproval, CheckBudget, CheckStuck, CheckUncertain}).Draw(t, "ask"),
		Tool: "write", Arguments: json.RawMessage(`{"path":"<&>"}`), Grant: "writes", Budget: "time",
	}
	if rapid.Bool().Draw(t, "expires") {
		c.Expires = noon.Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "expires in")) * time.Minute)
	}
	return c
}

func drawDecision(t *rapid.T, id CheckpointID) CheckpointDecided {
	d := CheckpointDecided{ID: id, By: "slack:U1", Decision: rapid.SampledFrom(someWords).Draw(t, "decision"),
		Text: rapid.SampledFrom([]string{"", "because"}).Draw(t, "text")}
	if rapid.Bool().Draw(t, "edited") {
		d.Arguments = json.RawMessage(`{"path":"b"}`)
	}
	return d
}

// fataler is what a test and a property have in common.
type fataler interface {
	Fatalf(format string, args ...any)
}

// encode is the run as a snapshot holds it.
func encode(t fataler, r Run) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		t.Fatalf("encode the run: %v", err)
	}
	return b.String()
}

// moves is what every strand does next, also those that are not there.
func moves(t fataler, r Run) string {
	all := map[StrandID]Move{}
	for _, s := range append(known(r), someStrands...) {
		all[s] = r.Next(s)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatalf("encode the moves: %v", err)
	}
	return string(b)
}
