package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// ask opens a checkpoint of the kind on the main strand.
func ask(t *testing.T, log *journal, c agent.CheckpointOpened) agent.CheckpointID {
	t.Helper()
	put(t, log, agent.Main, theBrief)
	c.ID = agent.CheckpointID(string(theRun) + "-question")
	if c.Title == "" {
		c.Title = "A question"
	}
	put(t, log, agent.Main, c)
	return c.ID
}

var (
	clarify1 = agent.CheckpointOpened{
		Ask: agent.CheckClarify, Choices: []string{"Go", "Rust", "answer", "decide for me", "cancel"},
		Questions: []agent.Question{{ID: "q1", Question: "Which language?", Choices: []string{"Go", "Rust"}, Why: "both are there"}},
	}
	clarify2 = agent.CheckpointOpened{
		Ask: agent.CheckClarify, Choices: []string{"answer", "decide for me", "cancel"},
		Questions: []agent.Question{{ID: "q1", Question: "Which language?", Choices: []string{"Go", "Rust"}}, {ID: "q2", Question: "Which folder?"}},
	}
	planned = agent.CheckpointOpened{Ask: agent.CheckPlan, Plan: &thePlan, Choices: []string{"approve", "edit", "deny", "cancel"}}
	called  = agent.CheckpointOpened{
		Ask: agent.CheckApproval, Tool: "write_to_file", Arguments: json.RawMessage(`{"path":"a"}`),
		Choices: []string{"approve", "deny", "edit", "always"},
	}
	broke     = agent.CheckpointOpened{Ask: agent.CheckBudget, Budget: "usd", Choices: []string{"+25 %", "+100 %", "finish with what you have", "cancel"}}
	stuck     = agent.CheckpointOpened{Ask: agent.CheckStuck, Choices: []string{"try again", "finish with what you have", "cancel"}}
	uncertain = agent.CheckpointOpened{Ask: agent.CheckUncertain, Choices: []string{"done", "repeat", "skip"}}
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		ask   agent.CheckpointOpened
		tty   bool
		enter []string
		want  agent.CheckpointDecided
	}{
		{"approve", called, true, []string{"y"}, agent.CheckpointDecided{Decision: "approve"}},
		{"always", called, false, []string{"a"}, agent.CheckpointDecided{Decision: "always"}},
		{"always by its button", called, false, []string{"Always in this run"}, agent.CheckpointDecided{Decision: "always"}},
		{"deny with a reason", called, true, []string{"n not this file"}, agent.CheckpointDecided{Decision: "deny", Text: "not this file"}},
		{"deny with a colon", called, false, []string{"deny: later"}, agent.CheckpointDecided{Decision: "deny", Text: "later"}},
		{"useless lines first", called, true, []string{"perhaps", "", "?", "status", "help", "y"}, agent.CheckpointDecided{Decision: "approve"}},
		{"JSON", called, false, []string{`{"decision":"edit","arguments":{"path":"b"}}`}, agent.CheckpointDecided{Decision: "edit", Arguments: json.RawMessage(`{"path":"b"}`)}},
		{"edit typed as JSON", called, true, []string{"e", `{"path":"b"}`}, agent.CheckpointDecided{Decision: "edit", Arguments: json.RawMessage(`{"path":"b"}`)}},
		{"a control word while editing", called, true, []string{"e", "status", `{"path":"c"}`}, agent.CheckpointDecided{Decision: "edit", Arguments: json.RawMessage(`{"path":"c"}`)}},
		{"edit given up", called, true, []string{"e", "", "e", "[1]", "y"}, agent.CheckpointDecided{Decision: "approve"}},
		{"plan by number", planned, true, []string{"1"}, agent.CheckpointDecided{Decision: "approve"}},
		{"plan cancelled", planned, false, []string{"cancel"}, agent.CheckpointDecided{Decision: "cancel"}},
		{"plan edited", planned, true, []string{"2", `{"name":"other","tasks":null}`}, agent.CheckpointDecided{Decision: "edit", Plan: &agent.Plan{Name: "other"}}},
		{"budget by number", broke, true, []string{"2"}, agent.CheckpointDecided{Decision: "+100 %"}},
		{"budget without the space", broke, false, []string{"+25%"}, agent.CheckpointDecided{Decision: "+25 %"}},
		{"budget refused", broke, false, []string{"n"}, agent.CheckpointDecided{Decision: "cancel"}},
		{"stuck", stuck, true, []string{"Finish with what you have"}, agent.CheckpointDecided{Decision: "finish with what you have"}},
		{"stuck, and a hint", stuck, true, []string{"y", "cancle", "no, look into src"}, agent.CheckpointDecided{Decision: "try again", Text: "no, look into src"}},
		{"stuck, and a hint of a script", stuck, false, []string{"look into src"}, agent.CheckpointDecided{Decision: "try again", Text: "look into src"}},
		{"stuck, and something said", stuck, true, []string{"say yes", "say stop counting"}, agent.CheckpointDecided{Decision: "try again", Text: "stop counting"}},
		{"stuck, and a hint as JSON", stuck, false, []string{`{"text":"look into src"}`}, agent.CheckpointDecided{Decision: "try again", Text: "look into src"}},
		{"stuck, and no", stuck, true, []string{"n"}, agent.CheckpointDecided{Decision: "cancel"}},
		{"uncertain", uncertain, true, []string{"2"}, agent.CheckpointDecided{Decision: "repeat"}},
		{"one point by number", clarify1, true, []string{"2"}, agent.CheckpointDecided{Decision: "Rust"}},
		{"one point in words", clarify1, true, []string{"answer", "no idea"}, agent.CheckpointDecided{Decision: "answer", Text: "no idea"}},
		{"left to the agent", clarify1, false, []string{"decide for me"}, agent.CheckpointDecided{Decision: "decide for me"}},
		{"several points", clarify2, true, []string{"2", "all of them"}, agent.CheckpointDecided{Decision: "answer", Answers: map[string]string{"q1": "Rust", "q2": "all of them"}}},
		{"several points left", clarify2, true, []string{"Decide for me"}, agent.CheckpointDecided{Decision: "decide for me"}},
		{"several points on one line", clarify2, false, []string{"Go, everywhere"}, agent.CheckpointDecided{Decision: "answer", Text: "Go, everywhere"}},
		{"several points as JSON", clarify2, false, []string{`{"answers":{"q1":"Go","q2":"src"}}`}, agent.CheckpointDecided{Decision: "answer", Answers: map[string]string{"q1": "Go", "q2": "src"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newJournal()
				c.want.ID, c.want.By = ask(t, log, c.ask), "terminal"
				r := watch(t, log, Config{TTY: c.tty})
				r.settle()
				for _, line := range c.enter {
					if _, early := r.last().(agent.CheckpointDecided); early {
						t.Fatalf("decided before %q: %+v", line, r.last())
					}
					r.enter(line)
				}
				if diff := cmp.Diff(agent.Body(c.want), r.last()); diff != "" {
					t.Errorf("decision (-want +got):\n%s\nscreen:\n%s%s", diff, r.out, r.err)
				}
			})
		})
	}
}

