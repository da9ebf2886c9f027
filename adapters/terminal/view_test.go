package terminal

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestPlainTellsTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		asking(t, log)
		r := watch(t, log, Config{})
		r.settle()
		<-time.After(80 * time.Second)
		r.enter("n not this file")
		rest(t, log)
		if !r.over() || r.failure != nil || r.end.Run.Ended == nil {
			t.Fatalf("end %+v, %v", r.end, r.failure)
		}
		if strings.Contains(r.out.String(), "\x1b") {
			t.Error("plain output has an escape")
		}
		golden(t, "plain.golden", r.out.String())
	})
}

func TestPlainSumsUpWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		asking(t, log)
		r := watch(t, log, Config{After: fold(log).Seq})
		r.settle()
		golden(t, "resumed.golden", r.out.String())
	})
}

func TestJSONPrintsEachNewEventOnce(t *testing.T) {
	for _, after := range []uint64{0, 4} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			asking(t, log)
			r := watch(t, log, Config{JSON: true, TTY: true, After: after})
			r.settle()
			r.enter("y")
			rest(t, log)
			if !r.over() {
				t.Fatal("the run has ended, Watch has not")
			}
			want := log.events[after:]
			lines := bufio.NewScanner(strings.NewReader(r.out.String()))
			for i := 0; lines.Scan(); i++ {
				var e agent.Event
				if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
					t.Fatalf("line %d: %v: %s", i+1, err, lines.Text())
				}
				if i >= len(want) || e.Seq != want[i].Seq || e.Body.Kind() != want[i].Body.Kind() {
					t.Fatalf("line %d is %s %d", i+1, e.Body.Kind(), e.Seq)
				}
			}
			if n := strings.Count(r.out.String(), "\n"); n != len(want) {
				t.Errorf("%d lines for %d events", n, len(want))
			}
			if after == 0 && !strings.Contains(r.err.String(), "waiting for an answer: May I call") {
				t.Errorf("people are told: %q", r.err)
			}
		})
	}
}

func TestLiveView(t *testing.T) {
	const columns = 60
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		put(t, log, agent.Main, theBrief)
		r := watch(t, log, Config{TTY: true, Color: true, Width: func() int { return columns }})
		r.settle()
		r.add(agent.Main, agent.PlanAccepted{Plan: thePlan}, agent.TaskStarted{Task: "t1"})
		read := intent(task1, "1", "read_file", `{"path":"notes.md"}`)
		r.add(task1, append(call(task1, "1", "read_file", `{"path":"notes.md"}`), read)...)
		<-time.After(42 * time.Second)
		r.settle()
		golden(t, "live_working.golden", shown(t, columns, r.out.String()))

		r.add(task1, done(read))
		args := `{"path":"REPORT.md","text":"one\ntwo\nthree\nfour\nfive"}`
		r.add(task1, call(task1, "2", "write_to_file", args)...)
		r.add(task1, approval(fold(log), intent(task1, "2", "write_to_file", args)))
		golden(t, "live_asking.golden", shown(t, columns, r.out.String()))

		r.enter("y")
		rest(t, log)
		if !r.over() {
			t.Fatal("the run has ended, Watch has not")
		}
		golden(t, "live_ended.golden", shown(t, columns, r.out.String()))
	})
}

func TestLiveViewIsDrawnSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		begin(t, log)
		r := watch(t, log, Config{TTY: true})
		r.settle()
		before := strings.Count(r.out.String(), "\x1b[J")
		for i := range 50 {
			<-time.After(10 * time.Millisecond)
			put(t, log, task1, intent(task1, "9", "wait", `{"seconds":`+string(rune('0'+i%10))+`}`))
			put(t, log, agent.Main, agent.BudgetNotice{Budget: "usd", Percent: i})
		}
		r.settle()
		if n := strings.Count(r.out.String(), "\x1b[J") - before; n > 8 || n < 4 {
			t.Errorf("%d drawings in half a second", n)
		}
		if !strings.Contains(r.out.String(), " 49 % of the budget for money is used") {
			t.Error("the last notice is missing")
		}
		r.add(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"})
		if !r.over() || !r.end.Paused {
			t.Errorf("paused: %+v", r.end)
		}
	})
}

