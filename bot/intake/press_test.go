package intake

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func pressing(act bot.ButtonAct, id any, word string) bot.Pressed {
	return bot.Pressed{Button: bot.Button{Act: act, ID: fmt.Sprint(id), Word: word}}
}

// decision is the decision of a question, as it stands in the fold.
func (s *room) decision(id agent.CheckpointID) agent.CheckpointDecided {
	s.Helper()
	c := s.fold(id.Run()).Checks[id]
	if c.Decision == nil {
		s.Fatalf("%s is open", id)
	}
	return *c.Decision
}

func TestClicks(t *testing.T) {
	for _, tt := range []struct {
		question agent.CheckpointOpened
		by       bot.Person
		word     string
		want     string // decision, "form ID", or part of the private answer
	}{
		{bottest.Approval, bottest.Approver, "approve", agent.DecideApprove},
		{bottest.Approval, bottest.Approver, "4", agent.DecideAlways},
		{bottest.Approval, bottest.Approver, "deny", "form deny"},
		{bottest.Approval, bottest.Approver, "edit", "form edit"},
		{bottest.Approval, bottest.Approver, "other", "That is no answer"},
		{bottest.Approval, bottest.Requester, "approve", "Only \ue000slack:U5\ue001 can decide this."},
		{bottest.Approval, bottest.Requester, "deny", "Only \ue000slack:U5\ue001 can decide this."},
		{bottest.Approval, bottest.Guest, "approve", "Only \ue000slack:U5\ue001 can decide this."},
		{bottest.Planned, bottest.Approver, "cancel", agent.DecideCancel},
		{bottest.Planned, bottest.Approver, "deny", "form deny"},
		{bottest.Clarify, bottest.Requester, "1", "Red"},
		{bottest.Clarify, bottest.Requester, "other", "form answer"},
		{bottest.Clarify, bottest.Requester, agent.DecideForMe, agent.DecideForMe},
		{bottest.Clarify, bottest.Requester, "7", "That is no answer"},
		{bottest.Budget, bottest.Operator, "+25 %", agent.DecideMore25},
		{bottest.Budget, bottest.Requester, "+25 %", "can decide this."},
		{bottest.Stuck, bottest.Requester, agent.DecideFinish, agent.DecideFinish},
		{bottest.Uncertain, bottest.Approver, "repeat", agent.DecideRepeat},
		{bottest.Approval, bottest.Approver, "expired", "That is no answer"},
	} {
		t.Run(fmt.Sprint(tt.question.Ask, " ", tt.by.ID, " ", tt.word), func(t *testing.T) {
			s := opened(t)
			q := tt.question
			q.Arguments = json.RawMessage(`{"path":"a"}`)
			q.Plan = &agent.Plan{Name: "p"}
			if q.Ask == agent.CheckClarify {
				q.Questions = []agent.Question{{ID: "q1", Question: "Which colour?", Choices: []string{"Red", "Blue"}}}
			}
			run, checks := s.live(q)
			a := s.hear(tt.by, pressing(bot.ActDecide, checks[0], tt.word))
			c := s.fold(run).Checks[checks[0]]
			switch form, is := strings.CutPrefix(tt.want, "form "); {
			case is:
				if a.Form == nil || a.Form.ID != form+" "+string(checks[0]) || !c.Open() || len([]rune(a.Form.Title)) > 24 {
					t.Errorf("answer %+v", a)
				}
			case !c.Open():
				if c.Decision.Decision != tt.want || c.Decision.By != tt.by.ID || a != (bot.Answer{Run: run}) {
					t.Errorf("decided %+v, answer %+v", c.Decision, a)
				}
			case !strings.Contains(a.Private, tt.want):
				t.Errorf("answer %+v, want %s", a, tt.want)
			}
		})
	}
}

