package demo

// This file plays the demo's goal in a thread, from Ann's mention to her
// rating of the report, in the same way on each local platform.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// timeout bounds the demo: nobody should wait longer for a rehearsal.
const timeout = 5 * time.Minute

// Platform is a local stand-in for a chat platform, with Ann in it.
type Platform interface {
	// URL is where it listens.
	URL() string
	// Close ends it.
	Close()

	// configure tells Deckhand its address and tokens.
	configure(c *config.Config)
	// wait returns once cond holds; it is asked again after every change.
	wait(ctx context.Context, cond func() bool) error
	// say mentions the bot in #general.
	say(goal string)
	// posts are Deckhand's messages in the thread, the oldest first.
	posts() []post
	// click is Ann's, on a button by its label. It reaches Deckhand on the
	// stand-in's own time, as it would from afar: it has no context of ours.
	click(id, label string) error
	// thanked reports whether Ann was told that her rating was noted.
	thanked() bool
	// render writes the thread in plain text.
	render(w io.Writer) error
}

// post is a message of Deckhand's.
type post struct {
	id   string
	kind agent.PostKind
	text string
}

// Thread is the demo in a thread of a platform. Its store is in the
// configuration's data directory.
type Thread struct {
	Platform

	Config  config.Config
	Version string
	Model   llm.Model
	Files   Files
	Out     io.Writer // shows the thread
	Watched bool      // by a person, who is given time to read
}

// Play plays the thread to its end. After it, look is given what happened.
func (t *Thread) Play(ctx context.Context, look func(context.Context, *runs.Client) error) error {
	t.configure(&t.Config)
	brief := Brief(t.Config, t.Files)
	goal := brief.Goal // it is said in the thread
	brief.Goal, brief.PlanApproval = "", agent.ApprovePlanAlways
	brief.Folder = "." // there is no other channel whose files would have to be kept apart
	ready := make(chan struct{})
	process, err := app.New(ctx, app.Options{
		Config: t.Config, Version: t.Version, Model: t.Model,
		Brief: func(string) (agent.RunStarted, error) { return brief, nil },
		Ready: func(string) { close(ready) },
	})
	if err != nil {
		return err
	}
	defer process.Close()
	playing, leave := context.WithTimeout(ctx, timeout)
	defer leave()
	group, playing := errgroup.WithContext(playing)
	group.Go(func() error { return process.Run(playing) })
	group.Go(func() error {
		defer leave()
		select {
		case <-ready:
			return t.play(playing, goal)
		case <-playing.Done():
			return fmt.Errorf("no connection to the local stand-in: %w", playing.Err())
		}
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return look(ctx, process.Client())
}

// play is what Ann does, and what she sees.
func (t *Thread) play(ctx context.Context, goal string) error {
	t.say(goal)
	for decided := map[string]bool{}; ; {
		m, err := t.next(ctx, decided)
		if err != nil {
			return err
		}
		t.show()
		if m.kind == agent.PostReport {
			return t.thank(ctx, m)
		}
		decided[m.id] = true
		if t.Watched {
			wait.Sleep(ctx, 2*time.Second)
		}
		fmt.Fprint(t.Out, "\n>>> Ann clicks [Approve]\n")
		if err := t.click(m.id, "Approve"); err != nil {
			return err
		}
	}
}

// next waits for a message that Ann has to act upon, or the report.
func (t *Thread) next(ctx context.Context, decided map[string]bool) (found post, err error) {
	err = t.wait(ctx, func() bool {
		list := t.posts()
		i := slices.IndexFunc(list, func(m post) bool {
			return m.kind == agent.PostReport || (m.kind == agent.PostCheckpoint && !decided[m.id])
		})
		if i >= 0 {
			found = list[i]
		}
		return i >= 0
	})
	if err != nil {
		t.show()
		return found, fmt.Errorf("the thread did not come to its report: %w", err)
	}
	return found, nil
}

// show prints the thread as it stands.
func (t *Thread) show() {
	fmt.Fprintf(t.Out, "\n%s #general %s\n", strings.Repeat("─", 30), strings.Repeat("─", 30))
	if err := t.render(t.Out); err != nil {
		fmt.Fprintln(t.Out, err)
	}
}

// thank rates the report, and shows the end of the thread once the card has
// folded and Ann was answered.
func (t *Thread) thank(ctx context.Context, report post) error {
	fmt.Fprint(t.Out, "\n>>> Ann clicks [Good]\n")
	if err := t.click(report.id, "Good"); err != nil {
		return err
	}
	err := t.wait(ctx, func() bool {
		return t.thanked() && slices.ContainsFunc(t.posts(), func(m post) bool {
			return m.kind == agent.PostCard && strings.Contains(m.text, "Done")
		})
	})
	t.show()
	if err != nil {
		return fmt.Errorf("the thread did not come to its end: %w", err)
	}
	return nil
}
