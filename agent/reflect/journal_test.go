package reflect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// book writes a journal as the loop does.
type book struct {
	events []agent.Event
	now    time.Time
	calls  int
}

const task = agent.StrandID("task/t1")

func (b *book) add(s agent.StrandID, body agent.Body) uint64 {
	if b.now.IsZero() {
		b.now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	}
	seq := uint64(len(b.events) + 1)
	b.events = append(b.events, agent.Event{Run: "r1", Strand: s, Seq: seq, At: b.now, Body: body})
	return seq
}

// ask is a model call that takes a while and answers with calls or words.
func (b *book) ask(took time.Duration, p llm.Purpose, m llm.Message, problem string) (call string) {
	b.calls++
	call = fmt.Sprintf("%s.%d", task, b.calls)
	b.add(task, agent.ModelAsked{Call: call, Purpose: p})
	b.now = b.now.Add(took)
	b.add(task, agent.ModelAnswered{Call: call, Purpose: p, Took: took, Message: &m, Problem: problem})
	return call
}

// act is a model call that calls a tool, and what came of it.
func (b *book) act(took time.Duration, tool, args, text string, state agent.OutcomeState) (seq uint64) {
	call := b.ask(took, llm.Work, llm.Message{Calls: []llm.Call{{ID: "c", Name: tool, Arguments: args}}}, "")
	effect := agent.EffectID(call + ".0")
	seq = b.add(task, agent.ToolIntent{Effect: effect, Tool: tool, Arguments: json.RawMessage(args)})
	if tool == "wait" {
		b.add(task, agent.ToolDeferred{Effect: effect})
		b.now = b.now.Add(5 * time.Second)
		b.add(task, agent.TimePassed{})
	}
	b.add(task, agent.ToolOutcome{Effect: effect, State: state, Text: text})
	return seq
}

// refuse is a call that is answered without an effect.
func (b *book) refuse(tool, text string, problem bool) (seq uint64) {
	call := b.ask(0, llm.Work, llm.Message{Calls: []llm.Call{{ID: "c", Name: tool, Arguments: "{}"}}}, "")
	return b.add(task, agent.CallReplied{Effect: agent.EffectID(call + ".0"), Text: text, Problem: problem})
}

func (b *book) examine() []agent.Finding {
	var found []agent.Finding
	for _, trace := range fromJournal(b.events) {
		found = append(found, Examine(trace, Defaults())...)
	}
	return found
}

