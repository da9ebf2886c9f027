package slack

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// shows has a session shown and says what Slack has after it.
func shows(t *testing.T, w *slacktest.Server, s *Slack, thread bot.Address, shown, before bot.Session) (slacktest.Session, time.Duration) {
	t.Helper()
	fades, err := s.ShowSession(t.Context(), thread, shown, before)
	if err != nil {
		t.Fatalf("%+v: %v", shown, err)
	}
	return w.Session(thread.Channel, thread.ID), fades
}

func TestSession(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	thread := general(w.Mention(slacktest.Ann, slacktest.General, "", "do it"))
	var before bot.Session
	for _, c := range []struct {
		shown  bot.Session
		status string
		fades  bool
	}{
		{bot.Session{Status: bot.SessionWorking, Title: "count: files"}, "processing", true},
		{bot.Session{Status: bot.SessionAsking, Title: "count: files"}, "suspended", false},
		{bot.Session{Status: bot.SessionWorking, Title: "count: files"}, "processing", true},
		{bot.Session{Status: bot.SessionWorking, Title: "Files by folder"}, "processing", true},
		{bot.Session{Status: bot.SessionIdle, Title: "Files by folder"}, "active", false},
		{bot.Session{Status: bot.SessionOver, Title: "Files by folder"}, "closed", false},
	} {
		now, fades := shows(t, w, s, thread, c.shown, before)
		if title := strings.ReplaceAll(c.shown.Title, ":", "_"); now.Status != c.status || now.Title != title || (fades > 0) != c.fades {
			t.Errorf("%+v: %+v for %s", c.shown, now, fades)
		}
		before = c.shown
	}
	if set, named := w.Count("agents.sessions.setStatus"), w.Count("agents.sessions.rename"); set != 5 || named != 1 {
		t.Errorf("%d statuses and %d titles were set", set, named)
	}
	if _, err := s.ShowSession(t.Context(), general(""), before, bot.Session{}); err != nil || w.Count("agents.sessions.setStatus") != 5 {
		t.Errorf("without a thread: %v", err)
	}
}

// Another process does not know what a session is called: it asks Slack, and the
// next run of a thread gives it its own title.
func TestSessionAfterARestart(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	thread := general(w.Mention(slacktest.Ann, slacktest.General, "", "do it"))
	first, next := bot.Session{Status: bot.SessionWorking, Title: "do it"}, bot.Session{Status: bot.SessionOver, Title: "Done as planned"}
	shows(t, w, s, thread, first, bot.Session{})
	if now, _ := shows(t, w, s, thread, first, bot.Session{}); now.Title != "do it" || w.Count("agents.sessions.rename") != 0 {
		t.Errorf("again: %+v, renamed %d times", now, w.Count("agents.sessions.rename"))
	}
	if now, _ := shows(t, w, s, thread, next, bot.Session{}); now.Title != next.Title || now.Status != "closed" {
		t.Errorf("later: %+v", now)
	}
}

func TestSomebodysOwnTitleStays(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	ts := r.Mention(slacktest.Ann, slacktest.General, "", "do it")
	r.Hears(1)
	if err := r.Names.SetValue(t.Context(), agent.ThreadName(general(ts).String()), "run1"); err != nil {
		t.Fatal(err)
	}
	shows(t, r.Server, r.s, general(ts), bot.Session{Status: bot.SessionWorking, Title: "do it"}, bot.Session{})
	if err := r.NameSession(slacktest.Ann, slacktest.General, ts, "Ann's own"); err != nil {
		t.Fatal(err)
	}
	for own := ""; own != "run1/own"; <-time.After(time.Millisecond) {
		var err error
		if own, err = r.Names.Value(t.Context(), titled(general(ts))); err != nil {
			t.Fatal(err)
		}
	}
	now, _ := shows(t, r.Server, r.s, general(ts), bot.Session{Status: bot.SessionWorking, Title: "The plan"}, bot.Session{Status: bot.SessionWorking, Title: "do it"})
	if now.Title != "Ann's own" || r.Count("agents.sessions.rename") != 0 {
		t.Errorf("%+v", now)
	}
}

