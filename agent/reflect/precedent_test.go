package reflect

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/agent"
)

// What people say of a report comes after the end; the newest word of each counts.
func TestRememberFeedback(t *testing.T) {
	var b book
	b.add(agent.Main, agent.RunStarted{Goal: "Count"})
	b.add(agent.Main, agent.Reported{Headline: "counted", Body: " 12 lines\n"})
	b.add(agent.Main, agent.RunEnded{State: agent.RunDone})
	b.add(agent.Main, agent.Feedback{Rating: 1, By: "slack:U1"})
	b.add(agent.Main, agent.Feedback{Rating: -1, Comment: " too long ", By: "slack:U1"})
	b.add(agent.Main, agent.Feedback{Rating: -1, By: "slack:U2"})
	e := Remember(b.events)
	if e.Rating != -2 || e.Comment != "too long" || e.Headline != "counted" || e.BodyHash != agent.HashText("12 lines") || len(e.Failures) != 0 {
		t.Errorf("%+v", e)
	}
}

func TestRememberLessons(t *testing.T) {
	var b book
	b.add(agent.Main, agent.RunStarted{Goal: "Count"})
	b.add("task/t0", agent.CheckInMade{Ledger: &agent.Ledger{Lesson: "first"}})
	b.add("task/t0", agent.CheckInMade{Missed: "nobody answered"})
	b.add("task/t0", agent.CheckInMade{Ledger: &agent.Ledger{}})
	b.add("task/t0", agent.CheckInMade{Ledger: &agent.Ledger{Lesson: "second"}})
	b.add(agent.Main, agent.Reported{Lessons: agent.Texts{"on the whole"}})
	b.add(agent.Main, agent.RunEnded{State: agent.RunDone})
	if e := Remember(b.events); !slices.Equal(e.Lessons, []string{"on the whole", "second", "first"}) {
		t.Errorf("lessons %q", e.Lessons)
	}
}

// A run fails because a task did: that is one failure. The newest part of a
// journal does without titles.
func TestRememberFailsOnce(t *testing.T) {
	var b book
	b.add(agent.Main, agent.RunStarted{Goal: "Count"})
	b.add(agent.Main, agent.PlanAccepted{Plan: planOf("Walk", "Chart")})
	whole := len(b.events)
	b.add("task/t1", agent.TaskEnded{Task: "t1", State: agent.TaskFailed, Reason: "no data"})
	b.add(agent.Main, agent.RunEnded{State: agent.RunFailed, Reason: "not delivered: Chart (no data)"})
	for want, events := range map[string][]agent.Event{"Chart": b.events, "t1": b.events[whole:]} {
		e := Remember(events)
		if len(e.Failures) != 1 || e.Failures[0].What != want || e.Run != "r1" {
			t.Errorf("failures %+v of %q, want one of %s", e.Failures, e.Run, want)
		}
	}
}

func TestPrecedentOfOneRun(t *testing.T) {
	f := Precedes(agent.Precedent{Failure: agent.Failure{Reason: "no disk"}, Runs: []agent.RunID{"r1"}})
	if f.Message != "this goal failed in an earlier run (r1): the run: no disk" {
		t.Errorf("%q", f.Message)
	}
}

// Whatever earlier runs wrote, what a run keeps of them is an event of bounded
// size, in the order of their ends.
func TestRecallIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(what string) string {
			return strings.Repeat(rapid.String().Draw(t, what)+"ab ", rapid.IntRange(0, 500).Draw(t, "times"))
		}
		past := make([]Episode, rapid.IntRange(0, 8).Draw(t, "runs"))
		for i := range past {
			past[i] = Episode{Goal: "g", Episode: agent.Episode{Run: agent.RunID(strconv.Itoa(i)), State: agent.RunFailed, Headline: text("headline"), Comment: text("comment"),
				Ended: time.Unix(int64(rapid.IntRange(0, 100).Draw(t, "ended")), 0)}}
			for n := range rapid.IntRange(0, 9).Draw(t, "many") {
				past[i].Lessons = append(past[i].Lessons, text("lesson"))
				past[i].Failures = append(past[i].Failures, agent.Failure{What: text("what"), Reason: strconv.Itoa(n) + text("reason"), Events: make([]uint64, 100)})
			}
		}
		r := Recall("g", past)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Episodes) != len(past) || len(r.Precedents) > maxRunsOf || !slices.IsSortedFunc(r.Episodes, func(a, b agent.Episode) int { return a.Ended.Compare(b.Ended) }) {
			t.Fatalf("%d of %d episodes, %d precedents", len(r.Episodes), len(past), len(r.Precedents))
		}
		for _, e := range r.Episodes {
			if len(e.Lessons) > maxLessons || len(e.Failures) > maxFailures {
				t.Fatalf("%d lessons and %d failures", len(e.Lessons), len(e.Failures))
			}
		}
		if most := 128 << 10; len(data) > most {
			t.Fatalf("%d bytes", len(data))
		}
	})
}
