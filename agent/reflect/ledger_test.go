package reflect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestWeigh(t *testing.T) {
	fine := Ledger{Progress: 0.5, Relevance: 1, PlanStillBest: true, Verdict: Continue}
	with := func(change func(l *Ledger)) Ledger {
		l := fine
		change(&l)
		return l
	}
	stop := with(func(l *Ledger) { l.Verdict = End })
	stuck := with(func(l *Ledger) { l.Progress = 0.2 })
	replan := with(func(l *Ledger) { l.Verdict = Replan })
	half := Standing{Progress: 0.4}
	for _, test := range []struct {
		name    string
		ledgers []Ledger
		found   []agent.Finding
		before  Standing
		want    Verdict
		confirm bool
		after   Standing
	}{
		{"nobody says anything", nil, nil, half, Continue, false, half},
		{"progress", []Ledger{fine}, nil, half, Continue, false, Standing{0.5, 0, 0}},
		{"progress takes one off the stall", []Ledger{fine}, nil, Standing{0.4, 2, 0}, Continue, false, Standing{0.5, 1, 0}},
		{"no progress", []Ledger{stuck}, nil, half, Continue, false, Standing{0.4, 1, 0}},
		{"two times none", []Ledger{stuck}, nil, Standing{0.4, 1, 0}, Continue, false, Standing{0.4, 2, 0}},
		{"three times none", []Ledger{stuck}, nil, Standing{0.4, 2, 0}, Replan, false, Standing{0.4, 0, 1}},
		{"the second re-plan", []Ledger{stuck}, nil, Standing{0.4, 2, 1}, Replan, false, Standing{0.4, 0, 2}},
		{"no third re-plan", []Ledger{stuck}, nil, Standing{0.4, 2, 2}, Escalate, false, Standing{0.4, 3, 2}},
		{"looping is a stall and a nudge", []Ledger{with(func(l *Ledger) { l.Looping = true })}, nil, half, Remind, false, Standing{0.5, 1, 0}},
		{"one model may pause", []Ledger{stop}, nil, half, Escalate, true, Standing{0.5, 0, 0}},
		{"two disagree", []Ledger{stop, fine}, nil, half, Escalate, false, Standing{0.5, 0, 0}},
		{"two agree", []Ledger{stop, stop}, nil, half, End, false, Standing{0.5, 0, 0}},
		{"unrelated work pauses", []Ledger{with(func(l *Ledger) { l.Relevance = 0.2 })}, nil, half, Escalate, false, Standing{0.5, 0, 0}},
		{"just related enough", []Ledger{with(func(l *Ledger) { l.Relevance = 0.3 })}, nil, half, Continue, false, Standing{0.5, 0, 0}},
		{"another plan is better", []Ledger{with(func(l *Ledger) { l.PlanStillBest = false })}, nil, half, Replan, false, Standing{0.5, 0, 1}},
		{"the model wants a re-plan", []Ledger{replan}, nil, Standing{0.4, 0, 2}, Escalate, false, Standing{0.5, 0, 2}},
		{"the model wants a nudge", []Ledger{with(func(l *Ledger) { l.Verdict = Remind })}, nil, half, Remind, false, Standing{0.5, 0, 0}},
		{"a word that is no verdict", []Ledger{with(func(l *Ledger) { l.Verdict = "meh" })}, nil, half, Remind, false, Standing{0.5, 0, 0}},
		{"a detector's nudge", []Ledger{fine}, []agent.Finding{{Rule: "L1", Severity: Nudge, Message: "circles"}}, half, Remind, false, Standing{0.5, 0, 0}},
		{"a detector's check-in alone", []Ledger{fine}, []agent.Finding{{Rule: "L9", Severity: CheckIn}}, half, Continue, false, Standing{0.5, 0, 0}},
		{"an exact rule stops whatever the model says", []Ledger{fine}, []agent.Finding{{Rule: "L3", Severity: Stop, Message: "circles"}}, half, End, false, Standing{0.5, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, after := Weigh(test.ledgers, test.found, test.before, Defaults())
			if d.Verdict != test.want || d.Confirm != test.confirm || after != test.after || d.Reason == "" {
				t.Errorf("%+v, %+v; want %s, confirm %v, %+v", d, after, test.want, test.confirm, test.after)
			}
			if len(test.found) > 0 && test.found[0].Message != "" && d.Reason != test.found[0].Message {
				t.Errorf("the reason is %q, want the finding's own words: people read it", d.Reason)
			}
		})
	}
}

