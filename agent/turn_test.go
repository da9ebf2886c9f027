package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// turn is the work on one strand, as package loop does it: a batch that is
// committed before anything acts on the world and when the strand is released.
type turn struct {
	*world
	strand StrandID
	batch  []Event
	wake   map[StrandID]time.Time
	seen   uint64
	fresh  map[EffectID]bool // intents of this turn
}

// end says how a step left its turn.
type end int

const (
	goOn end = iota
	waits
	crashed
)

// take plays one turn. A crash loses the batch; the lease runs out after a while.
func (w *world) take(s StrandID) {
	delete(w.due, s)
	delete(w.lost, s)
	w.leased = s
	t := &turn{world: w, strand: s, wake: map[StrandID]time.Time{}, seen: w.run.Seq, fresh: map[EffectID]bool{}}
	due := t.work()
	w.leased = ""
	if (w.run.Ended == nil || s == Voice) && !due.IsZero() {
		w.due[s] = due
	}
}

// work does step after step and returns when the strand is due again.
func (t *turn) work() (due time.Time) {
	t.add(nil, t.run.Strands.Lost(t.strand)...)
	for range 300 {
		view := t.view()
		m := view.Next(t.strand)
		if !m.Wake.IsZero() && !m.Wake.After(t.now) {
			t.add(nil, Event{Strand: t.strand, Body: TimePassed{}})
			continue
		}
		if len(m.Steps) == 0 {
			return t.release(m.Wake)
		}
		for _, step := range m.Steps {
			switch t.do(view, step) {
			case waits:
				return t.release(m.Wake)
			case crashed:
				return t.crash()
			case goOn:
			}
		}
	}
	t.t.Fatalf("%s spins: %+v", t.strand, t.view().Next(t.strand))
	return Parked
}

func (t *turn) do(view Run, s Step) end {
	switch s := s.(type) {
	case AskModel:
		return t.ask(view)
	case Dispatch:
		return t.dispatch(view)
	case Invoke:
		return t.invoke(view, s.Effects)
	case Schedule:
		return t.schedule(view, s.Free)
	case Decide:
		t.add(s.Wake, s.Events...)
	case Speak:
		in := s.Post.Intent(t.now.Add(time.Second))
		t.event(in)
		t.fresh[in.Effect] = true
	case Show:
		return waits
	}
	return goOn
}

func (t *turn) view() Run {
	r := t.run
	for _, e := range t.batch {
		e.Run, e.Seq, e.At = r.ID, r.Seq+1, t.now
		r = r.Apply(e)
	}
	return r
}

func (t *turn) add(wake map[StrandID]time.Time, events ...Event) {
	t.batch = append(t.batch, events...)
	maps.Copy(t.wake, wake)
}

func (t *turn) event(b Body) { t.add(nil, Event{Strand: t.strand, Body: b}) }

func (t *turn) reply(c OpenCall, text string) { t.event(CallReplied{Effect: c.Effect, Text: text}) }

func (t *turn) refuse(c OpenCall) {
	t.event(CallReplied{Effect: c.Effect, Text: "error: unusable", Problem: true})
}

// flush commits the batch; a crash may come before it and after it.
func (t *turn) flush() end {
	if t.oneIn(40, "crash before the commit") {
		return crashed
	}
	foreign := t.run.Seq > t.seen
	if speaks := t.run.Strands.Has(Voice); speaks && t.strand != Voice && slices.ContainsFunc(t.batch, func(e Event) bool { return Visible(e.Body) }) {
		t.wake[Voice] = AtOnce
	}
	t.commit(t.batch, t.wake)
	if !foreign {
		t.seen = t.run.Seq
	}
	t.batch, t.wake = nil, map[StrandID]time.Time{}
	if t.oneIn(40, "crash after the commit") {
		return crashed
	}
	return goOn
}

func (t *turn) release(due time.Time) time.Time {
	if t.flush() == crashed {
		return t.crash()
	}
	if t.run.Seq > t.seen {
		return AtOnce // somebody wrote while this strand was leased
	}
	return due
}

// crash leaves a lease that runs out.
func (t *turn) crash() time.Time {
	t.lost[t.strand] = true
	return t.now.Add(3 * time.Second)
}

// ask reserves, asks and settles. People may act in the meantime.
func (t *turn) ask(view Run) end {
	if view.Purpose(t.strand) == llm.CheckIn && t.oneIn(10, "no budget for a check-in") {
		d := MissCheckIn(view, t.strand, "it does not fit the budget")
		t.add(d.Wake, d.Events...)
		return goOn
	}
	if t.strand == Hear && t.oneIn(8, "no model for words") {
		d := Misheard(view, "the budget is used up")
		t.add(d.Wake, d.Events...)
		return goOn
	}
	if t.strand != Hear && t.oneIn(25, "over budget") {
		budget := rapid.SampledFrom([]string{"usd", "steps", "person/slack:U1/usd"}).Draw(t.t, "budget")
		t.add(wakeMain(), Event{Strand: t.strand, Body: BudgetQuestion(view, budget, t.now)})
		return goOn
	}
	asked := ModelAsked{Call: fmt.Sprintf("%s.%d", t.strand, view.Strands.Of(t.strand).Calls+1), Purpose: view.Purpose(t.strand), Model: "m"}
	t.event(asked)
	if t.flush() == crashed {
		return crashed
	}
	if t.oneIn(15, "meanwhile") {
		t.meddle()
	}
	t.event(t.answer(asked))
	return goOn
}

