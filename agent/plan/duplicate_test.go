package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestDuplicates(t *testing.T) {
	const how = "Fetch the newest release notes and summarise them briefly"
	tests := []struct {
		name     string
		edit     func(a, b *agent.Task)
		severity agent.Severity // "": no V13
		merged   bool
	}{
		{"different", func(*agent.Task, *agent.Task) {}, "", false},
		{"same title", func(a, b *agent.Task) {
			b.Title, b.Acceptance = "  do THE thing called a!", a.Acceptance
		}, agent.SeverityError, true},
		{"same title, other work", func(a, b *agent.Task) {
			b.Title, b.Instructions = a.Title, "but quite differently"
		}, agent.SeverityError, false},
		{"same tool and arguments", func(a, b *agent.Task) {
			a.Instructions, b.Instructions, b.Acceptance = how, how, ""
		}, agent.SeverityError, true},
		{"same arguments, other tool", func(a, b *agent.Task) {
			a.Instructions, b.Instructions, b.Tools = how, how, []string{"plot"}
		}, "", false},
		{"short instructions say nothing", func(a, b *agent.Task) {
			a.Instructions, b.Instructions = "Do it.", "Do it."
		}, "", false},
		{"same outputs", func(a, b *agent.Task) {
			a.Outputs = []agent.OutputSpec{{Name: "x"}, {Name: "y"}}
			b.Outputs = []agent.OutputSpec{{Name: "y"}, {Name: "x"}}
			b.Instructions = "in another way"
		}, agent.SeverityError, false},
		{"nearly the same title", func(a, b *agent.Task) {
			a.Title = "Summarise the release notes of the newest database version"
			b.Title = "Summarise the release notes of the newest database version quickly"
		}, agent.SeverityWarning, false},
		{"parts of a series", func(a, b *agent.Task) {
			a.Title = "Summarise chapter 1 of the long book about very big ships"
			b.Title = "Summarise chapter 2 of the long book about very big ships"
		}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b, c := item("a"), item("b"), item("c", "b")
			tt.edit(&a, &b)
			got, found := check(agent.Plan{Tasks: []agent.Task{a, b, c}})
			if tt.severity == "" {
				if strings.Contains(strings.Join(codes(found), " "), "V13") {
					t.Errorf("no duplicate here: %v", found)
				}
			} else if !has(found, "V13", tt.severity, "b") {
				t.Errorf("want V13 (%s) for b, have %v", tt.severity, found)
			}
			_, there := got.Task("b")
			if there == tt.merged {
				t.Errorf("merged is %v, want %v", !there, tt.merged)
			}
			if tt.merged && !cmp.Equal(mustTask(t, got, "c").DependsOn, []agent.TaskID{"a"}) {
				t.Errorf("c should share the result of a, depends on %v", mustTask(t, got, "c").DependsOn)
			}
		})
	}
}

func TestMergedDuplicateLosesNothing(t *testing.T) {
	a, b, c := item("a"), item("b", "c"), item("c")
	b.Title, b.Acceptance, a.Deliverable, b.Value = a.Title, "", false, 9
	a.Outputs = []agent.OutputSpec{{Name: "x"}}
	b.Outputs = []agent.OutputSpec{{Name: "y"}}
	got, found := check(agent.Plan{Tasks: []agent.Task{a, b, c}})
	want := a
	want.DependsOn, want.Deliverable, want.Value = []agent.TaskID{"c"}, true, 9
	want.Outputs = []agent.OutputSpec{{Name: "x"}, {Name: "y"}}
	if diff := cmp.Diff(want, mustTask(t, got, "a")); diff != "" {
		t.Error(diff)
	}
	if !has(found, "V13", agent.SeverityInfo, "a") {
		t.Errorf("the merge was not said: %v", found)
	}
}

func TestDuplicatesAreNotMergedIntoACircle(t *testing.T) {
	a, b, c := item("a"), item("b", "c"), item("c", "a")
	b.Title, b.Acceptance = a.Title, a.Acceptance
	got, found := check(agent.Plan{Tasks: []agent.Task{a, b, c}})
	if diff := cmp.Diff([]agent.TaskID{"a", "b", "c"}, ids(got)); diff != "" {
		t.Error(diff)
	}
	if !has(found, "V13", agent.SeverityError, "b") || has(found, "V4", agent.SeverityError, "a") {
		t.Errorf("want V13 and no V4, have %v", found)
	}
}

func TestFinishedWorkIsNotRepeated(t *testing.T) {
	again := item("again")
	again.Title = "Count lines by package"
	p := sound()
	p.Tasks = append(p.Tasks, again, item("next", "again"))
	got, found := plan.Check(p, plan.Options{Kept: []agent.TaskID{"t1", "t2"}})
	if !has(found, "V13", agent.SeverityError, "again") {
		t.Errorf("want V13 for the repetition, have %v", found)
	}
	p.Tasks[2].Title = "Count words by package"
	if _, found = plan.Check(p, plan.Options{Kept: []agent.TaskID{"t1", "t2"}}); plan.Stops(found) {
		t.Errorf("other work must pass: %v", found)
	}
	if diff := cmp.Diff(sound().Tasks, got.Tasks[:2]); diff != "" {
		t.Errorf("kept tasks changed:\n%s", diff)
	}
}
