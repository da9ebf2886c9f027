package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// demoTimeout bounds the demo: nobody should wait longer for a rehearsal.
const demoTimeout = 5 * time.Minute

// demoPlatform is a local stand-in for a chat platform, with Ann in it.
type demoPlatform interface {
	// configure tells Deckhand its address and tokens.
	configure(c *config.Config)
	// connected reports whether Deckhand is there to be spoken to.
	connected() bool
	// wait returns once cond holds; it is asked again after every change.
	wait(ctx context.Context, cond func() bool) error
	// say mentions the bot in #general.
	say(goal string)
	// posts are Deckhand's messages in the thread, the oldest first.
	posts() []played
	// click is Ann's, on a button by its label. It reaches Deckhand on the
	// stand-in's own time, as it would from afar: it has no context of ours.
	click(id, label string) error
	// thanked reports whether Ann was told that her rating was noted.
	thanked() bool
	// render writes the thread in plain text.
	render(w io.Writer) error
	close()
}

// played is a message of Deckhand's.
type played struct {
	id   string
	kind agent.PostKind
	text string
}

// demoChatCommand is the demo in a thread of a platform.
func (a *cli) demoChatCommand(name, title, protocol string, open func() (demoPlatform, string)) *cobra.Command {
	return &cobra.Command{
		Use:   name + " [DIR]",
		Short: "The demo's goal in a " + title + " thread, on a local stand-in for " + title,
		Long: "The demo's goal, asked for by a mention in a channel: acknowledgement, plan, card, approvals by button and\n" +
			"report, as a team would see them. " + title + " is a local stand-in that speaks its protocol (" + protocol + ",\n" +
			"on loopback); the people in it and the model are scripted; everything else is Deckhand as it ships.\n" +
			"The run is kept nowhere; its files are in DIR.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.Workspace = args[0]
			}
			return a.demoChat(cmd.Context(), a.surveyed(), title, open)
		},
	}
}

// stage is the thread that the demo plays in.
type stage struct {
	demoPlatform

	out io.Writer
}

func (a *cli) demoChat(ctx context.Context, dir, title string, open func() (demoPlatform, string)) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usage("%s is not a directory that can be read", dir)
	}
	s, cfg, gone, err := a.demoStore(ctx, dir)
	if err != nil {
		return err
	}
	defer gone()
	m, err := a.rehearsal()
	if err != nil {
		return err
	}
	far, at := open()
	defer far.close()
	far.configure(&cfg)
	fmt.Fprintln(a.err, m.Says())
	fmt.Fprintln(a.err, title+" is a local stand-in at "+at+"; Ann's words and clicks are scripted.")
	scene := &stage{demoPlatform: far, out: a.out}
	if a.json {
		scene.out = a.err
	}
	playing, leave := context.WithTimeout(ctx, demoTimeout)
	defer leave()
	left := make(chan error, 1)
	go func() {
		defer leave()
		left <- serveDemo(playing, cfg, s, m)
	}()
	err = a.play(playing, scene, filepath.Base(cfg.Workspace))
	leave()
	if e := <-left; e != nil {
		err = e // the cause, where both failed
	}
	switch {
	case ctx.Err() != nil:
		return &exit{code: exitInterrupted}
	case err != nil:
		return &exit{exitFailed, err}
	case a.json:
		return a.demoJournal(ctx, s)
	}
	fmt.Fprintf(a.err, "look at %s and %s\n", filepath.Join(dir, "REPORT.md"), filepath.Join(dir, "deckhand-survey.png"))
	return nil
}

// demoStore is a store that goes with the demo: a scripted model must not work
// what waits in the real one, nor may a real Slack be told of Ann's thread.
func (a *cli) demoStore(ctx context.Context, dir string) (s app.Store, cfg config.Config, gone func(), err error) {
	if cfg, err = a.demoConfig(dir); err != nil {
		return nil, cfg, nil, err
	}
	if cfg.DataDir, err = os.MkdirTemp("", "deckhand-demo-*"); err != nil {
		return nil, cfg, nil, &exit{exitFailed, fmt.Errorf("no place for the demo's store: %w", err)}
	}
	opened, err := app.OpenStore(ctx, cfg, sqlite.Worker)
	if err != nil {
		return nil, cfg, nil, errors.Join(err, os.RemoveAll(cfg.DataDir))
	}
	return opened, cfg, func() {
		_ = opened.Close() // nothing of it is kept
		_ = os.RemoveAll(cfg.DataDir)
	}, nil
}