func TestUnusableLinesSayWhy(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"perhaps", `not an answer: "perhaps"; say one of: approve, deny, edit, always`},
		{"edit", `"edit" carries the new arguments`},
		{`{"decision":`, "not an answer: unexpected end of JSON input"},
		{`{"checkpoint":"nothing","decision":"approve"}`, "no such checkpoint: nothing"},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			ask(t, log, called)
			r := watch(t, log, Config{JSON: true})
			r.settle()
			before := r.err.String()
			r.enter(c.line)
			said := strings.TrimPrefix(r.err.String(), before)
			if !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
				t.Errorf("%s: %q", c.line, said)
			}
			r.enter("y")
			if _, decided := r.last().(agent.CheckpointDecided); !decided {
				t.Error("the next line is not taken")
			}
		})
	}
}

func TestEditor(t *testing.T) {
	for _, c := range []struct {
		name   string
		edits  []string // what each call of the editor makes of the text; "": an error, "=": unchanged
		want   string   // arguments of the decision, empty: none
		notice string
	}{
		{"changed", []string{`{"path":"b"}`}, `{"path":"b"}`, ""},
		{"unchanged", []string{"="}, "", "nothing was changed"},
		{"failed", []string{""}, "", "the editor failed, nothing was changed: no editor"},
		{"broken, then mended", []string{`{"path":`, `{"path":"c"}`}, `{"path":"c"}`, "this is no JSON object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newJournal()
				ask(t, log, called)
				var opened []string
				r := watch(t, log, Config{TTY: true, Editor: func(_ context.Context, text string) (string, error) {
					edit := c.edits[len(opened)]
					opened = append(opened, text)
					switch edit {
					case "":
						return "", errors.New("no editor")
					case "=":
						return text, nil
					}
					return edit, nil
				}})
				r.settle()
				for range c.edits {
					r.enter("e")
				}
				if opened[0] != "{\n  \"path\": \"a\"\n}\n" {
					t.Errorf("the editor opened %q", opened[0])
				}
				if len(opened) > 1 && opened[1] != c.edits[0] {
					t.Errorf("the second time it opened %q", opened[1])
				}
				d, decided := r.last().(agent.CheckpointDecided)
				if decided != (c.want != "") || string(d.Arguments) != c.want {
					t.Errorf("decided %v: %s", decided, d.Arguments)
				}
				if !strings.Contains(r.out.String(), c.notice) {
					t.Errorf("no %q in\n%s", c.notice, r.out)
				}
			})
		})
	}
}

