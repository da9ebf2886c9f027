package bot

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const run = "abcdefghijklmnop"

// asked is a run in which the questions are open, in this order.
func asked(questions ...agent.CheckpointOpened) agent.Run {
	r := agent.Run{}.Apply(agent.Event{Run: run, Strand: agent.Main, Seq: 1, At: noon,
		Body: agent.RunStarted{Goal: "count the lines", Requester: "slack:U1"}})
	for _, q := range questions {
		r = r.Apply(agent.Event{Run: run, Strand: agent.Main, Seq: r.Seq + 1, At: noon, Body: q})
	}
	return r
}

// The questions as the loop asks them.
var (
	approval = agent.CheckpointOpened{ID: run + "-approval", Ask: agent.CheckApproval, Title: "May I?",
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways}}
	planned = agent.CheckpointOpened{ID: run + "-planned", Ask: agent.CheckPlan, Title: "May I work by this plan?",
		Choices: []string{agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel}}
	mended = agent.CheckpointOpened{ID: run + "-mended", Ask: agent.CheckPlan, Title: "The plan is still broken",
		Choices: []string{agent.DecideEdit, agent.DecideRetry, agent.DecideCancel}}
	clarify = agent.CheckpointOpened{ID: run + "-clarify", Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{{ID: "q1", Question: "Which colour?"}},
		Choices:   []string{"Red", "Blue", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}
	budget = agent.CheckpointOpened{ID: run + "-budget", Ask: agent.CheckBudget, Title: "The budget is used up",
		Choices: []string{agent.DecideMore25, agent.DecideMore100, agent.DecideFinish, agent.DecideCancel}}
	stuck = agent.CheckpointOpened{ID: run + "-stuck", Ask: agent.CheckStuck, Title: "I am stuck",
		Choices: []string{agent.DecideRetry, agent.DecideFinish, agent.DecideCancel}}
	uncertain = agent.CheckpointOpened{ID: run + "-uncertain", Ask: agent.CheckUncertain, Title: "It may have run",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip}}
)

func TestReadWords(t *testing.T) {
	for _, tt := range []struct {
		question agent.CheckpointOpened
		lines    string // separated by |
		want     string // empty: not an answer
	}{
		{approval, "y|Y|yes|ok|approve|Approve|1| y ", agent.DecideApprove},
		{approval, "n|no|deny|2", agent.DecideDeny},
		{approval, "always|a|Always in this run|4", agent.DecideAlways},
		{approval, "e|edit|3", agent.DecideEdit},
		{approval, "0|5|-1|maybe|cancel|yes please||+25 %|expired", ""},
		{planned, "y|approve|1", agent.DecideApprove},
		{planned, "n|deny|3", agent.DecideDeny},
		{planned, "cancel|4|CANCEL", agent.DecideCancel},
		{planned, "always|a", ""},
		{mended, "try again|2", agent.DecideRetry},
		{mended, "n|deny", agent.DecideDeny},
		{mended, "y|approve", ""},
		{budget, "+25 %|1", agent.DecideMore25},
		{budget, "+100 %|2", agent.DecideMore100},
		{budget, "finish with what you have|Finish with what you have|3", agent.DecideFinish},
		{budget, "n|no|deny|cancel|4", agent.DecideCancel},
		{budget, "y|approve|+50 %", ""},
		{stuck, "try again|1", agent.DecideRetry},
		{stuck, "n|cancel|3", agent.DecideCancel},
		{stuck, "y|approve|", ""},
		{uncertain, "done|1", agent.DecideDone},
		{uncertain, "repeat|2", agent.DecideRepeat},
		{uncertain, "skip|3", agent.DecideSkip},
		{uncertain, "y|n|deny|approve|expired", ""},
		{clarify, "red|Red|1", "Red"},
		{clarify, "decide for me|4", agent.DecideForMe},
		{clarify, "cancel|5", agent.DecideCancel},
	} {
		for line := range strings.SplitSeq(tt.lines, "|") {
			d, err := ReadDecision(asked(tt.question), line, "slack:U1")
			switch {
			case tt.want == "":
				if !errors.Is(err, ErrNotAnAnswer) {
					t.Errorf("%s, %q: read as %q, %v", tt.question.Ask, line, d.Decision, err)
				}
				if err != nil && !strings.Contains(err.Error(), tt.question.Choices[0]) {
					t.Errorf("%s, %q: the error does not say what would be an answer: %v", tt.question.Ask, line, err)
				}
			case err != nil || d.Decision != tt.want || d.ID != tt.question.ID || d.By != "slack:U1":
				t.Errorf("%s, %q: %+v, %v; want %q", tt.question.Ask, line, d, err, tt.want)
			}
		}
	}
}

// Free text answers a clarifying question, whatever it resembles.
func TestReadFreeText(t *testing.T) {
	for _, line := range []string{"green, like grass", "n", "y", "no", "7", "approve", "[1]"} {
		d, err := ReadDecision(asked(clarify), line, "slack:U1")
		if err != nil || d.Decision != agent.DecideAnswer || d.Text != line {
			t.Errorf("%q: %+v, %v; want it as the answer's text", line, d, err)
		}
	}
}

