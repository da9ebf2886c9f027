package bot

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
)

// The voice is what the loop asks for (agent/loop, Voice).
var _ interface {
	May(ctx context.Context, r agent.Run, p agent.Post) (wait time.Duration, err error)
	Post(ctx context.Context, r agent.Run, p agent.Post, c agent.Call) agent.Result
	Find(ctx context.Context, r agent.Run, p agent.Post, in agent.ToolIntent) (done bool, result agent.Result, err error)
	Show(ctx context.Context, r agent.Run) (again time.Duration)
	Deadline(p agent.Post) time.Duration
} = (*Voice)(nil)

var (
	postCard   = agent.Post{Key: "card", Kind: agent.PostCard}
	postAsk    = agent.Post{Key: "ask/" + taleRun + "-q", Kind: agent.PostCheckpoint, About: taleRun + "-q"}
	postRemind = agent.Post{Key: "remind/" + taleRun + "-q", Kind: agent.PostCheckpoint, About: taleRun + "-q"}
	postClose  = agent.Post{Key: "close/" + taleRun + "-q", Kind: agent.PostClose, About: taleRun + "-q"}
	postReport = agent.Post{Key: "report", Kind: agent.PostReport}
	postUpload = agent.Post{Key: "upload/0", Kind: agent.PostUpload, About: "out/REPORT.md"}
	postFile   = agent.Post{Key: "file/0", Kind: agent.PostAttach, About: "0"}
)

// inThread is a run whose card opened a thread and whose question is shown.
func inThread(brief agent.RunStarted, happened ...agent.Event) agent.Run {
	if brief.ReplyTo == "" {
		brief.ReplyTo = "slack:T1:C1:"
	}
	r := told(brief, asksFor(agent.Main, askApproval), posting(postCard), shownAs("card", "slack:T1:C1:17.1"))
	return more(r, happened...)
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
	over := more(asked, on(agent.Main, agent.Reported{Headline: "done"}), on(agent.Main, agent.RunEnded{State: agent.RunDone}))
	for _, tt := range []struct {
		name string
		run  agent.Run
		post agent.Post
		to   string
		want agent.Shown
	}{
		{"the card opens a thread", told(agent.RunStarted{ReplyTo: "slack:T1:C1:"}), postCard, "slack:T1:C1:", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}},
		{"the card in a thread", told(agent.RunStarted{ReplyTo: "slack:T1:C1:9"}), postCard, "slack:T1:C1:9", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:9"}},
		{"a question", asked, postAsk, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"a reminder", asked, postRemind, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"the report", over, postReport, "slack:T1:C1:17.1", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:17.1"}},
		{"a question without a thread", told(agent.RunStarted{ReplyTo: "slack:T1:C1:"}, asksFor(agent.Main, askApproval)), postAsk, "slack:T1:C1:", agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			if diff := cmp.Diff(tt.want, shownOf(t, h.call(t, tt.run, tt.post))); diff != "" {
				t.Error(diff)
			}
			if got := h.stage.posts[0]; got.to != tt.to || got.card.Key != (Key{taleRun, tt.post.Key, tt.post.Kind}) {
				t.Errorf("posted to %s as %+v", got.to, got.card.Key)
			}
		})
	}
}

