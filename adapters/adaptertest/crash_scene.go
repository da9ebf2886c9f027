package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// scene is a far side with a store, and the children that work there.
type scene struct {
	Far
	test  string // that calls Child
	dir   string
	words *os.File
	store *sqlite.Store
	desk  *runs.Client
	berth atomic.Int64
	kids  []*child
	fell  chan error // a child that ended by itself: nobody works any more
}

// build opens a new, empty scene.
func build(t *testing.T, a Adapter, test string) *scene {
	t.Helper()
	s := &scene{Far: a.Far(t), test: test, dir: t.TempDir(), fell: make(chan error, 1)}
	var err error
	if s.words, err = os.Create(filepath.Join(s.dir, "words")); err != nil {
		t.Fatal(err)
	}
	if s.store, err = sqlite.Open(t.Context(), sqlite.Config{Dir: s.orders(boundary{}).data(), Lease: lease}, sqlite.Guest); err != nil {
		t.Fatal(err)
	}
	s.desk = &runs.Client{Journals: s.store}
	t.Cleanup(func() {
		for _, c := range s.kids {
			c.kill()
		}
		if err := errors.Join(s.fallen(), s.store.Close(), s.words.Close()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			said, err := os.ReadFile(s.words.Name())
			t.Logf("the children's last words (%v):\n%s", err, said[max(0, len(said)-6000):])
		}
	})
	return s
}

func (s *scene) orders(at boundary) orders {
	return orders{Dir: s.dir, Ticket: s.Ticket(), At: at, Workers: 8}
}

// spawn starts a child in reserve that dies in the run that is the ahead-th from
// now, or in a later one.
func (s *scene) spawn(at boundary, ahead int) (*child, error) {
	o := s.orders(at)
	o.From = int(s.berth.Load()) + ahead
	c, err := spawn(o, s.test, s.words, func(err error) {
		select {
		case s.fell <- err:
		default: // the first is enough
		}
	})
	if err == nil {
		s.kids = append(s.kids, c)
	}
	return c, err
}

// fallen says that a child ended by itself, if nobody was told yet.
func (s *scene) fallen() error {
	select {
	case err := <-s.fell:
		return err
	default:
		return nil
	}
}

// bounded plays one run as long as patience lasts and no child ends by itself:
// what is left then waits for nobody.
func (s *scene) bounded(ctx context.Context) (story, error) {
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

// story is one run as its people see it.
type story struct {
	goal string
	run  agent.RunID
	ask  Post
}

// play mentions a goal, approves what is asked, and waits for the report. A
// click that was acknowledged is not repeated.
func (s *scene) play(ctx context.Context) (st story, err error) {
	st.goal = fmt.Sprintf("Look after berth no. %d", s.berth.Add(1))
	s.Mention(Ann, s.Channel(), st.goal)
	if st.ask, err = s.post(ctx, agent.PostCheckpoint, st.goal); err != nil {
		run, look := s.runOf(context.WithoutCancel(ctx), st.goal)
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
func (s *scene) approve(ctx context.Context, ask Post) error {
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
func (s *scene) post(ctx context.Context, kind agent.PostKind, goal string) (p Post, err error) {
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
func (s *scene) runOf(ctx context.Context, goal string) (found agent.RunID, err error) {
	infos, err := s.store.Runs(ctx)
	if err != nil {
		return "", err
	}
	for _, info := range infos {
		r, err := s.desk.Load(ctx, info.Run)
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

func (s *scene) follow(ctx context.Context, run agent.RunID, holds func(agent.Run) bool) (r agent.Run, err error) {
	for {
		if r, err = s.desk.Load(ctx, run); err != nil || holds(r) {
			return r, err
		}
		if err := s.store.Await(ctx, run, r.Seq); err != nil {
			return r, err
		}
	}
}

// shows says whether the run's messages show its end: the card says so, and
// nothing has buttons but the report.
func (s *scene) shows(r agent.Run) bool {
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
	return true
}

// verify looks for anything of the run that was lost or repeated.
func (s *scene) verify(ctx context.Context, st story) error {
	if _, err := s.runOf(ctx, st.goal); err != nil {
		return err
	}
	events, err := s.store.Read(ctx, st.run, 0)
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
	count := map[agent.PostKind]int{}
	for _, p := range s.Posts() {
		if strings.HasPrefix(p.Key, string(st.run)) || isOf(r, p) {
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
	text, err := os.ReadFile(filepath.Join(s.orders(boundary{}).workspace(), s.Channel().Folder(), logFile))
	if n := strings.Count("\n"+string(text), "\n"+berth.FindString(st.goal)+"\n"); n != 1 {
		errs = append(errs, fmt.Errorf("its line stands in the file %d times (%w)", n, err))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s (%s): %w\n%s", st.goal, st.run, err, tale(events))
	}
	return nil
}

// told is what a run's journal says, for people, also when time is up.
func (s *scene) told(ctx context.Context, run agent.RunID) string {
	events, err := s.store.Read(context.WithoutCancel(ctx), run, 0)
	if err != nil {
		return err.Error()
	}
	return tale(events)
}

// tale is a journal for people.
func tale(events []agent.Event) string {
	var b strings.Builder
	for _, e := range events {
		body, err := agent.EncodeBody(e.Body)
		fmt.Fprintf(&b, "%4d %s %-8s %-20s %.300s %v\n", e.Seq, e.At.Format("05.000"), e.Strand, e.Body.Kind(), body, err)
	}
	return b.String()
}