func TestPrecedents(t *testing.T) {
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	failed := func(run agent.RunID, days int, goal string, reasons ...string) Episode {
		e := Episode{Episode: agent.Episode{Run: run, State: agent.RunFailed, Ended: day.AddDate(0, 0, days)}, Goal: goal}
		for _, r := range reasons {
			e.Failures = append(e.Failures, agent.Failure{What: "Count lines", Reason: r, Events: []uint64{uint64(days)}})
		}
		return e
	}
	done := failed("r9", 9, "Count the lines", "L3: loop")
	done.State = agent.RunDone
	past := []Episode{
		failed("r4", 4, "count  the lines.", "no such file, took 8ms"),
		failed("r1", 1, "Count the lines", "no such file, took 3ms"),
		failed("r2", 2, "Count the lines", "no permission"),
		failed("r3", 3, "Count the words", "no permission"),
		done,
	}
	got := Precedents("Count the lines", past)
	if len(got) != 2 || !slices.Equal(got[0].Runs, []agent.RunID{"r1", "r4"}) || got[0].Events[0] != 4 || !slices.Equal(got[1].Runs, []agent.RunID{"r2"}) {
		t.Fatalf("%+v", got)
	}
	f := Precedes(got[0])
	if f.Rule != "L12" || f.Severity != Info || !strings.Contains(f.Message, "2 earlier runs (r1, r4): “Count lines”: no such file") {
		t.Errorf("%+v", f)
	}
	if none := Precedents("Another goal", past); len(none) != 0 {
		t.Errorf("%+v", none)
	}
}

func TestRemember(t *testing.T) {
	var b book
	b.add(agent.Main, agent.RunStarted{Goal: "Count"})
	b.add(agent.Main, agent.PlanAccepted{Plan: planOf("Walk", "Chart")})
	b.add("task/t0", agent.Finding{Rule: "L3", Severity: Stop, Strand: "task/t0", Events: []uint64{5}, Message: "a loop"})
	b.add("task/t0", agent.Finding{Rule: "L1", Severity: Nudge, Strand: "task/t0"})
	b.add("task/t1", agent.TaskEnded{Task: "t1", State: agent.TaskFailed, Reason: "no data"})
	b.add(agent.Main, agent.Reported{Lessons: agent.Texts{"look first"}})
	b.add(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "t1 failed"})
	e := Remember(b.events)
	want := []string{"Walk/L3: a loop", "Chart/no data", "/t1 failed"}
	var got []string
	for _, f := range e.Failures {
		got = append(got, f.What+"/"+f.Reason)
	}
	if e.Run != "r1" || e.Goal != "Count" || e.State != agent.RunFailed || e.Ended.IsZero() || !slices.Equal(got, want) || !slices.Equal(e.Lessons, []string{"look first"}) {
		t.Errorf("%+v, want the failures %q", e, want)
	}
}

func TestAdvice(t *testing.T) {
	found := Examine(script(t, task, "A=1 A=1 A=1 A=1"), Defaults())
	for _, f := range found {
		if note := Note(f, func(text string) string { return text }); !strings.Contains(note, f.Rule+": "+f.Message) || strings.Count(note, "\n") != 1 {
			t.Errorf("note %q", note)
		}
	}
	if got := Numbers([]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}); got != "1, 2, 3, 4, 5, 6, 7 … 9 (9)" {
		t.Errorf("numbers %q", got)
	}
}
