package words_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/words"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// utterance is one line of the table.
type utterance struct {
	exact, model, comes, text string
	to                        bool // said to the bot
}

func utterances(t *testing.T) []utterance {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "utterances.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []utterance
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 5 {
			text, to := strings.CutPrefix(f[4], "@")
			all = append(all, utterance{exact: f[1], model: f[2], comes: f[3], text: text, to: to})
		}
	}
	if len(all) < 200 {
		t.Fatalf("%d utterances, at least 200 are wanted", len(all))
	}
	return all
}

// Exact words decide without a model, and nothing else counts as one.
func TestExactWords(t *testing.T) {
	for _, u := range utterances(t) {
		want := words.Meaning(u.exact)
		if u.exact == "-" {
			want = words.Unknown
		}
		if got := words.Of(u.text); got != want {
			t.Errorf("%q means %q alone, want %q", u.text, got, want)
		}
	}
}

var ann = bot.Person{ID: "slack:U1", Name: "Ann", Full: true}

// house is a Deckhand whose chat hears people, with a model behind HTTP.
type house struct {
	*testing.T
	store *sqlite.Store
	chat  *intake.Chat
	n     int
}

// open starts a house; without a model every question to it fails.
func open(t *testing.T, script llmtest.Script) *house {
	t.Helper()
	server := httptest.NewServer(llmtest.New(script))
	t.Cleanup(server.Close)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir(), Lease: 5 * time.Second}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Defaults()
	c.HTTP, c.DataDir, c.Workspace, c.Model.Name = "off", "", t.TempDir(), "test"
	log := slog.New(slog.DiscardHandler)
	a, err := app.New(t.Context(), app.Options{Config: c, Store: store, Log: log, WorkOnly: true,
		Model: openai.New(openai.Config{BaseURL: server.URL + "/v1", Timeout: 10 * time.Second})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &house{T: t, store: store, chat: intake.New(intake.Config{Runs: app.NewClient(c, store), Store: store, Hear: true, Log: log})}
}

// asking is a run whose only task waits for an approval that was put before people.
func (h *house) asking() (agent.RunID, bot.Address) {
	h.Helper()
	h.n++
	where := bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1", ID: fmt.Sprintf("1700000000.%06d", h.n)}
	run := h.store.NewRun(agent.AnchorOf(agent.ThreadName(where.String())))
	task := agent.Task{ID: "a", Title: "Write the notes", Effort: 1, Value: 5, Deliverable: true, Outputs: []agent.OutputSpec{{Name: "notes"}}}
	check := agent.CheckpointOpened{ID: agent.CheckpointID(string(run) + "-abcdefgh"), Ask: agent.CheckApproval, Title: "May I write notes.md?",
		Choices: []string{agent.DecideApprove, agent.DecideDeny}, Tool: "write_to_file", Class: agent.ClassWrite, Digest: "d"}
	strand := agent.TaskStrand("a")
	on := func(s agent.StrandID, b agent.Body) agent.Event { return agent.Event{Strand: s, Body: b} }
	_, err := h.store.Commit(h.Context(), agent.Commit{ID: agent.NewID(), Run: run, Set: map[string]string{agent.ThreadName(where.String()): string(run)}, Events: []agent.Event{
		on(agent.Main, agent.RunStarted{Goal: "write the notes", Requester: ann.ID, ReplyTo: where.String(), Slots: 1, Autonomy: agent.AskRisky}),
		on(agent.Main, agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{task}}}), on(agent.Main, agent.TaskStarted{Task: "a"}),
		on(strand, check),
		on(agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyAsk(check.ID)}.Effect(), State: agent.OutcomeOK, Trust: agent.Trusted,
			Text: agent.Shown{Message: where.String() + "1", Thread: where.String(), At: time.Now().Add(-time.Minute)}.Text()}),
	}})
	if err != nil {
		h.Fatal(err)
	}
	return run, where
}

