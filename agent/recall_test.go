package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScope(t *testing.T) {
	for to, want := range map[string]string{
		"": "", "slack:T1:C1:17.2": "slack:T1:C1", "slack:T1:C1:": "slack:T1:C1", "slack:T1:C1": "slack:T1:C1",
		"discord:1:2:3:4": "discord:1:2", "slack:T1:D9:17.2": "slack:T1:D9",
	} {
		if got := (RunStarted{ReplyTo: to}).Scope(); got != want {
			t.Errorf("%q is seen by %q, want %q", to, got, want)
		}
	}
}

// Goals that differ in letters, spaces and final punctuation only are the same;
// the same goal in another channel is another one.
func TestGoalPrefix(t *testing.T) {
	here := RunStarted{Goal: "Count the lines", ReplyTo: "slack:T1:C1:1.2"}
	for goal, same := range map[string]bool{
		"count  the\nLINES.": true, "Count the lines!": true, "Count the lines?": true, "Count the words": false, "Count the lines now": false,
	} {
		other := RunStarted{Goal: goal, ReplyTo: "slack:T1:C1:9.9"}
		if got := GoalPrefix(here) == GoalPrefix(other); got != same {
			t.Errorf("%q is the same goal: %v", goal, got)
		}
		for _, away := range []string{"", "slack:T1:C2:1.2", "slack:T2:C1:1.2", "discord:T1:C1:1.2"} {
			if other.ReplyTo = away; GoalPrefix(here) == GoalPrefix(other) {
				t.Errorf("%q in %q is taken for the goal in %q", goal, away, here.ReplyTo)
			}
		}
	}
}

func TestGoalName(t *testing.T) {
	over := RunEnded{State: RunDone}
	planned := PlanAccepted{Plan: Plan{Tasks: []Task{{ID: "a"}}}}
	for name, tt := range map[string]struct {
		run  *journal
		want bool
	}{
		"work that was done": {begin(RunStarted{}).on(Main, planned, Reported{}, over), true},
		"no plan was found":  {begin(RunStarted{}).on(Main, Reported{}, RunEnded{State: RunFailed}), true},
		"a mere answer":      {begin(RunStarted{}).on(Main, Reported{}, over), false},
		"a scheduled report": {begin(RunStarted{Tick: &Tick{Report: true}}).on(Main, Reported{}, over), false},
		"a scheduled goal":   {begin(RunStarted{Tick: &Tick{}}).on(Main, planned, Reported{}, over), true},
		"cancelled at work":  {begin(RunStarted{}).on(Main, planned, Reported{}, RunEnded{State: RunCancelled}), true},
		"cancelled at once":  {begin(RunStarted{}).on(Main, Reported{}, RunEnded{State: RunCancelled}), false},
		"not over":           {begin(RunStarted{}).on(Main, planned, Reported{}), false},
	} {
		got, is := GoalName(tt.run.Run)
		if is != tt.want || is && !strings.HasPrefix(got, GoalPrefix(tt.run.Brief)) {
			t.Errorf("%s: %q, %v", name, got, is)
		}
	}
}

// Names of a goal's runs give back the newest of them, however many there are.
func TestNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(0, 12).Draw(t, "runs"), rapid.IntRange(0, 10).Draw(t, "most")
		names, want := map[string]string{}, []Past{}
		at := noon
		for i := range n {
			at = at.Add(time.Duration(rapid.IntRange(1, 1<<40).Draw(t, "ms")) * time.Millisecond)
			r := Run{ID: RunID(fmt.Sprint("run", rapid.IntRange(0, 9).Draw(t, "id"), i)), Seq: rapid.Uint64().Draw(t, "seq"), Finished: at, Ended: &RunEnded{State: RunFailed}}
			name, _ := GoalName(r)
			names[name] = string(r.ID)
			want = append(want, Past{r.ID, r.Seq})
		}
		want = want[max(0, n-most):]
		if got := Newest(names, most); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if got := Newest(map[string]string{"goal/h/1/x/r": "r", "goal/h/2/7/r": "", "goal/h": "r", "goal/h/3/7/r3": "r3"}, 8); !slices.Equal(got, []Past{{"r3", 7}}) {
		t.Errorf("of names that are none: %v", got)
	}
}

func TestCopies(t *testing.T) {
	long := strings.Repeat("the same words ", 4)
	text := func(s string) json.RawMessage {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	old := Episode{Run: "r0", BodyHash: HashText("1,234 lines"), ValueHashes: []string{HashValue(text(long))}}
	run := func(value json.RawMessage, recalled ...Body) Run {
		return begin(RunStarted{}).on(Main, recalled...).on(Main, PlanAccepted{Plan: Plan{Tasks: []Task{{ID: "a"}, {ID: "b", Deliverable: true}}}},
			TaskEnded{Task: "a", State: TaskDone, Outputs: []Output{{Name: "notes", Value: text(long)}}},
			TaskEnded{Task: "b", State: TaskDone, Outputs: []Output{{Name: "table", Value: value}}}).Run
	}
	known := Recalled{Episodes: []Episode{old}}
	for name, tt := range map[string]struct {
		run  Run
		body string
		want []string
	}{
		"nothing was recalled":         {run(text(long)), "1,234 lines", nil},
		"the text":                     {run(text("new"), known), " 1,234 lines\n", []string{"the report's text is word for word that of the earlier run r0"}},
		"nearly the text":              {run(text("new"), known), "1,235 lines", nil},
		"no text at all":               {run(text("new"), Recalled{Episodes: []Episode{{Run: "r0"}}}), "", nil},
		"a deliverable":                {run(text(long), known), "new", []string{"the value of table is word for word that of the earlier run r0"}},
		"a short value may come again": {run(text("42"), Recalled{Episodes: []Episode{{Run: "r0", ValueHashes: []string{HashValue(text("42"))}}}}), "new", nil},
	} {
		var got []string
		for _, f := range Copies(tt.run, Reported{Body: tt.body}) {
			got = append(got, f.Message)
			if f.Rule != RuleCopy || f.Severity != "info" || f.Strand != Main || f.Events == nil {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
