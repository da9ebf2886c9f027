package posting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// The voice is what the loop asks for (agent/loop, Voice).
var _ interface {
	May(ctx context.Context, r agent.Run, p agent.Post) (wait time.Duration, err error)
	Post(ctx context.Context, r agent.Run, p agent.Post, c agent.Call) agent.Result
	Find(ctx context.Context, r agent.Run, p agent.Post, in agent.ToolIntent) (done bool, result agent.Result, err error)
	Show(ctx context.Context, r agent.Run) (again time.Duration)
	Deadline(p agent.Post) time.Duration
} = (*Poster)(nil)
var (
	postCard   = agent.Post{Key: "card", Kind: agent.PostCard}
	postAsk    = agent.Post{Key: "ask/" + bottest.TaleRun + "-q", Kind: agent.PostCheckpoint, About: bottest.TaleRun + "-q"}
	postRemind = agent.Post{Key: "remind/" + bottest.TaleRun + "-q", Kind: agent.PostCheckpoint, About: bottest.TaleRun + "-q"}
	postClose  = agent.Post{Key: "close/" + bottest.TaleRun + "-q", Kind: agent.PostClose, About: bottest.TaleRun + "-q"}
	postReport = agent.Post{Key: "report", Kind: agent.PostReport}
	postUpload = agent.Post{Key: "upload/0", Kind: agent.PostUpload, About: "out/REPORT.md"}
	postFile   = agent.Post{Key: "file/0", Kind: agent.PostAttach, About: "0"}
)

// inThread is a run whose card opened a thread and whose question is shown.
func inThread(brief agent.RunStarted, happened ...agent.Event) agent.Run {
	if brief.ReplyTo == "" {
		brief.ReplyTo = "slack:T1:C1:"
	}
	r := bottest.Told(brief, bottest.AsksFor(agent.Main, bottest.AskApproval), bottest.Posting(postCard), bottest.ShownAs("card", "slack:T1:C1:17.1"))
	return bottest.More(r, happened...)
}

func shownOf(t *testing.T, res agent.Result) agent.Shown {
	t.Helper()
	var s agent.Shown
	if err := json.Unmarshal([]byte(res.Text), &s); err != nil || res.State != agent.OutcomeOK || res.Trust != agent.Trusted {
		t.Fatalf("result %+v: %v", res, err)
	}
	return s
}

func TestPostsGoWhereTheyBelong(t *testing.T) {
	asked := inThread(agent.RunStarted{})
	over := bottest.More(asked, bottest.On(agent.Main, agent.Reported{Headline: "done"}), bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
	for _, tt := range []struct {
		name string
		run  agent.Run
		post agent.Post
		to   string
		want agent.Shown
	}{
		{"the card opens a thread", bottest.Told(agent.RunStarted{ReplyTo: "slack:T1:C1:"}), postCard, "slack:T1:C1:", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}},
		{"the card in a thread", bottest.Told(agent.RunStarted{ReplyTo: "slack:T1:C1:9"}), postCard, "slack:T1:C1:9", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:9"}},
		{"a question", asked, postAsk, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"a reminder", asked, postRemind, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"the report", over, postReport, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"a question without a thread", bottest.Told(agent.RunStarted{ReplyTo: "slack:T1:C1:"}, bottest.AsksFor(agent.Main, bottest.AskApproval)), postAsk, "slack:T1:C1:", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			if diff := cmp.Diff(tt.want, shownOf(t, h.call(t, tt.run, tt.post))); diff != "" {
				t.Error(diff)
			}
			if got := h.stage.Posts[0]; got.To != tt.to || got.Card.Key != (bot.Key{Run: bottest.TaleRun, Name: tt.post.Key, Kind: tt.post.Kind}) {
				t.Errorf("posted to %s as %+v", got.To, got.Card.Key)
			}
		})
	}
}