// A decided question loses its buttons, and so does its reminder.
func TestClose(t *testing.T) {
	h := onStage(t)
	r := inThread(agent.RunStarted{}, posting(postAsk), shownAs(postAsk.Key, "slack:T1:C1:20"), posting(postRemind), shownAs(postRemind.Key, "slack:T1:C1:30"), decided(agent.DecideDeny, "no"))
	res := h.Post(t.Context(), r, postClose, agent.Call{})
	if shownOf(t, res) != (agent.Shown{}) {
		t.Errorf("result %+v", res)
	}
	var got []string
	for _, e := range h.stage.edits {
		got = append(got, e.to+" "+e.card.Key.Name)
	}
	if diff := cmp.Diff([]string{"slack:T1:C1:20 " + postAsk.Key, "slack:T1:C1:30 " + postRemind.Key}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTroubleWithPosts(t *testing.T) {
	r := inThread(agent.RunStarted{}, posting(postAsk), shownAs(postAsk.Key, "slack:T1:C1:20"), decided(agent.DecideDeny, ""))
	wrap := func(err error) error { return fmt.Errorf("post: %w", err) }
	for _, tt := range []struct {
		name  string
		post  agent.Post
		fails []error
		want  agent.Result // text: a part of it
		log   string
	}{
		{"busy", postAsk, []error{wrap(&BusyError{After: 7 * time.Second})}, agent.Result{Again: 7 * time.Second}, ""},
		{"busy for no time", postAsk, []error{&BusyError{}}, agent.Result{Again: time.Second}, ""},
		{"lost", postAsk, []error{wrap(ErrLost)}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"timeout", postAsk, []error{wrap(context.DeadlineExceeded)}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"refused", postAsk, []error{wrap(ErrRefused)}, agent.Result{Again: time.Second}, "ERROR"},
		{"refused for good", postAsk, []error{errNoReason}, agent.Result{State: agent.OutcomeError, Text: "invalid_blocks"}, "ERROR"},
		{"gone everywhere", postAsk, []error{wrap(ErrGone), wrap(ErrGone)}, agent.Result{State: agent.OutcomeError, Text: "and the requester"}, "ERROR"},
		{"gone, then busy", postAsk, []error{ErrGone, &BusyError{After: time.Second}}, agent.Result{Again: time.Second}, ""},
		{"gone, then lost", postAsk, []error{ErrGone, ErrLost}, agent.Result{State: agent.OutcomeUnknown}, "WARN"},
		{"a lost edit is made again", postClose, []error{wrap(ErrLost)}, agent.Result{Again: time.Second}, ""},
		{"an edit of nothing", postClose, []error{wrap(ErrGone)}, agent.Result{State: agent.OutcomeError, Text: "not there"}, "ERROR"},
		{"a question that nobody asked", agent.Post{Key: "ask/x", Kind: agent.PostCheckpoint, About: "x"}, nil, agent.Result{State: agent.OutcomeError, Text: "no such checkpoint"}, "ERROR"},
		{"no kind of a run's", agent.Post{Key: "x", Kind: agent.PostAnswer}, nil, agent.Result{State: agent.OutcomeError, Text: "posts no answer"}, "ERROR"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			h.stage.fails = tt.fails
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
		h.stage.fails = []error{ErrRefused}
		if got := h.Post(t.Context(), inThread(agent.RunStarted{}), postAsk, agent.Call{Deferred: deferred}); got.Again != want {
			t.Errorf("after %d refusals again in %s, want %s", deferred, got.Again, want)
		}
	}
}

// A run's place is gone: the requester hears of it alone, under the same key.
func TestDirectWhereThePlaceIsGone(t *testing.T) {
	r := inThread(agent.RunStarted{})
	h := onStage(t)
	h.stage.fails = []error{fmt.Errorf("is_archived: %w", ErrGone)}
	got := shownOf(t, h.call(t, r, postAsk))
	if want := (agent.Shown{Message: "slack:T1:DU1:m1", Thread: "slack:T1:DU1:m1"}); got != want {
		t.Errorf("shown at %+v, want %+v", got, want)
	}
	p := h.stage.posts[0]
	if note, is := p.card.Parts[0].(Small); p.card.Key.Name != postAsk.Key || !is || !strings.Contains(note.Markdown, "is\\_archived") {
		t.Errorf("posted %+v", p.card)
	}
	for name, platform := range map[string]Platform{"cannot": mute{h.stage}, "foreign": h.stage} {
		h.open(t, platform)
		h.stage.fails = []error{ErrGone}
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
		h.stage.slow = time.Hour
		began := time.Now()
		if res := h.call(t, inThread(agent.RunStarted{}), postAsk); res.State != agent.OutcomeUnknown {
			t.Errorf("result %+v", res)
		}
		if took := time.Since(began); took != 2400*time.Millisecond {
			t.Errorf("it ended after %s of 3s", took)
		}
		end := time.Now().Add(50 * time.Millisecond) // less than what is kept free
		ctx, cancel := context.WithDeadline(t.Context(), end)
		defer cancel()
		if res := h.Post(ctx, inThread(agent.RunStarted{}), postAsk, agent.Call{Deadline: end}); res.Again <= 0 || len(h.stage.ends) != 1 {
			t.Errorf("too late to send: %+v, %d requests", res, len(h.stage.ends))
		}
	})
}

func TestFind(t *testing.T) {
	r := inThread(agent.RunStarted{}, on(agent.Main, agent.Reported{Artifacts: agent.Texts{"out/REPORT.md"}}))
	there, direct := Posted{Message: Address{"slack", "T1", "C1", "8"}, Thread: Address{"slack", "T1", "C1", "17.1"}}, Posted{Message: Address{"slack", "T1", "DU1", "9"}}
	for _, tt := range []struct {
		name  string
		post  agent.Post
		found map[string]Posted
		fails []error
		noDM  error
		want  string // message, "" for not found
		err   error
	}{
		{"in its thread", postAsk, map[string]Posted{"slack:T1:C1:17.1": there}, nil, nil, "slack:T1:C1:8", nil},
		{"nowhere", postAsk, nil, nil, nil, "", nil},
		{"with the requester", postReport, map[string]Posted{"slack:T1:DU1:": direct}, nil, nil, "slack:T1:DU1:9", nil},
		{"with the requester, the thread is gone", postReport, map[string]Posted{"slack:T1:DU1:": direct}, []error{ErrGone}, nil, "slack:T1:DU1:9", nil},
		{"no requester", postReport, nil, nil, ErrGone, "", nil},
		{"the requester cannot be asked for", postReport, nil, nil, ErrLost, "", ErrLost},
		{"no answer", postAsk, nil, []error{ErrLost}, nil, "", ErrLost},
		{"no answer from the requester", postAsk, nil, []error{nil, ErrLost}, nil, "", ErrLost},
		{"an upload", postUpload, map[string]Posted{"slack:T1:C1:17.1/REPORT.md": there}, nil, nil, "slack:T1:C1:8", nil},
		{"no upload", postUpload, nil, nil, nil, "", nil},
		{"what may be repeated", postClose, nil, []error{ErrLost}, nil, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := onStage(t)
			h.stage.found, h.stage.fails, h.stage.noDM = tt.found, tt.fails, tt.noDM
			deadline := taleBegin.Add(h.Deadline(tt.post))
			done, res, err := h.Find(t.Context(), r, tt.post, agent.ToolIntent{Deadline: deadline})
			if !errors.Is(err, tt.err) || done != (tt.want != "") {
				t.Fatalf("done %v, %v", done, err)
			}
			if done && shownOf(t, res).Message != tt.want {
				t.Errorf("found at %s, want %s", res.Text, tt.want)
			}
			for _, since := range h.stage.asked {
				if !since.Equal(taleBegin.Add(-time.Minute)) {
					t.Errorf("looked since %s", since)
				}
			}
		})
	}
}

func TestMay(t *testing.T) {
	asked := inThread(agent.RunStarted{}, posting(postAsk), shownAs(postAsk.Key, "slack:T1:C1:20"))
	for _, tt := range []struct {
		post agent.Post
		pace string
	}{{postCard, "post/slack:T1:C1"}, {postAsk, "post/slack:T1:C1"}, {postUpload, "post/slack:T1:C1"}, {postClose, "edit/T1"}, {postFile, ""}} {
		h := onStage(t)
		h.turns.waits = []time.Duration{5 * time.Second}
		wait, err := h.May(t.Context(), asked, tt.post)
		if tt.pace == "" {
			if wait != 0 || err != nil || len(h.turns.taken) > 0 {
				t.Errorf("%s takes a turn", tt.post.Key)
			}
			continue
		}
		if err != nil || wait != 5*time.Second || h.turns.taken[0].Name != tt.pace {
			t.Errorf("%s waits %s for %+v, %v", tt.post.Key, wait, h.turns.taken, err)
		}
	}
	h := onStage(t)
	h.turns.err = errNoReason
	if _, err := h.May(t.Context(), asked, postAsk); !errors.Is(err, errNoReason) {
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
	if diff := cmp.Diff([]string{"17.1="}, h.stage.status); diff != "" {
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
	lost := told(agent.RunStarted{ReplyTo: "nowhere"})
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
		h.Voice = NewVoice(VoiceConfig{Paces: h.turns, Audience: stageApprovers.Audience, Files: h.files, PostTimeout: postTimeout})
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