// demoJournal prints what happened, as JSON lines.
func (a *cli) demoJournal(ctx context.Context, s app.Store) error {
	runs, err := s.Runs(ctx)
	if err != nil {
		return &exit{exitFailed, err}
	}
	enc := format.Encoder(a.out)
	for _, info := range runs {
		events, err := s.Read(ctx, info.Run, 0)
		if err != nil {
			return &exit{exitFailed, err}
		}
		for _, e := range events {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// serveDemo is a serving Deckhand on the stand-in. Its runs work in the
// directory itself: there is no other channel whose files would have to be kept
// apart.
func serveDemo(ctx context.Context, cfg config.Config, s app.Store, m llm.Model) error {
	process, err := app.New(ctx, app.Options{Config: cfg, Version: version, Store: s, Model: m,
		Brief: func(string) (agent.RunStarted, error) {
			return agent.RunStarted{PlanApproval: agent.ApprovePlanAlways, Autonomy: agent.AskRisky, Folder: ".",
				Expires: cfg.Authority.Expires, Slots: cfg.Engine.Slots, Limits: agent.Limits{Tokens: cfg.Budget.Run.Tokens, Steps: cfg.Budget.Run.Steps}}, nil
		},
	})
	if err != nil {
		return err
	}
	return errors.Join(process.Run(ctx), process.Close())
}

// play is what Ann does, and what she sees.
func (a *cli) play(ctx context.Context, s *stage, name string) error {
	if err := s.wait(ctx, s.connected); err != nil {
		return fmt.Errorf("no connection to the local stand-in: %w", err)
	}
	s.say("Survey the source files of " + name +
		": count files and lines by folder, find the longest files, draw a chart, and write it all to REPORT.md.")
	for decided := map[string]bool{}; ; {
		m, err := s.next(ctx, decided)
		if err != nil {
			return err
		}
		s.show()
		if m.kind == agent.PostReport {
			return s.thank(ctx, m)
		}
		decided[m.id] = true
		if err := a.pause(ctx); err != nil {
			return err
		}
		fmt.Fprint(s.out, "\n>>> Ann clicks [Approve]\n")
		if err := s.click(m.id, "Approve"); err != nil {
			return err
		}
	}
}

// next waits for a message that Ann has to act upon, or the report.
func (s *stage) next(ctx context.Context, decided map[string]bool) (found played, err error) {
	err = s.wait(ctx, func() bool {
		for _, m := range s.posts() {
			if m.kind == agent.PostReport || (m.kind == agent.PostCheckpoint && !decided[m.id]) {
				found = m
				return true
			}
		}
		return false
	})
	if err != nil {
		s.show()
		return found, fmt.Errorf("the thread did not come to its report: %w", err)
	}
	return found, nil
}

// show prints the thread as it stands.
func (s *stage) show() {
	fmt.Fprintf(s.out, "\n%s #general %s\n", strings.Repeat("─", 30), strings.Repeat("─", 30))
	if err := s.render(s.out); err != nil {
		fmt.Fprintln(s.out, err)
	}
}

// thank rates the report, and shows the end of the thread once the card has
// folded and Ann was answered.
func (s *stage) thank(ctx context.Context, report played) error {
	fmt.Fprint(s.out, "\n>>> Ann clicks [Good]\n")
	if err := s.click(report.id, "Good"); err != nil {
		return err
	}
	err := s.wait(ctx, func() bool {
		return s.thanked() && slices.ContainsFunc(s.posts(), func(m played) bool {
			return m.kind == agent.PostCard && strings.Contains(m.text, "Done")
		})
	})
	s.show()
	if err != nil {
		return fmt.Errorf("the thread did not come to its end: %w", err)
	}
	return nil
}

// pause lets a person read; without a terminal nobody does.
func (a *cli) pause(ctx context.Context) error {
	if !a.tty {
		return ctx.Err()
	}
	wait.Sleep(ctx, 2*time.Second)
	return ctx.Err()
}
