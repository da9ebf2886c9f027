package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// world plays everything around one run in one goroutine and on one clock: the
// store, the loop, a model and tools that may fail, crashes, and people. It
// keeps what a store keeps; whatever else there is dies with a crash.
type world struct {
	t   *rapid.T
	run Run                    // as committed
	due map[StrandID]time.Time // absent: parked
	now time.Time
	// kind: the model and the people do their best from now on, and nothing
	// crashes. A run that does not end then is dead.
	kind    bool
	leased  StrandID          // whose turn it is, empty: nobody's
	lost    map[StrandID]bool // their worker crashed, and its lease has yet to run out
	retries int               // decisions to try again
	done    map[EffectID]int
	allowed map[EffectID]int // how often a once effect may happen
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, now: noon, due: map[StrandID]time.Time{}, lost: map[StrandID]bool{}, done: map[EffectID]int{}, allowed: map[EffectID]int{}}
	w.commit([]Event{{Strand: Main, Body: drawBrief(t)}}, map[StrandID]time.Time{Main: AtOnce})
	if speaks := w.run.Strands.Has(Voice); speaks {
		w.due[Voice] = w.now
	}
	return w
}

// oneIn is true once in n times, and never when everybody is kind.
func (w *world) oneIn(n int, what string) bool {
	return !w.kind && rapid.IntRange(1, n).Draw(w.t, what) == n
}

// commit is the store's: all events, then the wake-ups. A leased strand's
// release looks for newer events instead of being woken.
func (w *world) commit(events []Event, wake map[StrandID]time.Time) {
	for _, e := range events {
		e.Run, e.Seq, e.At = "r1", w.run.Seq+1, w.now
		w.watch(e)
		w.t.Logf("%d %s %s %+v", e.Seq, e.Strand, e.Body.Kind(), e.Body)
		w.run = w.run.Apply(e)
	}
	for s, at := range wake {
		if old, waiting := w.due[s]; s != w.leased && !at.IsZero() && (!waiting || at.Before(old)) {
			w.due[s] = at
		}
	}
	if w.run.Ended != nil { // what is left is the report
		maps.DeleteFunc(w.due, func(s StrandID, _ time.Time) bool { return s != Voice })
	}
	w.now = w.now.Add(time.Second)
}

// fact is what the front desk commits: every strand looks at it.
func (w *world) fact(s StrandID, b Body) {
	w.commit([]Event{{Strand: s, Body: b}}, w.run.Strands.Wakeful())
}

// watch checks the bounds that hold at every single event.
func (w *world) watch(e Event) {
	before, after := w.run, w.run.Apply(e)
	switch b := e.Body.(type) {
	case ModelAsked:
		if n := before.Talk(e.Strand).Strikes; n >= 3 {
			w.t.Fatalf("%s asks the model after %d unusable replies in a row", e.Strand, n)
		}
	case CheckInMade:
		if b.Missed != "" && after.Strands.Of(e.Strand).Error != "" {
			w.t.Fatalf("a check-in without a ledger is trouble: %s", after.Strands.Of(e.Strand).Error)
		}
	case PlanAccepted:
		if after.Replans > 2+w.retries {
			w.t.Fatalf("re-plan %d after a person allowed %d", after.Replans, w.retries)
		}
	case CheckpointDecided:
		c := before.Checks[b.ID]
		if c.Ask == CheckStuck && b.Decision == DecideRetry {
			w.retries++
		}
		if c.Ask == CheckUncertain && b.Decision == DecideRepeat {
			w.allowed[c.Effect]++
		}
	case TaskStarted:
		w.watchStart(before, after, b.Task)
	}
}

func (w *world) watchStart(before, after Run, id TaskID) {
	task, _ := before.Plan.Task(id)
	for _, d := range task.DependsOn {
		if s := before.Tasks[d].State; s != TaskDone {
			w.t.Fatalf("task %s starts while %s, which it needs, is %s", id, d, s)
		}
	}
	if n, slots := active(after), max(after.Brief.Slots, 1); n > slots {
		w.t.Fatalf("%d tasks at work after %s started, but %d slots", n, id, slots)
	}
}

// happen is an effect on the world.
func (w *world) happen(c OpenCall) {
	w.done[c.Effect]++
	if n := w.done[c.Effect]; c.Intent.Repeat == RepeatProbeable && n > 1 {
		w.t.Fatalf("post %s was made %d times", c.Effect, n)
	}
	if n := w.done[c.Effect]; c.Intent.Repeat == RepeatOnce && n > 1+w.allowed[c.Effect] {
		w.t.Fatalf("effect %s happened %d times, and people allowed %d repetitions", c.Effect, n, w.allowed[c.Effect])
	}
}

