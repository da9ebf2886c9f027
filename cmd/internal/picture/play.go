package main

// The run of the picture: Ann mentions Deckhand, approves the plan and the
// write, and reads the report.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/demo"
)

// patience bounds the play.
const patience = 2 * time.Minute

// scenes are the two moments that are drawn: the thread while it asks for the
// write, and what came after the yes.
type scenes struct {
	asking []message
	after  []message
}

// play runs the rehearsal on a copy of the folder.
func play(ctx context.Context, folder string) (s scenes, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := os.MkdirTemp("", "deckhand-picture-*")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, filepath.Base(folder))
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		return s, err
	}
	far := newStage()
	process, goal, err := assemble(ctx, copied, filepath.Join(dir, "store"), far)
	if err != nil {
		return s, err
	}
	ended := make(chan error, 1)
	working, stop := context.WithCancel(ctx)
	go func() { ended <- process.Run(working) }()
	s, err = act(ctx, far, goal)
	stop()
	return s, errors.Join(err, <-ended, process.Close())
}

// assemble is the Deckhand of the demo, with the stage as its only platform.
// Every plan is asked about, as in the demo's threads.
func assemble(ctx context.Context, workspace, data string, far *stage) (*app.App, string, error) {
	c, err := config.Load(config.Flags{Config: os.DevNull, DataDir: data}, func(string) string { return "" })
	if err != nil {
		return nil, "", err
	}
	if c, err = demo.Configure(c, workspace); err != nil {
		return nil, "", err
	}
	c.Voice.CardEvery = 10 * time.Millisecond
	m, err := demo.NewModel(true, demo.Files{})
	if err != nil {
		return nil, "", err
	}
	brief := demo.Brief(c, demo.Files{})
	brief.Folder, brief.PlanApproval = ".", agent.ApprovePlanAlways
	process, err := app.New(ctx, app.Options{
		Config: c, Model: m,
		Platforms: []app.Connector{{Name: platform, Connect: func(context.Context) (bot.Platform, error) { return far, nil }}},
		Brief:     func(string) (agent.RunStarted, error) { return brief, nil },
	})
	return process, brief.Goal, err
}

// act is what Ann says and clicks.
func act(ctx context.Context, far *stage, goal string) (s scenes, err error) {
	if _, err := far.until(ctx, func([]message) bool { return far.hear != nil }); err != nil {
		return s, err
	}
	at := far.add(message{said: "@Deckhand " + goal}).Message
	answer, err := far.hear(ctx, bot.Inbound{Keys: []string{"said"}, At: time.Now(), By: ann, Where: at, Message: at, Act: bot.Said{Text: goal, To: true}})
	if err != nil {
		return s, err
	}
	far.change(func() { far.thread[0].seen = answer.Mark == bot.MarkSeen })
	for range 2 { // the plan, the write
		before := len(s.asking)
		if s.asking, err = far.until(ctx, func(thread []message) bool { return len(thread) > before && asked(thread) }); err != nil {
			return s, err
		}
		if err := far.approve(ctx, s.asking); err != nil {
			return s, err
		}
	}
	whole, err := far.until(ctx, func(thread []message) bool { return slices.ContainsFunc(thread, isReport) })
	if err != nil {
		return s, err
	}
	s.after = whole[len(s.asking):]
	return s, nil
}

func isReport(m message) bool { return m.card.Key.Kind == agent.PostReport }

// asked reports whether the newest message is a question, and the card says
// that the run waits for it.
func asked(thread []message) bool {
	last := thread[len(thread)-1].card
	return last.Key.Kind == agent.PostCheckpoint && len(buttons(last)) > 0 &&
		slices.ContainsFunc(thread, func(m message) bool {
			return m.card.Key.Kind == agent.PostCard && strings.HasPrefix(m.card.Text, "Waiting")
		})
}

func buttons(c bot.Card) []bot.Button {
	for _, part := range c.Parts {
		if b, is := part.(bot.Buttons); is {
			return b.List
		}
	}
	return nil
}

// approve is Ann's click on the newest question.
func (s *stage) approve(ctx context.Context, thread []message) error {
	where := general.At("1")
	for _, b := range buttons(thread[len(thread)-1].card) {
		if b.Word == agent.DecideApprove {
			_, err := s.hear(ctx, bot.Inbound{Keys: []string{b.ID}, At: time.Now(), By: ann, Where: where, Act: bot.Pressed{Button: b}})
			return err
		}
	}
	return errors.New("a question has no button to approve it")
}