// A decided question loses its buttons, and so does its reminder.
func TestClose(t *testing.T) {
	h := onStage(t)
	r := inThread(agent.RunStarted{}, bottest.Posting(postAsk), bottest.ShownAs(postAsk.Key, "slack:T1:C1:20"), bottest.Posting(postRemind), bottest.ShownAs(postRemind.Key, "slack:T1:C1:30"), bottest.Decided(agent.DecideDeny, "no"))
	res := h.Post(t.Context(), r, postClose, agent.Call{})
	if shownOf(t, res) != (agent.Shown{}) {
		t.Errorf("result %+v", res)
	}
	var got []string
	for _, e := range h.stage.Edits {
		got = append(got, e.To+" "+e.Card.Key.Name)
	}
	if diff := cmp.Diff([]string{"slack:T1:C1:20 " + postAsk.Key, "slack:T1:C1:30 " + postRemind.Key}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTroubleWithPosts(t *testing.T) {
	r := inThread(agent.RunStarted{}, bottest.Posting(postAsk), bottest.ShownAs(postAsk.Key, "slack:T1:C1:20"), bottest.Decided(agent.DecideDeny, ""))
	wrap := func(err error) error { return fmt.Errorf("post: %w", err) }
	for _, tt := range []struct {
		name  string
		post  agent.Post
		fails []error
		want  agent.Result // text: a part of it
		log   string
	}{
		{"busy", postAsk, []error{wrap(&bot.BusyError{After: 7 * time.Second})}, agent.Result{Again: 7 * time.Second}, ""},
		{"busy for no time", postAsk, []error{&bot.BusyError{}}, agent.Result{Again: time.Second}, ""},
		{"lost", postAsk, []error{wrap(bot.ErrLost)}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"timeout", postAsk, []error{wrap(context.DeadlineExceeded)}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"refused", postAsk, []error{wrap(bot.ErrRefused)}, agent.Result{Again: time.Second}, "ERROR"},
		{"refused for good", postAsk, []error{bottest.ErrNoReason}, agent.Result{State: agent.OutcomeError, Text: "invalid_blocks"}, "ERROR"},
		{"gone everywhere", postAsk, []error{wrap(bot.ErrGone), wrap(bot.ErrGone)}, agent.Result{State: agent.OutcomeError, Text: "and the requester"}, "ERROR"},
		{"gone, then busy", postAsk, []error{bot.ErrGone, &bot.BusyError{After: time.Second}}, agent.Result{Again: time.Second}, ""},
		{"gone, then lost", postAsk, []error{bot.ErrGone, bot.ErrLost}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"a lost edit is made again", postClose, []error{wrap(bot.ErrLost)}, agent.Result{Again: time.Second}, ""},
		{"an edit of nothing", postClose, []error{wrap(bot.ErrGone)}, agent.Result{State: agent.OutcomeOK}, ""},
		{"barred everywhere", postAsk, []error{wrap(bot.ErrBarred), wrap(bot.ErrBarred)}, agent.Result{State: agent.OutcomeError, Text: `"again":`}, "WARN"},
		{"gone, and the requester takes nothing now", postAsk, []error{wrap(bot.ErrGone), wrap(bot.ErrBarred)}, agent.Result{State: agent.OutcomeError, Text: `"again":`}, "WARN"},
		{"an edit where the bot is barred", postClose, []error{wrap(bot.ErrBarred)}, agent.Result{State: agent.OutcomeError, Text: `"again":`}, "WARN"},
		{"a question that nobody asked", agent.Post{Key: "ask/x", Kind: agent.PostCheckpoint, About: "x"}, nil, agent.Result{State: agent.OutcomeError, Text: "no such checkpoint"}, "ERROR"},
		{"no kind of a run's", agent.Post{Key: "x", Kind: agent.PostAnswer}, nil, agent.Result{State: agent.OutcomeError, Text: "nothing is known of the words"}, "ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			h.stage.Fails = tt.fails
			got := h.call(t, r, tt.post)
			if got.Again != tt.want.Again || got.State != tt.want.State || !strings.Contains(got.Text, tt.want.Text) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if !strings.Contains(h.log.String(), tt.log) {
				t.Errorf("logged %q, want %s", h.log, tt.log)
			}
		})
	}
}

func TestRefusalsGrow(t *testing.T) {
	h := onStage(t)
	for deferred, want := range map[int]time.Duration{0: time.Second, 3: 8 * time.Second, 9: 5 * time.Minute, 80: 5 * time.Minute} {
		h.stage.Fails = []error{bot.ErrRefused}
		if got := h.Post(t.Context(), inThread(agent.RunStarted{}), postAsk, agent.Call{Deferred: deferred}); got.Again != want {
			t.Errorf("after %d refusals again in %s, want %s", deferred, got.Again, want)
		}
	}
}

// A run's place is gone: the requester hears of it alone, under the same key.
func TestDirectWhereThePlaceIsGone(t *testing.T) {
	r := inThread(agent.RunStarted{})
	h := onStage(t)
	h.stage.Fails = []error{fmt.Errorf("is_archived: %w", bot.ErrGone)}
	got := shownOf(t, h.call(t, r, postAsk))
	if want := (agent.Shown{Message: "slack:T1:DU1:m1", Thread: "slack:T1:DU1:m1"}); got != want {
		t.Errorf("shown at %+v, want %+v", got, want)
	}
	p := h.stage.Posts[0]
	if note, is := p.Card.Parts[0].(bot.Small); p.Card.Key.Name != postAsk.Key || !is || !strings.Contains(note.Markdown, "is gone") {
		t.Errorf("posted %+v", p.Card)
	}
	for name, platform := range map[string]bot.Platform{"cannot": bottest.Mute{Platform: h.stage}, "foreign": h.stage} {
		h.open(t, platform)
		h.stage.Fails = []error{bot.ErrGone}
		r := r
		if name == "foreign" {
			r.Brief.Requester = "discord:1"
		}
		if res := h.call(t, r, postAsk); res.State != agent.OutcomeError || !strings.Contains(res.Text, "directly either") {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

// A post's request ends well before the deadline after which others look for it.
func TestPostsEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := onStage(t)
		h.stage.Slow = time.Hour
		began := time.Now()
		if res := h.call(t, inThread(agent.RunStarted{}), postAsk); res.State != agent.OutcomeUnknown {
			t.Errorf("result %+v", res)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it ended after %s of %s", took, h.Deadline(postAsk))
		}
		end := time.Now().Add(50 * time.Millisecond) // less than what is kept free
		ctx, cancel := context.WithDeadline(t.Context(), end)
		defer cancel()
		if res := h.Post(ctx, inThread(agent.RunStarted{}), postAsk, agent.Call{Deadline: end}); res.Again <= 0 || len(h.stage.Ends) != 1 {
			t.Errorf("too late to send: %+v, %d requests", res, len(h.stage.Ends))
		}
	})
}

func TestFind(t *testing.T) {
	r := inThread(agent.RunStarted{}, bottest.On(agent.Main, agent.Reported{Artifacts: agent.Texts{"out/REPORT.md"}}))
	there, direct := bot.Posted{Message: bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "8"}, Thread: bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "17.1"}}, bot.Posted{Message: bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1", ID: "9"}}
	for _, tt := range []struct {
		name  string
		post  agent.Post
		found map[string]bot.Posted
		fails []error
		noDM  error
		want  string // message, "" for not found
		err   error
	}{
		{"in its thread", postAsk, map[string]bot.Posted{"slack:T1:C1:17.1": there}, nil, nil, "slack:T1:C1:8", nil},
		{"nowhere", postAsk, nil, nil, nil, "", nil},
		{"with the requester", postReport, map[string]bot.Posted{"slack:T1:DU1:": direct}, nil, nil, "slack:T1:DU1:9", nil},
		{"with the requester, the thread is gone", postReport, map[string]bot.Posted{"slack:T1:DU1:": direct}, []error{bot.ErrGone}, nil, "slack:T1:DU1:9", nil},
		{"no requester", postReport, nil, nil, bot.ErrGone, "", nil},
		{"the requester cannot be asked for", postReport, nil, nil, bot.ErrLost, "", bot.ErrLost},
		{"no answer", postAsk, nil, []error{bot.ErrLost}, nil, "", bot.ErrLost},
		{"no answer from the requester", postAsk, nil, []error{nil, bot.ErrLost}, nil, "", bot.ErrLost},
		{"an upload", postUpload, map[string]bot.Posted{"slack:T1:C1:17.1/REPORT.md": there}, nil, nil, "slack:T1:C1:8", nil},
		{"no upload", postUpload, nil, nil, nil, "", nil},
		{"what may be repeated", postClose, nil, []error{bot.ErrLost}, nil, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			h.stage.Found, h.stage.Fails, h.stage.NoDM = tt.found, tt.fails, tt.noDM
			deadline := bottest.TaleBegin.Add(h.Deadline(tt.post))
			done, res, err := h.Find(t.Context(), r, tt.post, agent.ToolIntent{Deadline: deadline})
			if !errors.Is(err, tt.err) || done != (tt.want != "") {
				t.Fatalf("done %v, %v", done, err)
			}
			if done && shownOf(t, res).Message != tt.want {
				t.Errorf("found at %s, want %s", res.Text, tt.want)
			}
			for _, since := range h.stage.Asked {
				if !since.Equal(bottest.TaleBegin.Add(-time.Minute)) {
					t.Errorf("looked since %s", since)
				}
			}
		})
	}
}