// invoke runs the effects, or recovers those of an earlier holder.
func (t *turn) invoke(view Run, effects []EffectID) end {
	if t.flush() == crashed {
		return crashed
	}
	for _, c := range view.Talk(t.strand).Open {
		if !slices.Contains(effects, c.Effect) {
			continue
		}
		if !t.fresh[c.Effect] && c.Deferred == 0 && c.Intent.Repeat == RepeatOnce {
			t.openCheckpoint(view, CheckpointOpened{Ask: CheckUncertain, Effect: c.Effect, Tool: c.Intent.Tool,
				Choices: []string{DecideDone, DecideRepeat, DecideSkip}})
			continue
		}
		if t.strand == Voice {
			if t.post(c) == crashed {
				return crashed
			}
			continue
		}
		t.happen(c)
		if t.oneIn(20, "crash after the effect") {
			return crashed
		}
		switch {
		case t.oneIn(10, "answer of the tool is lost") && c.Intent.Repeat == RepeatOnce:
			delete(t.fresh, c.Effect)
		case c.Intent.Repeat == RepeatRead && c.Deferred < 2 && t.oneIn(6, "defer"):
			t.event(ToolDeferred{Effect: c.Effect, Until: t.now.Add(time.Minute)})
		default:
			t.event(ToolOutcome{Effect: c.Effect, State: OutcomeOK, Trust: Trusted, Text: "5"})
		}
	}
	return goOn
}

// post makes one of the voice's posts as the loop does: what may have happened
// is looked for, what was put off gets a new intent first.
func (t *turn) post(c OpenCall) end {
	in, repeats := *c.Intent, c.Intent.Repeat == RepeatIdempotent
	if !t.fresh[c.Effect] && !repeats && c.Until.IsZero() && t.done[c.Effect] > 0 {
		t.event(ToolOutcome{Effect: c.Effect, State: OutcomeOK, Text: Shown{Message: "found"}.Text()})
		return goOn
	}
	if !t.fresh[c.Effect] && !repeats || !c.Until.IsZero() {
		in.Again++
		t.event(in)
		if t.flush() == crashed {
			return crashed
		}
	}
	t.fresh[c.Effect] = true
	if c.Deferred < 2 && t.oneIn(4, "the platform is busy") {
		t.event(ToolDeferred{Effect: c.Effect, Until: t.now.Add(time.Minute)})
		return goOn
	}
	t.happen(c)
	if t.oneIn(10, "crash after the post") {
		return crashed
	}
	if t.oneIn(10, "answer of the platform is lost") {
		delete(t.fresh, c.Effect)
		return goOn
	}
	o := ToolOutcome{Effect: c.Effect, State: OutcomeOK, Text: Shown{Message: "m", Thread: "slack:T1:C1:9.9"}.Text()}
	if t.oneIn(10, "the channel is gone") {
		o.State, o.Text = OutcomeError, "the channel is gone"
	}
	wake := map[StrandID]time.Time{}
	if c.Effect.Attaches() {
		wake[Main] = AtOnce
	}
	t.add(wake, Event{Strand: Voice, Body: o})
	return goOn
}

// schedule starts ready tasks in the order of the plan.
func (t *turn) schedule(view Run, free int) end {
	for _, task := range view.Plan.Tasks {
		ready := view.Tasks[task.ID].State == TaskPending && !slices.ContainsFunc(task.DependsOn, view.unfinished)
		if ready && free > 0 {
			t.add(map[StrandID]time.Time{TaskStrand(task.ID): AtOnce}, Event{Strand: Main, Body: TaskStarted{Task: task.ID}})
			free--
		}
	}
	return goOn
}

func (t *turn) openCheckpoint(view Run, c CheckpointOpened) {
	c.ID, c.Expires = view.CheckpointID(c.Effect), view.Brief.Expiry(t.now)
	t.add(wakeMain(), Event{Strand: t.strand, Body: c})
}

// answer is the model's: a usable one for the purpose, or one of the others.
func (t *turn) answer(asked ModelAsked) ModelAnswered {
	a := ModelAnswered{Call: asked.Call, Purpose: asked.Purpose, Model: asked.Model, Prompt: 100, Completion: 10, Took: 4 * time.Second}
	if t.oneIn(30, "fault") {
		a.Error, a.Refused = "model: gone", rapid.Bool().Draw(t.t, "refused")
		return a
	}
	if t.oneIn(6, "unusable") {
		a.Problem = "text alone does nothing"
		return a
	}
	names := map[llm.Purpose][]string{
		llm.Intake:  {"submit_plan", "submit_plan", "submit_plan", "submit_plan", "ask_human", "reply"},
		llm.Plan:    {"submit_plan", "ask_human"},
		llm.Work:    {"finish_task", "read", "write", "send", "read", "write", "send", "ask_human", "fail_task", "add_tasks"},
		llm.Judge:   {"judge_task"},
		llm.CheckIn: {"submit_reflection"},
		llm.Hear:    {"take_message", "answer_question"},
		llm.Report:  {"submit_report"},
	}[asked.Purpose]
	calls := []string{names[0]}
	if !t.kind {
		calls = rapid.SliceOfN(rapid.SampledFrom(append(names, "unknown")), 1, 3).Draw(t.t, "calls")
	}
	a.Message = &llm.Message{Role: llm.Assistant}
	for i, name := range calls {
		a.Message.Calls = append(a.Message.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: name, Arguments: "{}"})
	}
	return a
}