// next is the strand that has been due longest, and whether any is due now.
func (w *world) next() (StrandID, bool) {
	ids := slices.SortedFunc(maps.Keys(w.due), func(a, b StrandID) int { return w.due[a].Compare(w.due[b]) })
	ids = slices.DeleteFunc(ids, func(s StrandID) bool { return w.due[s].After(w.now) })
	if len(ids) == 0 {
		return "", false
	}
	slices.Sort(ids) // map order is not the property's to choose
	return rapid.SampledFrom(ids).Draw(w.t, "turn of"), true
}

// rest checks that nobody sleeps who has something to do, with nobody due.
func (w *world) rest() {
	for id := range w.run.Strands.All() {
		if w.lost[id] {
			continue
		}
		m := w.run.Next(id)
		for _, step := range m.Steps {
			_, waits := step.(Dispatch)
			if _, shows := step.(Show); !waits && !shows {
				w.t.Fatalf("%s could do %T, but nobody wakes it", id, step)
			}
		}
		if at, timed := w.due[id]; len(m.Steps) == 0 && !m.Wake.IsZero() && (!timed || at.After(m.Wake)) {
			w.t.Fatalf("%s waits until %s, but its timer is %v", id, m.Wake, at)
		}
	}
}

// pass lets time pass until the next timer; false: there is none.
func (w *world) pass() bool {
	first := time.Time{}
	for _, at := range w.due {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if first.IsZero() {
		return false
	}
	if first.After(w.now) {
		w.now = first
	}
	return true
}

// unblock does what the run waits for; false: it waits for nothing.
func (w *world) unblock() bool {
	if w.run.Paused != "" || w.run.Refused != "" {
		w.fact(Main, RunControlled{Word: WordResume, By: "slack:U1"})
		return true
	}
	if c := w.run.OpenCheckpoint(); c != nil {
		w.decide(*c)
		return true
	}
	return false
}

// decide is a person's answer to a question.
func (w *world) decide(c Checkpoint) {
	helpful := map[CheckpointKind]string{
		CheckClarify: DecideForMe, CheckPlan: DecideApprove, CheckApproval: DecideApprove,
		CheckBudget: DecideMore100, CheckStuck: DecideRetry, CheckUncertain: DecideDone,
	}[c.Ask]
	d := CheckpointDecided{ID: c.ID, By: "slack:U1", Decision: helpful}
	if !w.kind {
		d.Decision = rapid.SampledFrom(append(slices.Clone(c.Choices), DecideDeny, helpful, helpful, helpful)).Draw(w.t, "decision")
	}
	if ends := d.Decision == DecideCancel || d.Decision == DecideFinish; ends && c.Ask != CheckStuck && !w.oneIn(6, "mean it") {
		d.Decision = helpful
	}
	if w.kind && !slices.Contains(c.Choices, helpful) {
		d.Decision = c.Choices[0]
	}
	if d.Decision == DecideEdit {
		plan := w.plan(w.run)
		d.Plan, d.Arguments = &plan, []byte(`{"text":"edited"}`)
	}
	w.fact(c.Strand, d)
}

// say is a person's words: at once steering, or to be understood.
func (w *world) say() {
	said := PersonSaid{By: "slack:U1", Text: rapid.SampledFrom([]string{"hurry", "is it going well?"}).Draw(w.t, "words"), Trusted: !w.oneIn(5, "an approver")}
	wake := w.run.Strands.Wakeful()
	if !w.oneIn(4, "at once") && w.run.Ended == nil {
		said.Message, said.Unread = fmt.Sprint("m", rapid.IntRange(0, 20).Draw(w.t, "message")), &Unread{}
		for _, c := range w.run.OpenCheckpoints() {
			said.Unread.Before = append(said.Unread.Before, c.ID)
			if c.Ask == CheckClarify && said.Trusted {
				said.Unread.Answer = &WordsAnswer{ID: c.ID, Decision: DecideAnswer}
			}
		}
		wake[Hear] = AtOnce
	}
	w.commit([]Event{{Strand: Main, Body: said}}, wake)
}

// meddle is something that people do on their own.
func (w *world) meddle() {
	if open := w.run.OpenCheckpoints(); len(open) > 0 && rapid.Bool().Draw(w.t, "decide") {
		w.decide(rapid.SampledFrom(open).Draw(w.t, "checkpoint"))
		return
	}
	if working := w.run.Unchecked(); len(working) > 0 && w.oneIn(3, "the clock ticks") {
		w.commit([]Event{{Strand: rapid.SampledFrom(working).Draw(w.t, "check in"), Body: CheckInDue{Tick: w.now}}}, nil)
		return
	}
	said := RunControlled{By: "slack:U1", Word: rapid.SampledFrom([]Word{
		WordWake, WordWake, WordPause, WordResume, WordResume, WordLeave, WordCancel,
	}).Draw(w.t, "word")}
	if said.Word == WordCancel && !w.oneIn(8, "mean it") {
		w.say()
		return
	}
	w.fact(Main, said)
}