func TestMay(t *testing.T) {
	asked := inThread(agent.RunStarted{}, bottest.Posting(postAsk), bottest.ShownAs(postAsk.Key, "slack:T1:C1:20"))
	for _, tt := range []struct {
		post agent.Post
		pace string
	}{{postCard, "post/slack:T1:C1"}, {postAsk, "post/slack:T1:C1"}, {postUpload, "post/slack:T1:C1"}, {postClose, "edit/T1"}, {postFile, ""}} {
		h := onStage(t)
		h.turns.Waits = []time.Duration{5 * time.Second}
		wait, err := h.May(t.Context(), asked, tt.post)
		if tt.pace == "" {
			if wait != 0 || err != nil || len(h.turns.Taken) > 0 {
				t.Errorf("%s takes a turn", tt.post.Key)
			}
			continue
		}
		if err != nil || wait != 5*time.Second || h.turns.Taken[0].Name != tt.pace {
			t.Errorf("%s waits %s for %+v, %v", tt.post.Key, wait, h.turns.Taken, err)
		}
	}
	h := onStage(t)
	h.turns.Err = bottest.ErrNoReason
	if _, err := h.May(t.Context(), asked, postAsk); !errors.Is(err, bottest.ErrNoReason) {
		t.Errorf("error %v", err)
	}
}