func TestLateClicks(t *testing.T) {
	s := opened(t)
	run, checks := s.live(bottest.Approval, bottest.Planned)
	s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "approve"))
	if a := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "deny")); !strings.Contains(bottest.Named(a.Private), "You approved this already · 2 Mar 12:00 UTC") {
		t.Errorf("a second click is told %q", a.Private)
	}
	s.Happen(t, run, "task/a", agent.CheckpointDecided{ID: checks[1], Decision: agent.DecideExpired, By: agent.DecideExpired})
	if a := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[1], "approve")); !strings.Contains(a.Private, "Nobody decided this in time") {
		t.Errorf("a click after the expiry is told %q", a.Private)
	}
	for _, id := range []string{"", "-", "nosuchrun-1", string(run) + "-9", "x\x00y"} {
		if a := s.hear(bottest.Approver, pressing(bot.ActDecide, id, "approve")); !strings.Contains(a.Private, "do not know") {
			t.Errorf("%q: %+v", id, a)
		}
	}
	for _, b := range []bot.Button{{}, {Act: "dance", ID: string(run)}, {Act: bot.ActControl, ID: string(run), Word: "leave"}, {Act: bot.ActRate, ID: string(run), Word: "+2"}, {Act: bot.ActShow, ID: string(run), Word: "?"}} {
		if a := s.hear(bottest.Requester, bot.Pressed{Button: b}); a.Private == "" || a.Form != nil {
			t.Errorf("%+v: %+v", b, a)
		}
	}
	s.Happen(t, run, agent.Main, agent.CheckpointOpened{ID: agent.CheckpointID(string(run) + "-8"), Ask: agent.CheckApproval})
	s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunCancelled})
	if a := s.hear(bottest.Approver, pressing(bot.ActDecide, string(run)+"-8", "approve")); !strings.Contains(a.Private, "has ended") {
		t.Errorf("after the end: %+v", a)
	}
}

// Twelve people press at once: one decision, and everybody else is told.
func TestRacingClicks(t *testing.T) {
	s := opened(t)
	run, checks := s.live(bottest.Approval)
	answers := make([]bot.Answer, 12)
	events := make([]bot.Inbound, len(answers))
	for i := range events {
		events[i] = s.event(bottest.Approver, pressing(bot.ActDecide, checks[0], []string{"approve", "always"}[i%2]))
	}
	var all sync.WaitGroup
	for i := range events {
		all.Go(func() { answers[i], _ = s.chat.Receive(t.Context(), events[i]) })
	}
	all.Wait()
	won := 0
	for _, a := range answers {
		switch {
		case a == (bot.Answer{Run: run}):
			won++
		case !strings.Contains(a.Private, "You approved this already"):
			t.Errorf("answer %+v", a)
		}
	}
	if won != 1 {
		t.Errorf("%d clicks won", won)
	}
}

func TestDenyForm(t *testing.T) {
	s := opened(t)
	_, checks := s.live(bottest.Approval)
	form := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "deny")).Form
	if a := s.hear(bottest.Stranger, bot.Filled{Form: form.ID, Values: map[string]string{"reason": "no"}}); !strings.Contains(a.Private, "can decide this.") {
		t.Errorf("somebody else sends the form: %+v", a)
	}
	s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: map[string]string{"reason": " too risky\n"}})
	if d := s.decision(checks[0]); d.Decision != agent.DecideDeny || d.Text != "too risky" || d.By != bottest.Approver.ID {
		t.Errorf("decided %+v", d)
	}
}