// A Stop button that stands where nothing works goes when it is pressed.
func TestAStopWithoutARun(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	ts := r.Mention(slacktest.Ann, slacktest.General, "", "do it")
	r.Hears(1)
	shows(t, r.Server, r.s, general(ts), bot.Session{Status: bot.SessionWorking, Title: "do it"}, bot.Session{})
	if err := r.Stop(slacktest.Ann, slacktest.General, ts); err != nil {
		t.Fatal(err)
	}
	r.until("the session is not processing", func() bool { return r.Session(slacktest.General, ts).Status == "active" })
	run := agent.RunID("run1")
	if err := r.Names.SetValue(t.Context(), agent.ThreadName(general(ts).String()), string(run)); err != nil {
		t.Fatal(err)
	}
	r.s.cfg.Live = func(context.Context) ([]agent.RunID, error) { return []agent.RunID{run}, nil }
	before := r.Count("agents.sessions.setStatus")
	if r.s.settle(t.Context(), general(ts)); r.Count("agents.sessions.setStatus") != before {
		t.Error("the session of a run that lives was changed")
	}
}

func TestWithoutSessions(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w, s := shown(t, slacktest.Config{}, &log)
	thread := general(w.Mention(slacktest.Ann, slacktest.General, "", "do it"))
	w.Fail("agents.sessions.setStatus", 1, slacktest.APIError("not_agent_app"))
	var texts []string
	for _, status := range []bot.SessionStatus{bot.SessionWorking, bot.SessionAsking, bot.SessionWorking, bot.SessionIdle, bot.SessionOver} {
		fades, err := s.ShowSession(t.Context(), thread, bot.Session{Status: status, Title: "do it"}, bot.Session{})
		if err != nil || (fades > 0) != (status == bot.SessionWorking) {
			t.Errorf("%s: %s, %v", status, fades, err)
		}
		texts = append(texts, w.Status(thread.Channel, thread.ID))
	}
	if want := []string{workingText, "", workingText, "", ""}; !slices.Equal(texts, want) || w.Count("agents.sessions.rename") > 0 || w.Count("agents.sessions.setStatus") != 1 {
		t.Errorf("shown %q", texts)
	}
	w.Fail("assistant.threads.setStatus", 9, slacktest.APIError("unknown_method"))
	before := w.Count("assistant.threads.setStatus")
	for range 3 {
		if _, err := s.ShowSession(t.Context(), thread, bot.Session{Status: bot.SessionWorking}, bot.Session{}); err != nil {
			t.Errorf("an old workspace: %v", err)
		}
	}
	if n := w.Count("assistant.threads.setStatus") - before; n != 1 || strings.Count(log.String(), "method=assistant.threads.setStatus") != 1 {
		t.Errorf("asked %d times; logged %q", n, log.String())
	}
}

// A limit is waited for: it is no reason to go another way.
func TestLimitedSessions(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	thread := general(w.Mention(slacktest.Ann, slacktest.General, "", "do it"))
	w.Fail("agents.sessions.setStatus", 1, slacktest.RateLimited(4e9))
	_, err := s.ShowSession(t.Context(), thread, bot.Session{Status: bot.SessionWorking}, bot.Session{})
	checkTrouble(t, err, nil, 4e9)
	_, err = s.ShowSession(t.Context(), thread, bot.Session{Status: bot.SessionWorking}, bot.Session{})
	if busy, is := errors.AsType[*bot.BusyError](err); !is || busy.After > 4*time.Second {
		t.Errorf("while it is limited: %v", err)
	}
	if n := w.Count("agents.sessions.setStatus"); n != 1 || w.Count("assistant.threads.setStatus") != 0 {
		t.Errorf("asked %d times while it is limited", n)
	}
	s.features.limit("agents.sessions.setStatus", 0)
	if now, _ := shows(t, w, s, thread, bot.Session{Status: bot.SessionWorking}, bot.Session{}); now.Status != "processing" {
		t.Errorf("after the limit: %+v", now)
	}
}