func TestWordsWithoutAQuestion(t *testing.T) {
	for _, c := range []struct {
		line string
		tty  bool
		want agent.Body
	}{
		{"use the other folder", true, agent.PersonSaid{By: "terminal", Text: "use the other folder", Trusted: true}},
		{"y", true, agent.PersonSaid{By: "terminal", Text: "y", Trusted: true}},
		{"say stop", true, agent.PersonSaid{By: "terminal", Text: "stop", Trusted: true}},
		{"say hurry", false, agent.PersonSaid{By: "terminal", Text: "hurry", Trusted: true}},
		{"STOP", true, agent.RunControlled{Word: agent.WordPause, By: "terminal"}},
		{"pause", false, agent.RunControlled{Word: agent.WordPause, By: "terminal"}},
		{"resume", true, agent.RunControlled{Word: agent.WordResume, By: "terminal"}},
		{"cancel", true, agent.RunControlled{Word: agent.WordCancel, By: "terminal"}},
		{"status", true, agent.TaskStarted{Task: "t1"}},
		{"help", true, agent.TaskStarted{Task: "t1"}},
		{"y", false, agent.TaskStarted{Task: "t1"}}, // waits for its question
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			begin(t, log)
			r := watch(t, log, Config{TTY: c.tty})
			r.settle()
			r.enter(c.line)
			if diff := cmp.Diff(c.want, r.last()); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.line, diff)
			}
		})
	}
}

// What a person typed to one question answers no other: a second y, pressed before
// the next question was there, is none.
func TestALineAnswersTheQuestionThatStoodThere(t *testing.T) {
	for _, tty := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			begin(t, log)
			r := watch(t, log, Config{TTY: tty})
			r.settle()
			ask := func(n string) agent.CheckpointID {
				put(t, log, task1, call(task1, n, "write_to_file", `{"path":"`+n+`"}`)...)
				i := intent(task1, n, "write_to_file", `{"path":"`+n+`"}`)
				r.add(task1, approval(fold(log), i))
				run := fold(log)
				return run.Asked[len(run.Asked)-1]
			}
			first := ask("1")
			go func() { _, _ = r.keys.Write([]byte("y\ny\n")) }()
			r.settle()
			if fold(log).Checks[first].Open() {
				t.Fatalf("the first question is open\n%s", r.err)
			}
			r.add(task1, agent.CallReplied{Effect: fold(log).Checks[first].Effect, Text: "written"})
			second := ask("2")
			if open := fold(log).Checks[second].Open(); open != tty { // a script's lines answer one after the other
				t.Errorf("at a terminal %t: the second question is open %t", tty, open)
			}
			if tty {
				r.enter("y")
				if fold(log).Checks[second].Open() {
					t.Errorf("typed again it decides nothing\n%s", r.out)
				}
			}
		})
	}
}

func TestALineWaitsForItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		begin(t, log)
		r := watch(t, log, Config{Leave: true})
		r.settle()
		go func() {
			_, _ = r.keys.Write([]byte("n too early\ny"))
			_ = r.keys.Close()
		}()
		r.settle()
		for _, want := range []string{"deny", "approve"} {
			n := string('1' + rune(len(fold(log).Asked)))
			put(t, log, task1, call(task1, n, "write_to_file", `{"path":"`+n+`"}`)...)
			i := intent(task1, n, "write_to_file", `{"path":"`+n+`"}`)
			r.add(task1, approval(fold(log), i))
			run := fold(log)
			if d := run.Checks[run.Asked[len(run.Asked)-1]].Decision; d == nil || d.Decision != want {
				t.Fatalf("question %s: %+v, want %s\n%s", n, d, want, r.err)
			}
			r.add(task1, agent.CallReplied{Effect: i.Effect, Text: "denied by terminal"})
		}
		if !fold(log).Alone {
			t.Error("after its last line the end of the input is not noted")
		}
		if r.over() {
			t.Error("nothing is asked, and Watch ended")
		}
	})
}