func TestJournal(t *testing.T) {
	for _, test := range []struct {
		name, rule string
		write      func(b *book)
		want       []string
	}{
		{"a slow model makes no poll of a loop", "L3", func(b *book) {
			for range 4 {
				b.act(7*time.Second, "look", "{}", "nothing", agent.OutcomeOK)
			}
		}, []string{"L3 stop 3,7,11,15"}},
		{"people who take their time neither", "L3", func(b *book) {
			for i := range 4 {
				id := agent.CheckpointID(strconv.Itoa(i))
				call := b.ask(0, llm.Work, llm.Message{Calls: []llm.Call{{Name: "look", Arguments: "{}"}}}, "")
				effect := agent.EffectID(call + ".0")
				b.add(task, agent.CheckpointOpened{ID: id, Ask: agent.CheckApproval, Effect: effect})
				b.now = b.now.Add(time.Minute)
				b.add(task, agent.CheckpointDecided{ID: id, Decision: agent.DecideApprove, By: "slack:U1"})
				b.add(task, agent.ToolIntent{Effect: effect, Tool: "look", Arguments: json.RawMessage("{}")})
				b.add(task, agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK})
			}
		}, []string{"L3 stop 5,11,17,23"}},
		{"waits make a poll", "L3", func(b *book) {
			for range 6 {
				b.act(time.Second, "look", "{}", "nothing", agent.OutcomeOK)
				b.act(time.Second, "wait", `{"seconds":5}`, "waited 5 s", agent.OutcomeOK)
			}
		}, nil},
		{"pauses of the engine make a poll", "L3", func(b *book) {
			for range 6 {
				b.act(time.Second, "look", "{}", "nothing", agent.OutcomeOK)
				b.now = b.now.Add(5 * time.Second)
			}
		}, nil},
		{"denials are no errors", "L2", func(b *book) {
			for range 4 {
				b.refuse("delete_file", "denied by slack:U1: no", false)
			}
		}, nil},
		{"errors of a tool are", "L2", func(b *book) {
			for range 3 {
				b.act(0, "look", "{}", "error: no", agent.OutcomeError)
			}
		}, []string{"L2 nudge 3,7,11"}},
		{"an unknown function", "L7", func(b *book) {
			for i := range 3 {
				b.refuse(fmt.Sprint("f", i), "error: unknown function", true)
			}
		}, []string{"L7 stop 3,6,9"}},
		{"prose where a call is asked for", "L7", func(b *book) {
			for i := range 3 {
				b.ask(0, llm.Work, llm.Message{Content: fmt.Sprint("hm ", i)}, "Text alone does nothing here.")
			}
		}, []string{"L7 stop 2,4,6"}},
		{"and is no monologue", "L5", func(b *book) {
			for range 3 {
				b.ask(0, llm.Work, llm.Message{Content: "hm"}, "Text alone does nothing here.")
			}
		}, nil},
		{"compactions", "L8", func(b *book) {
			b.act(0, "look", "{}", "1", agent.OutcomeOK)
			b.add(task, agent.Compacted{Entries: 2, Summary: "so far"})
			b.act(0, "look", "{}", "error: no", agent.OutcomeError)
			b.add(task, agent.Compacted{Entries: 2, Summary: "so far"})
		}, []string{"L8 stop 5,10"}},
		{"compactions with a success between", "L8", func(b *book) {
			b.add(task, agent.Compacted{Entries: 2, Summary: "so far"})
			b.act(0, "look", "{}", "1", agent.OutcomeOK)
			b.add(task, agent.Compacted{Entries: 2, Summary: "so far"})
		}, nil},
		{"a person's message", "L3", func(b *book) {
			for range 2 {
				b.act(0, "look", "{}", "1", agent.OutcomeOK)
				b.act(0, "look", "{}", "1", agent.OutcomeOK)
				b.add(agent.Main, agent.PersonSaid{By: "slack:U1", Text: fmt.Sprint("try ", len(b.events))})
			}
		}, nil},
		{"a person's way out of a stop", "L3", func(b *book) {
			for i := range 2 {
				for range 4 {
					b.act(0, "look", "{}", "1", agent.OutcomeOK)
				}
				id := agent.CheckpointID(strconv.Itoa(i))
				b.add(task, agent.CheckpointOpened{ID: id, Ask: agent.CheckStuck})
				b.add(task, agent.CheckpointDecided{ID: id, Decision: agent.DecideRetry, By: "slack:U1"})
			}
		}, []string{"L3 stop 3,7,11,15", "L3 stop 21,25,29,33"}},
		{"an expired question is nobody's word", "L3", func(b *book) {
			for i := range 4 {
				b.act(0, "look", "{}", "1", agent.OutcomeOK)
				id := agent.CheckpointID(strconv.Itoa(i))
				b.add(task, agent.CheckpointOpened{ID: id, Ask: agent.CheckStuck})
				b.add(task, agent.CheckpointDecided{ID: id, Decision: agent.DecideExpired, By: agent.DecideExpired})
			}
		}, []string{"L3 stop 3,9,15,21"}},
		{"a call repeated after a crash is one", "L1", func(b *book) {
			call := b.ask(0, llm.Work, llm.Message{Calls: []llm.Call{{Name: "look", Arguments: "{}"}}}, "")
			effect := agent.EffectID(call + ".0")
			for again := range 4 {
				b.add(task, agent.ToolIntent{Effect: effect, Tool: "look", Arguments: json.RawMessage("{}"), Again: again})
			}
			for range 3 {
				b.add(task, agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK})
			}
		}, nil},
		{"a judge's turns are not the task's", "L5", func(b *book) {
			for range 4 {
				b.ask(0, llm.Judge, llm.Message{Content: "no"}, "")
			}
		}, nil},
		{"intents alone are enough", "L1", func(b *book) {
			for i := range 3 {
				effect := agent.EffectID(strconv.Itoa(i))
				b.add(task, agent.ToolIntent{Effect: effect, Tool: "look", Arguments: json.RawMessage(`{}`)})
				b.add(task, agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK})
			}
		}, []string{"L1 nudge 1,3,5"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b book
			test.write(&b)
			wantBrief(t, only(test.rule, b.examine()), test.want...)
		})
	}
}

func planOf(titles ...string) agent.Plan {
	var p agent.Plan
	for i, title := range titles {
		p.Tasks = append(p.Tasks, agent.Task{ID: agent.TaskID(fmt.Sprint("t", i)), Title: title})
	}
	return p
}