// Edited arguments keep their types; what was not touched stays as it was.
func TestEditForm(t *testing.T) {
	args := json.RawMessage(`{"count":3,"deep":{"a":[1]},"force":false,"path":"<b>&.txt","text":"one\ntwo"}`)
	for _, tt := range []struct {
		name   string
		change map[string]string // by label
		want   string            // arguments, or part of the private answer
	}{
		{"text", map[string]string{"path": "c.txt"}, `{"count":3,"deep":{"a":[1]},"force":false,"path":"c.txt","text":"one\ntwo"}`},
		{"what looks like a number stays text", map[string]string{"path": "3"}, `{"count":3,"deep":{"a":[1]},"force":false,"path":"3","text":"one\ntwo"}`},
		{"number", map[string]string{"count": " 4.5 "}, `{"count":4.5,"deep":{"a":[1]},"force":false,"path":"<b>&.txt","text":"one\ntwo"}`},
		{"a huge number", map[string]string{"count": "12345678901234567890"}, `{"count":12345678901234567890,"deep":{"a":[1]},"force":false,"path":"<b>&.txt","text":"one\ntwo"}`},
		{"bool", map[string]string{"force": "true"}, `{"count":3,"deep":{"a":[1]},"force":true,"path":"<b>&.txt","text":"one\ntwo"}`},
		{"object", map[string]string{"deep": `{"a":[]}`}, `{"count":3,"deep":{"a":[]},"force":false,"path":"<b>&.txt","text":"one\ntwo"}`},
		{"empty text", map[string]string{"path": ""}, `{"count":3,"deep":{"a":[1]},"force":false,"path":"","text":"one\ntwo"}`},
		{"other ends of lines are no change", map[string]string{"text": "one\r\ntwo"}, "Nothing was changed"},
		{"nothing", nil, "Nothing was changed"},
		{"no number", map[string]string{"count": "three"}, "“count” must be a number"},
		{"a bool that is text", map[string]string{"force": `"true"`}, "“force” must be true or false"},
		{"a list for an object", map[string]string{"deep": "[]"}, "“deep” must stay a list or an object"},
		{"broken", map[string]string{"deep": "{"}, "“deep” must be JSON of the same shape"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t)
			q := bottest.Approval
			q.Tool, q.Arguments = "write_file", args
			_, checks := s.live(q)
			form := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "edit")).Form
			values := map[string]string{}
			for _, f := range form.Fields {
				values[f.ID] = f.Value
				if text, is := tt.change[f.Label]; is {
					values[f.ID] = text
				}
			}
			a := s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: values})
			if a.Private != "" {
				if !strings.Contains(a.Private, tt.want) {
					t.Errorf("the person is told %q", a.Private)
				}
				return
			}
			if d := s.decision(checks[0]); d.Decision != agent.DecideEdit || string(d.Arguments) != tt.want {
				t.Errorf("decided %s with %s", d.Decision, d.Arguments)
			}
		})
	}
}