func TestTheEndOfTheInput(t *testing.T) {
	for _, leave := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			c := asking(t, log)
			r := watch(t, log, Config{Leave: leave})
			r.settle()
			_ = r.keys.Close()
			if !r.over() || !r.end.Waiting || r.failure != nil {
				t.Fatalf("end %+v, %v", r.end, r.failure)
			}
			if r.end.Run.OpenCheckpoint().ID != c.ID {
				t.Error("it waits for something else")
			}
			left := 0
			for _, e := range log.events {
				if b, is := e.Body.(agent.RunControlled); is && b.Word == agent.WordLeave {
					left++
				}
			}
			if want := map[bool]int{true: 1}[leave]; left != want || r.end.Run.Alone != leave {
				t.Errorf("the end of the input is noted %d times, want %d", left, want)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	refusal := agent.ModelAnswered{Call: "main.1", Purpose: "intake", Error: "401: no such key", Refused: true, Cost: cents(0)}
	for _, c := range []struct {
		name string
		add  []agent.Body
		want End
	}{
		{"refused", []agent.Body{agent.ModelAsked{Call: "main.1"}, refusal}, End{Refused: "401: no such key"}},
		{"paused", []agent.Body{agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}}, End{Paused: true}},
		{"ended", []agent.Body{agent.RunEnded{State: agent.RunFailed, Reason: "no plan"}}, End{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newJournal()
				put(t, log, agent.Main, theBrief)
				r := watch(t, log, Config{TTY: true})
				r.add(agent.Main, c.add...)
				if !r.over() {
					t.Fatal("Watch goes on")
				}
				r.end.Run = agent.Run{}
				if diff := cmp.Diff(c.want, r.end, asMap); diff != "" || r.failure != nil {
					t.Errorf("%v, (-want +got):\n%s", r.failure, diff)
				}
			})
		})
	}
}

// asMap compares strands by what they are, not by how their table is kept.
var asMap = cmp.Transformer("map", func(s agent.Strands) map[agent.StrandID]agent.Strand { return maps.Collect(s.All()) })

func TestAPausedRunFinishesWhatItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		begin(t, log)
		put(t, log, task1, call(task1, "1", "wait", `{"seconds":1}`)...)
		i := intent(task1, "1", "wait", `{"seconds":1}`)
		put(t, log, task1, i)
		r := watch(t, log, Config{})
		r.settle()
		r.enter("pause")
		if r.over() {
			t.Fatal("a tool is running, and Watch ended")
		}
		r.add(task1, done(i))
		if !r.over() || !r.end.Paused {
			t.Errorf("end %+v", r.end)
		}
	})
	synctest.Test(t, func(t *testing.T) { // nobody works on it any more
		log := newJournal()
		begin(t, log)
		put(t, log, task1, call(task1, "1", "wait", `{}`)...)
		put(t, log, task1, intent(task1, "1", "wait", `{}`), agent.RunControlled{Word: agent.WordPause, By: "terminal"})
		r := watch(t, log, Config{})
		<-time.After(pauseGrace + 2*time.Second)
		if !r.over() || !r.end.Paused {
			t.Errorf("end %+v", r.end)
		}
	})
}

func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		begin(t, log)
		r := watch(t, log, Config{TTY: true})
		r.settle()
		r.stop()
		if !r.over() || !errors.Is(r.failure, context.Canceled) || r.end.Run.ID != theRun {
			t.Errorf("end %+v, %v", r.end.Run.ID, r.failure)
		}
		if s := shown(t, 80, r.out.String()); strings.Contains(s, ">") || !strings.Contains(s, "running") {
			t.Errorf("the screen keeps\n%s", s)
		}
	})
}

func TestAStoreThatIsAway(t *testing.T) {
	fail := func(log *journal, err error) {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.broken = err
		close(log.longer)
		log.longer = make(chan struct{})
	}
	synctest.Test(t, func(t *testing.T) { // for a while
		log := newJournal()
		begin(t, log)
		r := watch(t, log, Config{TTY: true})
		r.settle()
		fail(log, errAway)
		<-time.After(30 * time.Second)
		r.enter("hurry")
		fail(log, nil)
		<-time.After(maxPause)
		r.enter("hurry again")
		out := r.out.String()
		if strings.Count(out, "connection refused); trying again") != 1 || !strings.Contains(out, "your words did not arrive: ") {
			t.Errorf("told:\n%s", out)
		}
		if b, said := r.last().(agent.PersonSaid); !said || b.Text != "hurry again" || !strings.Contains(out, "terminal: hurry again") {
			t.Errorf("after it is back: %+v", r.last())
		}
	})
	synctest.Test(t, func(t *testing.T) { // for good
		log := newJournal()
		begin(t, log)
		r := watch(t, log, Config{})
		r.settle()
		fail(log, errAway)
		<-time.After(patience + 2*maxPause)
		if !r.over() || !errors.Is(r.failure, errAway) {
			t.Errorf("error %v", r.failure)
		}
	})
	synctest.Test(t, func(t *testing.T) { // no such run
		r := watch(t, newJournal(), Config{})
		if !r.over() || !errors.Is(r.failure, agent.ErrNoRun) {
			t.Errorf("error %v", r.failure)
		}
	})
}
