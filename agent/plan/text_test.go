package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestText(t *testing.T) {
	p := sound()
	p.Tasks = append(p.Tasks, work("t3", 1, 1), work("t4", 1, 1, "t2", "t3"), work("t5", 1, 1, "t1"), work("t6", 1, 1, "t6"))
	p.Tasks[2].Title = "Two\nlines\x1b[31m and \u202eback"
	got := plan.Text(p, states{
		"t1": agent.TaskDone, "t2": agent.TaskRunning, "t3": agent.TaskFailed, "t4": agent.TaskSkipped, "t5": agent.TaskPending, "t6": "odd",
	})
	want := `✓ t1 Count lines by package
├─ ▶ t2 Draw the bar chart
│  └─ – t4 Do the thing called t4 (also needs t3)
└─ ○ t5 Do the thing called t5
✗ t3 Two lines[31m and back
? t6 Do the thing called t6 (needs t6)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextIsBounded(t *testing.T) {
	p := agent.Plan{}
	for i := range 3000 {
		task := item(num(i))
		if i > 0 {
			task.DependsOn = []agent.TaskID{num(i - 1)}
		}
		task.Title = strings.Repeat("long ", 1000)
		p.Tasks = append(p.Tasks, task)
	}
	got := plan.Text(p, nil)
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != 61 || lines[60] != "… and 2940 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	for _, l := range lines {
		if n := len([]rune(l)); n > 200 {
			t.Errorf("a line of %d characters", n)
		}
	}
	if plan.Text(agent.Plan{}, nil) != "" {
		t.Error("an empty plan has no lines")
	}
}
