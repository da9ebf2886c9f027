package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// stage is a platform with a store, and the children that work there.
type stage struct {
	Server
	*crash.Backend

	dir    string
	output *os.File // of the children
	store  app.OpenedStore
	desk   *runs.Client
	count  atomic.Int64 // of the runs that were started
	last   played       // by Play

	children []*crash.Child
	fell     chan error // a child that ended by itself: nobody works any more
}

// build opens a new, empty stage.
func build(t *testing.T, a Adapter, k crash.Kind) *stage {
	t.Helper()
	s := &stage{Server: a.Server(t), dir: t.TempDir(), fell: make(chan error, 1)}
	s.Backend = crash.StartBackend(t, k, filepath.Join(s.dir, "data"), lease)
	var err error
	if s.output, err = os.Create(filepath.Join(s.dir, "output")); err != nil {
		t.Fatal(err)
	}
	if s.store, err = s.Open(t.Context(), sqlite.Guest); err != nil {
		t.Fatal(err)
	}
	s.desk = &runs.Client{Journals: s.store}
	t.Cleanup(func() {
		for _, c := range s.children {
			c.Kill()
		}
		if err := errors.Join(s.fallen(), s.store.Close(), s.output.Close()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			said, err := os.ReadFile(s.output.Name())
			t.Logf("the children's last words (%v):\n%s", err, said[max(0, len(said)-6000):])
		}
	})
	return s
}

func (s *stage) orders(at crash.Boundary) orders {
	return orders{Store: s.Place, Dir: s.dir, Ticket: s.Ticket(), At: at, Workers: 8}
}

// Spawn starts a child in reserve that dies in the run that is the ahead-th from
// now, or in a later one.
func (s *stage) Spawn(at crash.Boundary, ahead int) (*crash.Child, error) {
	o := s.orders(at)
	o.From = int(s.count.Load()) + ahead
	c, err := crash.Start(o, s.output, func(err error) {
		select {
		case s.fell <- err:
		default: // the first is enough
		}
	})
	if err == nil {
		s.children = append(s.children, c)
	}
	return c, err
}

// Play plays the next run.
func (s *stage) Play(ctx context.Context) (err error) {
	s.last, err = s.bounded(ctx)
	return err
}

// Verify looks at the run that was played last.
func (s *stage) Verify(ctx context.Context) error { return s.verify(ctx, s.last) }

// firstRun is a run without a death: then the channel is known, so that what is
// said while nobody works is found afterwards.
func (s *stage) firstRun(ctx context.Context) error {
	worker, err := s.Spawn(crash.Boundary{}, 1)
	if err != nil {
		return err
	}
	defer worker.Kill()
	err = errors.Join(worker.Open(), s.Greet(ctx, 1))
	if err == nil {
		err = s.Play(ctx)
	}
	if err == nil {
		err = s.Verify(ctx)
	}
	if err != nil {
		return fmt.Errorf("before anybody dies: %w", err)
	}
	return nil
}

// fallen says that a child ended by itself, if nobody was told yet.
func (s *stage) fallen() error {
	select {
	case err := <-s.fell:
		return err
	default:
		return nil
	}
}

// bounded plays one run as long as patience lasts and no child ends by itself:
// what is left then waits for nobody.
func (s *stage) bounded(ctx context.Context) (played, error) {
	ctx, end := context.WithTimeout(ctx, crashPatience)
	defer end()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go func() {
		select {
		case err := <-s.fell:
			fail(err)
		case <-ctx.Done():
		}
	}()
	st, err := s.play(ctx)
	if err != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return st, err
}

// played is one run as its people see it.
type played struct {
	goal string
	run  agent.RunID
	ask  Post
}

// play mentions a goal, approves what is asked, and waits for the report. A
// click that was acknowledged is not repeated.
func (s *stage) play(ctx context.Context) (st played, err error) {
	st.goal = fmt.Sprintf("Look after berth no. %d", s.count.Add(1))
	s.Mention(Ann, s.Channel(), st.goal)
	if st.ask, err = s.post(ctx, agent.PostCheckpoint, st.goal); err != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		run, look := s.runOf(last, st.goal)
		return st, fmt.Errorf("%s: no question: %w\n%s", st.goal, errors.Join(err, look), s.told(ctx, run))
	}
	if err := s.approve(ctx, st.ask); err != nil {
		return st, fmt.Errorf("%s: no click was taken: %w", st.goal, err)
	}
	if st.run, err = s.runOf(ctx, st.goal); err != nil {
		return st, err
	}
	r, err := s.follow(ctx, st.run, func(r agent.Run) bool {
		_, closed := r.Shown["close/"+string(r.Asked[0])]
		return r.Ended != nil && r.Shown["report"].Message != "" && closed
	})
	if err != nil {
		return st, fmt.Errorf("%s: %w; it stands at %+v\n%s", st.goal, err, card.StatusOf(r), s.told(ctx, st.run))
	}
	err = s.Wait(ctx, func() bool { return s.shows(r) })
	if err != nil {
		return st, fmt.Errorf("%s: its messages never showed its end: %w", st.goal, err)
	}
	return st, nil
}