func TestReadJSON(t *testing.T) {
	edited := agent.Plan{Name: "other"}
	for _, tt := range []struct {
		name, line string
		want       agent.CheckpointDecided // zero: not an answer
	}{
		{"by id", `{"checkpoint":"` + string(planned.ID) + `","decision":"approve"}`,
			agent.CheckpointDecided{ID: planned.ID, Decision: agent.DecideApprove}},
		{"the oldest without an id", `{"decision":"deny","text":"not now"}`,
			agent.CheckpointDecided{ID: approval.ID, Decision: agent.DecideDeny, Text: "not now"}},
		{"a number", `{"decision":"2"}`, agent.CheckpointDecided{ID: approval.ID, Decision: agent.DecideDeny}},
		{"edit", `{"decision":"edit","arguments":{"path":"<b>"}}`,
			agent.CheckpointDecided{ID: approval.ID, Decision: agent.DecideEdit, Arguments: json.RawMessage(`{"path":"<b>"}`)}},
		{"edit of a plan", `{"checkpoint":"` + string(planned.ID) + `","decision":"edit","plan":{"name":"other"}}`,
			agent.CheckpointDecided{ID: planned.ID, Decision: agent.DecideEdit, Plan: &edited}},
		{"answers alone", `{"checkpoint":"` + string(clarify.ID) + `","answers":{"q1":"Red"}}`,
			agent.CheckpointDecided{ID: clarify.ID, Decision: agent.DecideAnswer, Answers: map[string]string{"q1": "Red"}}},
		{"text alone", `{"checkpoint":"` + string(clarify.ID) + `","text":"green"}`,
			agent.CheckpointDecided{ID: clarify.ID, Decision: agent.DecideAnswer, Text: "green"}},
		{"a choice's word", `{"checkpoint":"` + string(clarify.ID) + `","decision":"blue"}`,
			agent.CheckpointDecided{ID: clarify.ID, Decision: "Blue"}},
		{"a word that is no choice", `{"checkpoint":"` + string(clarify.ID) + `","decision":"green"}`,
			agent.CheckpointDecided{ID: clarify.ID, Decision: agent.DecideAnswer, Text: "green"}},
		{"edit with arguments that are no object", `{"decision":"edit","arguments":null}`, agent.CheckpointDecided{}},
		{"edit with a list as arguments", `{"decision":"edit","arguments":[1]}`, agent.CheckpointDecided{}},
		{"fields of later versions", `{"decision":"approve","mood":"good"}`,
			agent.CheckpointDecided{ID: approval.ID, Decision: agent.DecideApprove}},
		{"edit without arguments", `{"decision":"edit"}`, agent.CheckpointDecided{}},
		{"edit of a plan without a plan", `{"checkpoint":"` + string(planned.ID) + `","decision":"edit","arguments":{}}`, agent.CheckpointDecided{}},
		{"text alone on an approval", `{"text":"why?"}`, agent.CheckpointDecided{}},
		{"nothing", `{}`, agent.CheckpointDecided{}},
		{"another word", `{"decision":"perhaps"}`, agent.CheckpointDecided{}},
		{"unknown checkpoint", `{"checkpoint":"x-y","decision":"approve"}`, agent.CheckpointDecided{}},
		{"broken", `{"decision":`, agent.CheckpointDecided{}},
		{"two objects", `{"decision":"approve"}{}`, agent.CheckpointDecided{}},
		{"another type", `{"decision":1}`, agent.CheckpointDecided{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ReadDecision(asked(approval, planned, clarify), tt.line, "slack:U1")
			if tt.want.ID == "" {
				if !errors.Is(err, ErrNotAnAnswer) {
					t.Errorf("read as %+v, %v", d, err)
				}
				return
			}
			tt.want.By = "slack:U1"
			if diff := cmp.Diff(tt.want, d); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestReadWithNothingAsked(t *testing.T) {
	for _, line := range []string{"y", `{"decision":"approve"}`, ""} {
		if d, err := ReadDecision(asked(), line, "slack:U1"); !errors.Is(err, ErrNotAnAnswer) {
			t.Errorf("%q: %+v, %v", line, d, err)
		}
	}
}

// Whatever is typed: no panic, and what is read is an answer by the typist.
func FuzzReadDecision(f *testing.F) {
	for _, line := range []string{"y", "2", "always", `{"decision":"edit","plan":{}}`, `{"checkpoint":"x"}`, "{", "+25 %"} {
		for i := range 7 {
			f.Add(line, i)
		}
	}
	questions := []agent.CheckpointOpened{approval, planned, mended, clarify, budget, stuck, uncertain}
	f.Fuzz(func(t *testing.T, line string, i int) {
		q := questions[uint(i)%uint(len(questions))]
		d, err := ReadDecision(asked(q), line, "slack:U1")
		switch {
		case err != nil && !errors.Is(err, ErrNotAnAnswer):
			t.Fatalf("error of no kind: %v", err)
		case err == nil && (d.By != "slack:U1" || d.ID != q.ID || d.Decision == ""):
			t.Fatalf("%q was read as %+v", line, d)
		}
	})
}