// say is a message in the thread.
func (h *house) say(where bot.Address, text string, to bool) bot.Answer {
	h.Helper()
	h.n++
	message := where
	message.ID = fmt.Sprintf("1800000000.%06d", h.n)
	a, err := h.chat.Receive(h.Context(), bot.Inbound{Keys: []string{message.String()}, At: time.Now(), By: ann, Where: where, Message: message, Act: bot.Said{Text: text, To: to}})
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// outcome is what came of the words, once they are understood.
func (h *house) outcome(run agent.RunID, a bot.Answer) (comes string, asked int) {
	h.Helper()
	for {
		events, err := h.store.Read(h.Context(), run, 0)
		if err != nil {
			h.Fatal(err)
		}
		r := agent.Run{}.Fold(events)
		for _, e := range events {
			if b, is := e.Body.(agent.ModelAsked); is && b.Purpose == llm.Hear {
				asked++
			}
		}
		if len(r.Unread) == 0 {
			return came(r, a), asked
		}
		asked = 0
		if err := h.store.Await(h.Context(), run, r.Seq); err != nil {
			h.Fatal(err)
		}
	}
}

func came(r agent.Run, a bot.Answer) string {
	c := r.Checks[r.Asked[0]]
	switch {
	case r.Cancelled != nil:
		return "cancelled"
	case !c.Open() && c.Decision.Decision == agent.DecideApprove:
		return "approved"
	case !c.Open():
		return "denied"
	case r.Paused != "":
		return "paused"
	case len(r.Told) == 1 && r.Told[0].Decision != "":
		return "proposed " + r.Told[0].Decision
	case len(r.Told) == 1 && r.Told[0].Meaning == agent.MeansQuestion:
		return "answered"
	case len(r.Told) == 1 && r.Told[0].Meaning == agent.MeansSchedule && len(r.Said) == 0:
		return "left" // alone, and said how it is scheduled
	case len(r.Said) == 1:
		return "noted"
	case a.Private != "":
		return "asked"
	}
	return "nothing"
}

// Each utterance of the table comes to what it must, in four languages, and asks
// the model only where no exact word decides: once.
func TestUtterances(t *testing.T) {
	means := map[string]string{}
	for _, u := range utterances(t) {
		means[u.text] = u.model
	}
	h := open(t, func(r llmtest.Request) llmtest.Reply {
		if r.Purpose != llm.Hear {
			return llmtest.Broken()
		}
		for text, meaning := range means {
			quoted := fmt.Sprintf("%q", text)
			if meaning == "-" || !strings.HasSuffix(strings.TrimSpace(r.Last()), quoted) {
				continue
			}
			if meaning == "question" && r.Offers("answer_question") {
				return llmtest.Call("answer_question", `{"text":"It is half done.","cites":[2]}`)
			}
			return llmtest.Call("take_message", `{"meaning":"`+meaning+`"}`)
		}
		return llmtest.Broken()
	})
	for _, u := range utterances(t) {
		run, where := h.asking()
		comes, asked := h.outcome(run, h.say(where, u.text, u.to))
		if comes != u.comes {
			t.Errorf("%q came to %q, want %q", u.text, comes, u.comes)
		}
		if most := map[bool]int{true: 0, false: 2}[u.exact != "-"]; asked > most || u.exact == "-" && asked == 0 {
			t.Errorf("%q asked the model %d times", u.text, asked)
		}
		if strings.HasSuffix(strings.TrimRight(u.text, " !"), "?") && asked > 1 {
			t.Errorf("the question %q took %d calls of the model", u.text, asked)
		}
	}
}

// Something for later that is said beside a run's work is kept at once, for the place
// where it was said and in the zone of whoever said it; what cannot be kept says why.
func TestScheduleInAThread(t *testing.T) {
	for _, tt := range []struct{ name, order, when, goal, wrong string }{
		{"the same goal", `{"when":"every Monday at 9:00"}`, "every Monday at 9:00", "write the notes", ""},
		{"another goal", `{"when":"tomorrow at 14:00","zone":"Europe/Berlin","goal":"Zähl die Zeilen"}`, "once, on", "Zähl die Zeilen", ""},
		{"no time", `{"when":"when the cows come home"}`, "", "", "when"},
		{"nothing", `{}`, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := open(t, func(r llmtest.Request) llmtest.Reply {
				if r.Purpose != llm.Hear {
					return llmtest.Broken()
				}
				return llmtest.Call("take_message", `{"meaning":"schedule","schedule":`+tt.order+`}`)
			})
			run, where := h.asking()
			comes, asked := h.outcome(run, h.say(where, "do this every Monday at 9 too", false))
			events, err := h.store.Read(t.Context(), run, 0)
			r := agent.Run{}.Fold(events)
			if err != nil || comes != "left" || asked != 1 || len(r.Said) > 0 {
				t.Fatalf("came to %q after %d calls, noted %+v (%v)", comes, asked, r.Said, err)
			}
			kept, err := h.store.Values(t.Context(), recurring.NameSchedule)
			made := r.Told[0].Schedule
			if err != nil || len(kept) != map[bool]int{true: 1}[tt.when != ""] || (made != nil) != (tt.when != "") || !strings.Contains(r.Told[0].Text, tt.wrong) {
				t.Fatalf("kept %v, told %+v (%v)", kept, r.Told, err)
			}
			if made == nil {
				return
			}
			if !strings.Contains(strings.ToLower(made.When), strings.ToLower(tt.when)) || !strings.Contains(made.What, tt.goal) || len(made.Next) == 0 {
				t.Errorf("made %+v", made)
			}
			for _, line := range kept {
				if !strings.Contains(line, `"slack:T1:C1:"`) || !strings.Contains(line, ann.ID) {
					t.Errorf("kept %s", line)
				}
			}
		})
	}
}

// Without a model, exact words decide as ever, and everything else is a note for
// the work; of the first one a person is told which words count.
func TestUtterancesWithoutAModel(t *testing.T) {
	h := open(t, func(llmtest.Request) llmtest.Reply { return llmtest.Broken() })
	for _, u := range utterances(t) {
		run, where := h.asking()
		want := u.comes
		if u.exact == "-" {
			want = "noted"
		}
		if comes, _ := h.outcome(run, h.say(where, u.text, u.to)); comes != want {
			t.Errorf("%q came to %q, want %q", u.text, comes, want)
		}
	}
}