// "Is working" is a status that keeps people from writing: it goes before a
// question comes.
func TestMayClearsTheStatus(t *testing.T) {
	h := onStage(t)
	r := inThread(agent.RunStarted{})
	if _, err := h.May(t.Context(), r, postAsk); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"17.1=asking Count the lines of our services and write a report"}, h.stage.Status); diff != "" {
		t.Error(diff)
	}
}

// A run of a platform that this process does not know is left to others.
func TestElsewhere(t *testing.T) {
	h := onStage(t)
	r := inThread(agent.RunStarted{ReplyTo: "discord:1:2:3"})
	r.Shown = map[string]agent.Shown{"card": {Message: "discord:1:2:4", Thread: "discord:1:2:3"}}
	if wait, err := h.May(t.Context(), r, postAsk); wait != elsewhere || err != nil {
		t.Errorf("May: %s, %v", wait, err)
	}
	if res := h.call(t, r, postAsk); res.Again != elsewhere {
		t.Errorf("Post: %+v", res)
	}
	if _, _, err := h.Find(t.Context(), r, postAsk, agent.ToolIntent{}); err == nil {
		t.Error("Find says that it is not there")
	}
	if again := h.Show(t.Context(), r); again != elsewhere {
		t.Errorf("Show: again in %s", again)
	}
	lost := bottest.Told(agent.RunStarted{ReplyTo: "nowhere"})
	if wait, err := h.May(t.Context(), lost, postCard); wait != 0 || err != nil {
		t.Errorf("May of no address: %s, %v", wait, err)
	}
	if res := h.call(t, lost, postCard); res.State != agent.OutcomeError {
		t.Errorf("Post to no address: %+v", res)
	}
	if done, _, err := h.Find(t.Context(), lost, postCard, agent.ToolIntent{}); done || err != nil {
		t.Errorf("Find at no address: %v, %v", done, err)
	}
}

// A run of a platform that is not connected is left alone until it is: for a
// moment where the process has only begun, for another one may be connected.
func TestPlatformThatJoins(t *testing.T) {
	h := onStage(t)
	synctest.Test(t, func(t *testing.T) {
		h.Poster = New(Config{Paces: h.turns, Audience: stageApprovers.Audience, Files: h.files, PostTimeout: postTimeout})
		r := inThread(agent.RunStarted{})
		if wait, err := h.May(t.Context(), r, postAsk); wait != lostPause || err != nil {
			t.Errorf("at the beginning: %s, %v", wait, err)
		}
		<-time.After(connecting)
		if wait, err := h.May(t.Context(), r, postAsk); wait != elsewhere || err != nil {
			t.Errorf("before: %s, %v", wait, err)
		}
		h.Join(h.stage)
		if wait, err := h.May(t.Context(), r, postAsk); wait != 0 || err != nil {
			t.Errorf("after: %s, %v", wait, err)
		}
	})
}