// approve clicks until the click is acknowledged, or the button is gone: then
// one was taken whose acknowledgement was lost.
func (s *stage) approve(ctx context.Context, ask Post) error {
	for s.Click(Ann, ask.Message, "Approve") != nil {
		for _, p := range s.Posts() {
			if p.Message == ask.Message && len(p.Buttons) == 0 {
				return nil
			}
		}
		if err := s.Greet(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// post waits for a post of the kind that names the goal.
func (s *stage) post(ctx context.Context, kind agent.PostKind, goal string) (p Post, err error) {
	err = s.Wait(ctx, func() bool {
		for _, p = range s.Posts() {
			if p.Kind == kind && strings.Contains(p.Text+"\n", goal+"\n") {
				return true
			}
		}
		return false
	})
	return p, err
}

// runOf is the one run that has the goal.
func (s *stage) runOf(ctx context.Context, goal string) (found agent.RunID, err error) {
	var infos []agent.RunInfo
	err = crash.Insist(ctx, func() (err error) {
		infos, err = s.store.Runs(ctx, agent.RunFilter{})
		return err
	})
	if err != nil {
		return "", err
	}
	for _, info := range infos {
		r, err := s.load(ctx, info.Run)
		switch {
		case err != nil:
			return "", err
		case r.Brief.Goal != goal:
		case found != "":
			return "", fmt.Errorf("two runs have the goal %s: %s and %s", goal, found, info.Run)
		default:
			found = info.Run
		}
	}
	if found == "" {
		return "", fmt.Errorf("no run has the goal %s", goal)
	}
	return found, nil
}

func (s *stage) follow(ctx context.Context, run agent.RunID, holds func(agent.Run) bool) (r agent.Run, err error) {
	for {
		if r, err = s.load(ctx, run); err != nil || holds(r) {
			return r, err
		}
		if err := s.store.Await(ctx, run, r.Seq); err != nil && ctx.Err() != nil {
			return r, err
		}
	}
}

// load reads the run, also while a master of the store is away.
func (s *stage) load(ctx context.Context, run agent.RunID) (r agent.Run, err error) {
	err = crash.Insist(ctx, func() (err error) {
		r, err = s.desk.Load(ctx, run)
		return err
	})
	return r, err
}

// read is the run's journal, also while a master of the store is away.
func (s *stage) read(ctx context.Context, run agent.RunID) (events []agent.Event, err error) {
	err = crash.Insist(ctx, func() (err error) {
		events, err = s.store.Read(ctx, run, 0)
		return err
	})
	return events, err
}

// shows says whether the run's thread shows its end: the card says so, nothing
// has buttons but the report, and nobody is said to be at work any more.
func (s *stage) shows(r agent.Run) bool {
	for _, p := range s.Posts() {
		switch {
		case p.Message.String() == r.Card():
			if !strings.Contains(p.Text, "Done") || len(p.Buttons) > 0 {
				return false
			}
		case isOf(r, p) && p.Kind == agent.PostCheckpoint && len(p.Buttons) > 0:
			return false
		}
	}
	thread, err := bot.ParseAddress(r.Thread())
	return err == nil && !s.Works(thread)
}

// verify looks for anything of the run that was lost or repeated.
func (s *stage) verify(ctx context.Context, st played) error {
	if _, err := s.runOf(ctx, st.goal); err != nil {
		return err
	}
	events, err := s.read(ctx, st.run)
	if err != nil {
		return err
	}
	var errs []error
	decisions := 0
	for _, e := range events {
		if _, is := e.Body.(agent.CheckpointDecided); is {
			decisions++
		}
	}
	r := agent.Run{}.Fold(events)
	if decisions != 1 || len(r.Asked) != 1 {
		errs = append(errs, fmt.Errorf("%d questions have %d decisions", len(r.Asked), decisions))
	}
	if r.Ended.State != agent.RunDone {
		errs = append(errs, fmt.Errorf("it ended %+v", r.Ended))
	}
	errs = append(errs, s.postedOnce(r))
	berth := numberedBerth.FindString(st.goal)
	text, err := os.ReadFile(filepath.Join(s.orders(crash.Boundary{}).workspace(), s.Channel().Folder(), logFile(berth)))
	if string(text) != berth+"\n" {
		errs = append(errs, fmt.Errorf("its file has %q instead of its line once (%w)", text, err))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s (%s): %w\n%s", st.goal, st.run, err, crash.Journal(events))
	}
	return nil
}

// postedOnce wants one card, one question and one report of the run.
func (s *stage) postedOnce(r agent.Run) error {
	var errs []error
	count := map[agent.PostKind]int{}
	for _, p := range s.Posts() {
		if strings.HasPrefix(p.Key, string(r.ID)) || isOf(r, p) {
			count[p.Kind]++
		}
	}
	for _, kind := range []agent.PostKind{agent.PostCard, agent.PostCheckpoint, agent.PostReport} {
		if count[kind] != 1 {
			errs = append(errs, fmt.Errorf("%d posts of kind %s", count[kind], kind))
		}
	}
	if twice := repeated(s.Posts()); len(twice) > 0 {
		errs = append(errs, fmt.Errorf("posted more than once: %q", twice))
	}
	return errors.Join(errs...)
}

// told is what a run's journal says, for people, also when time is up.
func (s *stage) told(ctx context.Context, run agent.RunID) string {
	events, err := s.store.Read(context.WithoutCancel(ctx), run, 0)
	if err != nil {
		return err.Error()
	}
	return crash.Journal(events)
}