// More arguments than a form has fields, and a plan, are edited as JSON; what
// is longer than a field is not cut.
func TestEditAsJSON(t *testing.T) {
	many := json.RawMessage(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`)
	long := json.RawMessage(`{"text":"` + strings.Repeat("x", 2901) + `"}`)
	s := opened(t)
	q, l, p := bottest.Approval, bottest.Approval, bottest.Planned
	q.Arguments, l.Arguments = many, long
	p.Plan = &agent.Plan{Name: "p", Tasks: []agent.Task{{ID: "a", Title: "A"}}}
	_, checks := s.live(q, l, p)
	form := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "edit")).Form
	if len(form.Fields) != 1 || form.Fields[0].Value != string(many) {
		t.Fatalf("form %+v", form)
	}
	if a := s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: map[string]string{"json": "[1]"}}); !strings.Contains(a.Private, "no JSON object") {
		t.Errorf("a list: %+v", a)
	}
	s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: map[string]string{"json": ` {"a":2}`}})
	if d := s.decision(checks[0]); string(d.Arguments) != `{"a":2}` {
		t.Errorf("arguments %s", d.Arguments)
	}
	if a := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[1], "edit")); a.Form != nil || !strings.Contains(a.Private, "too long") {
		t.Errorf("a long one: %+v", a)
	}
	form = s.hear(bottest.Approver, pressing(bot.ActDecide, checks[2], "edit")).Form
	if a := s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: map[string]string{"json": "{"}}); !strings.Contains(a.Private, "no plan") {
		t.Errorf("a broken plan: %+v", a)
	}
	s.hear(bottest.Approver, bot.Filled{Form: form.ID, Values: map[string]string{"json": strings.Replace(form.Fields[0].Value, `"A"`, `"B"`, 1)}})
	if d := s.decision(checks[2]); d.Plan == nil || d.Plan.Tasks[0].Title != "B" {
		t.Errorf("decided %+v", d)
	}
}

var twoPoints = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question", Questions: []agent.Question{
	{ID: "q1", Question: "Which colour?", Choices: []string{"Red", "Blue"}}, {ID: "size\x00", Question: "Which size?", Choices: []string{"S", "L"}}},
	Choices: []string{agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}

// The answers to several questions are kept until all are there, over restarts.
func TestSeveralQuestions(t *testing.T) {
	s := opened(t)
	run, checks := s.live(twoPoints)
	before := len(s.Journals[run])
	a := s.hear(bottest.Requester, pressing(bot.ActDecide, checks[0], "q1=1"))
	if !strings.Contains(a.Private, "Red") || !strings.Contains(a.Private, "1 more question") || len(s.Journals[run]) != before {
		t.Errorf("the first answer: %+v", a)
	}
	s.hear(bottest.Requester, pressing(bot.ActDecide, checks[0], "q1=2")) // another mind
	s.chat = New(s.chat.cfg)
	last := s.event(bottest.Requester, pressing(bot.ActDecide, checks[0], "size\x00=2"))
	if a := s.hears(last); a != (bot.Answer{Run: run}) {
		t.Errorf("the last answer: %+v", a)
	}
	want := map[string]string{"q1": "Blue", "size\x00": "L"}
	if d := s.decision(checks[0]); d.Decision != agent.DecideAnswer || cmp.Diff(want, d.Answers) != "" {
		t.Errorf("decided %+v", d)
	}
	for name := range s.Names {
		if strings.HasPrefix(name, "answers/") {
			t.Errorf("%s is left over", name)
		}
	}
	if a := s.hears(last); a != (bot.Answer{}) {
		t.Errorf("the last answer again: %+v", a)
	}
}

// Clicks at once on different questions are both kept.
func TestSeveralQuestionsAtOnce(t *testing.T) {
	s := opened(t)
	_, checks := s.live(twoPoints)
	var all sync.WaitGroup
	for _, word := range []string{"q1=1", "size\x00=1"} {
		in := s.event(bottest.Requester, pressing(bot.ActDecide, checks[0], word))
		all.Go(func() {
			if _, err := s.chat.Receive(t.Context(), in); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if d := s.decision(checks[0]); len(d.Answers) != 2 {
		t.Errorf("decided %+v", d)
	}
}

func TestAnswerForm(t *testing.T) {
	s := opened(t)
	_, checks := s.live(twoPoints, twoPoints, bottest.Clarify)
	s.hear(bottest.Requester, pressing(bot.ActDecide, checks[0], "q1=1"))
	form := s.hear(bottest.Requester, pressing(bot.ActDecide, checks[0], "other")).Form
	if len(form.Fields) != 2 || form.Fields[0].ID != "q1" || form.Fields[1].Value != "Red" {
		t.Fatalf("form %+v", form)
	}
	if a := s.hear(bottest.Requester, bot.Filled{Form: "answer " + string(checks[1]), Values: map[string]string{"q0": " "}}); !strings.Contains(a.Private, "no answer yet") {
		t.Errorf("an empty form: %+v", a)
	}
	s.hear(bottest.Requester, bot.Filled{Form: form.ID, Values: map[string]string{"q1": "XL"}})
	if diff := cmp.Diff(map[string]string{"q1": "Red", "size\x00": "XL"}, s.decision(checks[0]).Answers); diff != "" {
		t.Error(diff)
	}
	s.hear(bottest.Requester, pressing(bot.ActDecide, checks[1], "q1=2"))
	if a := s.hear(bottest.Requester, say("as you like")); !strings.Contains(a.Private, "more than one thing") || !s.fold(checks[1].Run()).Checks[checks[1]].Open() {
		t.Errorf("free text under two questions: %+v", a)
	}
	s.hear(bottest.Requester, pressing(bot.ActDecide, checks[2], agent.DecideForMe))
	s.hear(bottest.Requester, say("as you like"))
	if d := s.decision(checks[1]); d.Text != "as you like" || d.Answers["q1"] != "Blue" {
		t.Errorf("free text after a click: %+v", d)
	}
}

func TestQuorum(t *testing.T) {
	second, third := bot.Person{ID: "slack:U10", Full: true}, bot.Person{ID: "slack:U11", Full: true}
	s := opened(t, func(c *Config) {
		c.Runs.Authority = authority.Authority{Approvers: []string{bottest.Approver.ID, second.ID, third.ID}, Quorum: 3}
	})
	run, checks := s.live(bottest.Approval, bottest.Approval, bottest.Planned, bottest.Uncertain)
	if a := s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "always")); !strings.Contains(a.Private, "2 more approvals") {
		t.Errorf("the first vote: %+v", a)
	}
	again := s.event(bottest.Approver, pressing(bot.ActDecide, checks[0], "approve"))
	if a := s.hears(again); !strings.Contains(a.Private, "already; 2 more approvals") || len(s.fold(run).Checks[checks[0]].Votes) != 1 {
		t.Errorf("the same person: %+v", a)
	}
	s.hear(second, pressing(bot.ActDecide, checks[0], "always"))
	if a := s.hear(third, say("approve")); len(a.Buttons.List) != 3 {
		t.Errorf("a word under three questions that take it: %+v", a)
	}
	s.hear(third, bot.Commanded{Text: "approve " + string(checks[0])})
	if d := s.decision(checks[0]); d.Decision != agent.DecideApprove || d.By != third.ID {
		t.Errorf("votes that differ: %+v", d)
	}
	s.hear(bottest.Approver, pressing(bot.ActDecide, checks[1], "approve"))
	s.hear(second, bot.Filled{Form: "deny " + string(checks[1]), Values: nil})
	if d := s.decision(checks[1]); d.Decision != agent.DecideDeny || d.By != second.ID {
		t.Errorf("a denial: %+v", d)
	}
	if a := s.hear(bottest.Approver, bot.Filled{Form: "edit " + string(checks[2]), Values: map[string]string{"json": `{"name":"mine"}`}}); a.Private == "" || !s.fold(run).Checks[checks[2]].Open() {
		t.Errorf("one of three changed the plan: %+v", a)
	}
	s.hear(bottest.Approver, pressing(bot.ActDecide, checks[3], "done")) // nothing to vote about
	s.decision(checks[3])
	terminal := bot.Person{ID: bot.Terminal, Full: true}
	if err := s.desk.Decide(t.Context(), terminal, agent.CheckpointDecided{ID: checks[2], Decision: agent.DecideApprove}); err != nil {
		t.Error(err)
	}
	s.decision(checks[2])
}

// Votes that come at once are all counted, and one of them is the decision.
func TestRacingVotes(t *testing.T) {
	s := opened(t, func(c *Config) {
		c.Runs.Authority = authority.Authority{Approvers: []string{"slack:S1"}, Quorum: 4}
	})
	run, checks := s.live(bottest.Approval)
	var all sync.WaitGroup
	for i := range 4 {
		in := s.event(bot.Person{ID: fmt.Sprintf("slack:V%d", i), Also: []string{"slack:S1"}, Full: true}, pressing(bot.ActDecide, checks[0], "approve"))
		all.Go(func() {
			if _, err := s.chat.Receive(t.Context(), in); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.decision(checks[0])
	if votes := s.fold(run).Checks[checks[0]].Votes; len(votes) != 3 {
		t.Errorf("votes %+v", votes)
	}
}

func TestRating(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	up, down := pressing(bot.ActRate, run, "+1"), pressing(bot.ActRate, run, "-1")
	if a := s.hear(bottest.Requester, up); !strings.Contains(a.Private, "not ended") {
		t.Errorf("before the end: %+v", a)
	}
	s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	before := len(s.Journals[run])
	s.hear(bottest.Requester, up)
	s.hear(bottest.Requester, up)
	s.hear(bottest.Stranger, up)
	form := s.hear(bottest.Requester, down).Form
	if form == nil {
		t.Fatal("no form for what was wrong")
	}
	s.hear(bottest.Requester, bot.Filled{Form: form.ID, Values: map[string]string{"comment": " too long "}})
	want := []agent.Body{agent.Feedback{Rating: 1, By: bottest.Requester.ID}, agent.Feedback{Rating: 1, By: bottest.Stranger.ID},
		agent.Feedback{Rating: -1, Comment: "too long", By: bottest.Requester.ID}}
	if diff := cmp.Diff(want, s.events(run, before)); diff != "" {
		t.Error(diff)
	}
	if len(s.Newest().Wake) != 0 {
		t.Error("a rating wakes an ended run")
	}
}