// hostile is text that wants to be more than text.
const hostile = "a\x1b[2Jb\x1b]0;title\x07\u202egpj\u202c\u200b\x9b31m\r\x7f\u2066\U000e0041z"

func TestTextsFromOutsideAreHarmless(t *testing.T) {
	for _, tty := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := newJournal()
			brief, p := theBrief, agent.Plan{Name: hostile, Tasks: []agent.Task{{ID: "t1", Title: hostile, Instructions: hostile}}}
			brief.Goal, brief.Folder = hostile, hostile
			put(t, log, agent.Main, brief, agent.PlanAccepted{Plan: p, Reason: hostile}, agent.TaskStarted{Task: "t1"},
				agent.PersonSaid{By: hostile, Text: hostile}, agent.Finding{Message: hostile})
			arguments, _ := json.Marshal(map[string]any{hostile: hostile, "list": []any{hostile, map[string]any{"x": hostile}}})
			put(t, log, task1, call(task1, "1", hostile, string(arguments))...)
			i := intent(task1, "1", hostile, string(arguments))
			c := approval(fold(log), i)
			c.Title, c.Risk, c.Detail, c.Grant = hostile, hostile, hostile, hostile
			put(t, log, task1, c)
			r := watch(t, log, Config{TTY: tty, Color: true})
			r.settle()
			r.enter("?")
			go func() { _, _ = r.keys.Write([]byte("n " + hostile + "\n")) }() // not echoed
			r.settle()
			put(t, log, task1, agent.CallReplied{Effect: i.Effect, Text: "denied by " + hostile},
				agent.TaskEnded{Task: "t1", State: agent.TaskDone, Summary: hostile})
			put(t, log, agent.Main, agent.Reported{Headline: hostile, Body: hostile + "\n" + hostile, Artifacts: agent.Texts{hostile}},
				agent.RunEnded{State: agent.RunDone, Reason: hostile})
			if !r.over() {
				t.Fatal("not over")
			}
			out := r.out.String()
			if n := strings.Count(out, "⟨U+202E⟩gpj"); n < 15 {
				t.Errorf("the hidden characters are shown %d times", n)
			}
			shown(t, 80, out) // reports every control but the view's own
			for _, bad := range []string{"\u202e", "\u200b", "\u009b", "\U000e0041", "\x07", "\x1b[2J", "\x1b]"} {
				if strings.Contains(out+r.err.String(), bad) {
					t.Errorf("%q came through", bad)
				}
			}
			if !tty && strings.ContainsAny(out, "\x1b\r") {
				t.Error("plain output has controls")
			}
		})
	}
}

func TestAGoalOfManyPagesIsShownByItsBeginning(t *testing.T) {
	for _, c := range []struct{ goal, want string }{
		{strings.Repeat("ü", 1300), strings.Repeat("ü", 1300)},
		{strings.Repeat("ü", 40000), strings.Repeat("ü", 1200) + " … (38,800 more characters)"},
	} {
		rows := drawing{}.card(card.Telling{}.Brief(agent.Run{Brief: agent.RunStarted{Goal: c.goal}}))
		if got := rows[0].paint(false); got != "Goal: "+c.want {
			t.Errorf("a goal of %d bytes is shown as %d: …%s", len(c.goal), len(got), got[max(0, len(got)-60):])
		}
	}
}

func TestALongPreviewIsCutAndShownOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newJournal()
		c := called
		c.Detail = "```\n" + strings.Repeat("line\n", 40) + "the last one\n```"
		ask(t, log, c)
		r := watch(t, log, Config{TTY: true, Height: func() int { return 30 }})
		r.settle()
		if s := shown(t, 80, r.out.String()); strings.Contains(s, "the last one") || !strings.Contains(s, "  line\n  ```\n  … 31 more lines; ? shows them\n") {
			t.Errorf("the question is\n%s", s)
		}
		r.enter("?")
		if s := shown(t, 80, r.out.String()); !strings.Contains(s, "  the last one\n  ```\n  [y] approve") {
			t.Errorf("asked for more, it shows\n%s", s)
		}
	})
}
