package runs

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func TestReadWords(t *testing.T) {
	for _, tt := range []struct {
		question agent.CheckpointOpened
		lines    string // separated by |
		want     string // empty: not an answer
	}{
		{bottest.Approval, "y|Y|yes|ok|approve|Approve|1| y ", agent.DecideApprove},
		{bottest.Approval, "n|no|deny|2", agent.DecideDeny},
		{bottest.Approval, "always|a|Always in this run|4", agent.DecideAlways},
		{bottest.Approval, "e|edit|3", agent.DecideEdit},
		{bottest.Approval, "0|5|-1|maybe|cancel|yes please||+25 %|expired", ""},
		{bottest.Planned, "y|approve|1", agent.DecideApprove},
		{bottest.Planned, "n|deny|3", agent.DecideDeny},
		{bottest.Planned, "cancel|4|CANCEL", agent.DecideCancel},
		{bottest.Planned, "always|a", ""},
		{bottest.Mended, "try again|2", agent.DecideRetry},
		{bottest.Mended, "n|deny", agent.DecideDeny},
		{bottest.Mended, "y|approve", ""},
		{bottest.Budget, "+25 %|1", agent.DecideMore25},
		{bottest.Budget, "+100 %|2", agent.DecideMore100},
		{bottest.Budget, "finish with what you have|Finish with what you have|3", agent.DecideFinish},
		{bottest.Budget, "n|no|deny|cancel|4", agent.DecideCancel},
		{bottest.Budget, "y|approve|+5000 %", ""},
		{bottest.Stuck, "try again|1", agent.DecideRetry},
		{bottest.Stuck, "n|cancel|3", agent.DecideCancel},
		{bottest.Stuck, "y|approve|", ""},
		{bottest.Uncertain, "done|1", agent.DecideDone},
		{bottest.Uncertain, "repeat|2", agent.DecideRepeat},
		{bottest.Uncertain, "skip|3", agent.DecideSkip},
		{bottest.Uncertain, "y|n|deny|approve|expired", ""},
		{bottest.Clarify, "red|Red|1", "Red"},
		{bottest.Clarify, "decide for me|4", agent.DecideForMe},
		{bottest.Clarify, "cancel|5", agent.DecideCancel},
	} {
		for line := range strings.SplitSeq(tt.lines, "|") {
			d, err := ReadDecision(bottest.Asked(tt.question), line, "slack:U1")
			switch {
			case tt.want == "":
				if !errors.Is(err, bot.ErrNotAnAnswer) {
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
		d, err := ReadDecision(bottest.Asked(bottest.Clarify), line, "slack:U1")
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
		{"by id", `{"checkpoint":"` + string(bottest.Planned.ID) + `","decision":"approve"}`,
			agent.CheckpointDecided{ID: bottest.Planned.ID, Decision: agent.DecideApprove}},
		{"the oldest without an id", `{"decision":"deny","text":"not now"}`,
			agent.CheckpointDecided{ID: bottest.Approval.ID, Decision: agent.DecideDeny, Text: "not now"}},
		{"a number", `{"decision":"2"}`, agent.CheckpointDecided{ID: bottest.Approval.ID, Decision: agent.DecideDeny}},
		{"edit", `{"decision":"edit","arguments":{"path":"<b>"}}`,
			agent.CheckpointDecided{ID: bottest.Approval.ID, Decision: agent.DecideEdit, Arguments: json.RawMessage(`{"path":"<b>"}`)}},
		{"edit of a plan", `{"checkpoint":"` + string(bottest.Planned.ID) + `","decision":"edit","plan":{"name":"other"}}`,
			agent.CheckpointDecided{ID: bottest.Planned.ID, Decision: agent.DecideEdit, Plan: &edited}},
		{"answers alone", `{"checkpoint":"` + string(bottest.Clarify.ID) + `","answers":{"q1":"Red"}}`,
			agent.CheckpointDecided{ID: bottest.Clarify.ID, Decision: agent.DecideAnswer, Answers: map[string]string{"q1": "Red"}}},
		{"text alone", `{"checkpoint":"` + string(bottest.Clarify.ID) + `","text":"green"}`,
			agent.CheckpointDecided{ID: bottest.Clarify.ID, Decision: agent.DecideAnswer, Text: "green"}},
		{"a choice's word", `{"checkpoint":"` + string(bottest.Clarify.ID) + `","decision":"blue"}`,
			agent.CheckpointDecided{ID: bottest.Clarify.ID, Decision: "Blue"}},
		{"a word that is no choice", `{"checkpoint":"` + string(bottest.Clarify.ID) + `","decision":"green"}`,
			agent.CheckpointDecided{ID: bottest.Clarify.ID, Decision: agent.DecideAnswer, Text: "green"}},
		{"edit with arguments that are no object", `{"decision":"edit","arguments":null}`, agent.CheckpointDecided{}},
		{"edit with a list as arguments", `{"decision":"edit","arguments":[1]}`, agent.CheckpointDecided{}},
		{"fields of later versions", `{"decision":"approve","mood":"good"}`,
			agent.CheckpointDecided{ID: bottest.Approval.ID, Decision: agent.DecideApprove}},
		{"edit without arguments", `{"decision":"edit"}`, agent.CheckpointDecided{}},
		{"edit of a plan without a plan", `{"checkpoint":"` + string(bottest.Planned.ID) + `","decision":"edit","arguments":{}}`, agent.CheckpointDecided{}},
		{"text alone on an approval", `{"text":"why?"}`, agent.CheckpointDecided{}},
		{"nothing", `{}`, agent.CheckpointDecided{}},
		{"another word", `{"decision":"perhaps"}`, agent.CheckpointDecided{}},
		{"unknown checkpoint", `{"checkpoint":"x-y","decision":"approve"}`, agent.CheckpointDecided{}},
		{"broken", `{"decision":`, agent.CheckpointDecided{}},
		{"two objects", `{"decision":"approve"}{}`, agent.CheckpointDecided{}},
		{"another type", `{"decision":1}`, agent.CheckpointDecided{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ReadDecision(bottest.Asked(bottest.Approval, bottest.Planned, bottest.Clarify), tt.line, "slack:U1")
			if tt.want.ID == "" {
				if !errors.Is(err, bot.ErrNotAnAnswer) {
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
		if d, err := ReadDecision(bottest.Asked(), line, "slack:U1"); !errors.Is(err, bot.ErrNotAnAnswer) {
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
	questions := []agent.CheckpointOpened{bottest.Approval, bottest.Planned, bottest.Mended, bottest.Clarify, bottest.Budget, bottest.Stuck, bottest.Uncertain}
	f.Fuzz(func(t *testing.T, line string, i int) {
		q := questions[uint(i)%uint(len(questions))]
		d, err := ReadDecision(bottest.Asked(q), line, "slack:U1")
		switch {
		case err != nil && !errors.Is(err, bot.ErrNotAnAnswer):
			t.Fatalf("error of no kind: %v", err)
		case err == nil && (d.By != "slack:U1" || d.ID != q.ID || d.Decision == ""):
			t.Fatalf("%q was read as %+v", line, d)
		}
	})
}