func TestPlanLevel(t *testing.T) {
	accept := func(b *book, s agent.StrandID, titles ...string) {
		b.add(s, agent.PlanAccepted{Plan: planOf(titles...)})
	}
	done := func(b *book, id agent.TaskID, s agent.TaskState) {
		b.add(agent.TaskStrand(id), agent.TaskEnded{Task: id, State: s})
	}
	grow := func(b *book, from, rounds int) {
		for i := range rounds + 1 {
			titles := make([]string, from+i)
			for j := range titles {
				titles[j] = fmt.Sprint("do ", j)
			}
			accept(b, task, titles...)
		}
	}
	for _, test := range []struct {
		name  string
		write func(b *book)
		want  []string
	}{
		{"one re-plan with the same plan", func(b *book) {
			accept(b, agent.Main, "a", "b")
			accept(b, agent.Main, "B", "a")
		}, nil},
		{"two re-plans with the same plan", func(b *book) {
			accept(b, agent.Main, "a", "b")
			done(b, "t0", agent.TaskFailed)
			accept(b, agent.Main, "B ", "a")
			done(b, "t0", agent.TaskFailed)
			accept(b, agent.Main, "a", "b")
		}, []string{"L11 stop 1,3,5"}},
		{"another plan between", func(b *book) {
			accept(b, agent.Main, "a", "b")
			accept(b, agent.Main, "a", "c")
			accept(b, agent.Main, "a", "b")
		}, nil},
		{"a task was finished between", func(b *book) {
			accept(b, agent.Main, "a", "b")
			accept(b, agent.Main, "a", "b")
			done(b, "t0", agent.TaskDone)
			accept(b, agent.Main, "a", "b")
		}, nil},
		{"a person spoke between", func(b *book) {
			accept(b, agent.Main, "a")
			accept(b, agent.Main, "a")
			b.add(agent.Main, agent.PersonSaid{Text: "again"})
			accept(b, agent.Main, "a")
		}, nil},
		{"four rounds of growing", func(b *book) { grow(b, 1, 4) }, nil},
		{"five rounds of growing", func(b *book) { grow(b, 1, 5) }, []string{"L11 nudge 2,3,4,5,6"}},
		{"ten rounds of growing", func(b *book) { grow(b, 1, 10) }, []string{"L11 nudge 2,3,4,5,6,7,8,9,10", "L11 stop 2,3,4,5,6,7,8,9,10,11"}},
		{"a task was finished while it grew", func(b *book) {
			grow(b, 1, 3)
			done(b, "t0", agent.TaskDone)
			grow(b, 5, 3)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b book
			test.write(&b)
			var j Journal
			for _, e := range b.events {
				j.Apply(e)
			}
			wantBrief(t, j.Plans(Defaults()), test.want...)
		})
	}
}

// One task is one task, also in what people read.
func TestAPlanOfOneTaskInWords(t *testing.T) {
	var b book
	var j Journal
	for range 3 {
		b.add(agent.Main, agent.PlanAccepted{Plan: planOf("a")})
	}
	for _, e := range b.events {
		j.Apply(e)
	}
	found := j.Plans(Defaults())
	if want := "the plan is the same after 2 re-plans: its 1 open task did not change"; len(found) != 1 || found[0].Message != want {
		t.Errorf("%+v, want %q", found, want)
	}
}

// A watch after every event finds what an examination of the whole finds, each
// streak once, and a fork on trial finds it one commit earlier.
func TestWatch(t *testing.T) {
	var b book
	for range 12 {
		b.act(0, "look", "{}", "nothing", agent.OutcomeOK)
		b.act(0, "check", "{}", "nothing", agent.OutcomeOK)
	}
	var j Journal
	var found []agent.Finding
	for _, e := range b.events {
		trial := j.Fork(task)
		trial.Apply(e)
		before := Watch(trial.Trace(task), Defaults(), found)
		j.Apply(e)
		after := Watch(j.Trace(task), Defaults(), found)
		if fmt.Sprint(brief(before)) != fmt.Sprint(brief(after)) {
			t.Fatalf("event %d: on trial %q, in the journal %q", e.Seq, brief(before), brief(after))
		}
		found = append(found, after...)
		if again := Watch(j.Trace(task), Defaults(), found); len(again) > 0 {
			t.Fatalf("event %d: %q again", e.Seq, brief(again))
		}
	}
	wantBrief(t, found, "L1 nudge 3,11,19", "L1 nudge 7,15,23", "L4 stop 3,7,11,15,19,23",
		"L9 check-in 7,11,15,19,23,27,31,35,39,43,47,51,55,59,63")
	if other := New(found[:1], []agent.Finding{{Rule: "L1", Severity: Nudge, Strand: "task/t2", Events: found[0].Events}}); len(other) != 1 {
		t.Error("a finding about another strand hides this one's")
	}
}

// A check-in is called at most once in ten steps, also from watch to watch.
func TestWatchCallsFewCheckIns(t *testing.T) {
	trace := &Trace{Strand: task}
	var found []agent.Finding
	last := uint64(0)
	for i := range uint64(200) {
		trace.Push(Step{Event: i + 100, Tool: fmt.Sprint("t", i/2), Text: strconv.FormatUint(i, 10)})
		for _, f := range Watch(trace, Defaults(), found) {
			newest := f.Events[len(f.Events)-1]
			if last > 0 && newest-last < 10 {
				t.Fatalf("check-ins at %d and %d: %q", last, newest, brief(append(found, f)))
			}
			last = newest
			found = append(found, f)
		}
	}
	if len(found) < 15 {
		t.Errorf("%d check-ins in 200 steps", len(found))
	}
}
