package loop

// This file is what goes on beside a call: people end the run, a tool says how
// far it is, or has a question for people.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// stopLook is how long a call runs before anybody looks whether its run was
// stopped meanwhile: most calls are over by then.
const stopLook = 500 * time.Millisecond

// errStopped is why a call is cut off that nobody wants any more.
var errStopped = errors.New("the run was ended")

// untilStopped is ctx that also ends when people end the run: nobody waits for
// an answer that is not wanted any more. A run that was ending when the call
// began wants it: that is its report. Call release when the call is over.
func (e *engine) untilStopped(ctx context.Context, run *agent.Run) (bound context.Context, release func()) {
	bound, stop := context.WithCancelCause(ctx)
	over := make(chan struct{})
	// What is kept while the call goes on is not the whole run.
	id, seq, finishing, ended := run.ID, run.Seq, run.Finish, run.Cancelled != nil
	look := time.AfterFunc(stopLook, func() {
		defer close(over)
		guard.Run(e.Log, "the look whether a run was stopped", func() {
			for !ended {
				if e.Blobs.AwaitWord(bound, id, seq) != nil {
					return
				}
				run, err := e.folds.Load(bound, id)
				if err != nil {
					return
				}
				seq, ended = run.Seq, run.Cancelled != nil || run.Finish && !finishing
			}
			stop(errStopped)
		}, "run", id)
	})
	return bound, func() {
		stop(nil)
		if !look.Stop() {
			<-over
		}
	}
}

// patience is the time that a call has. It stands still while people are asked.
type patience struct {
	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time
	held  int
}

// newPatience has over called when the time has passed.
func newPatience(d time.Duration, over func()) *patience {
	return &patience{timer: time.AfterFunc(d, over), left: d, since: time.Now()}
}

// hold lets the time stand still until release is called.
func (p *patience) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held++; p.held == 1 && p.timer.Stop() {
		p.left -= time.Since(p.since)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.held--; p.held == 0 {
			p.since = time.Now()
			p.timer.Reset(max(p.left, 0))
		}
	}
}

// Bounds of what a call tells people.
const (
	progressEvery = 5 * time.Second
	maxProgress   = 40  // events of one call
	maxProgressed = 120 // characters
	maxTitle      = 600 // characters of a question
	factTimeout   = 5 * time.Second
)

// underWay is a call as its tool can speak of it.
type underWay struct {
	*engine
	run    agent.RunID
	strand agent.StrandID
	effect agent.EffectID
	now    func() time.Time
	clock  *patience

	mu    sync.Mutex
	told  time.Time // when its progress was told last
	times int
}

// progress shows people how far the call is: now and then, the newest words.
func (u *underWay) progress(text string) {
	text = u.Redact.Text(format.Line(format.Visible(text), maxProgressed))
	u.mu.Lock()
	due := text != "" && u.times < maxProgress && time.Since(u.told) >= progressEvery
	if due {
		u.told, u.times = time.Now(), u.times+1
	}
	u.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), factTimeout)
	defer cancel()
	if err := u.note(ctx, agent.ToolProgressed{Effect: u.effect, Text: text}, agent.Voice); err != nil {
		u.Log.Warn("cannot show how far a call is", "run", u.run, "effect", u.effect, "err", err)
	}
}

// note writes a fact about the call down and wakes who has to look at it.
func (u *underWay) note(ctx context.Context, b agent.Body, wake ...agent.StrandID) error {
	due := map[agent.StrandID]time.Time{}
	run, err := u.folds.Load(ctx, u.run)
	if err != nil {
		return err
	}
	for _, s := range wake {
		if run.Strands.Has(s) {
			due[s] = agent.AtOnce
		}
	}
	_, err = u.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: u.run, Wake: due, Events: []agent.Event{{Strand: u.strand, Body: b}}})
	return err
}

// ask puts questions of the tool's to people, and waits for what they say.
func (u *underWay) ask(ctx context.Context, title string, questions []agent.Question) (answers map[string]string, answered bool) {
	run, err := u.folds.Load(ctx, u.run)
	if err != nil || run.Alone || run.Cancelled != nil || run.Ended != nil {
		return nil, false
	}
	id := run.CheckpointID(u.effect)
	defer u.clock.hold()()
	err = u.note(ctx, agent.CheckpointOpened{ID: id, Ask: agent.CheckClarify, Title: format.Cut(title, maxTitle), Effect: u.effect,
		Questions: questions, Choices: choices(questions), Expires: run.Brief.Expiry(u.now())}, agent.Main, agent.Voice)
	if err != nil {
		u.Log.Warn("cannot put a question of a tool", "run", u.run, "effect", u.effect, "err", err)
		return nil, false
	}
	for {
		run, err := u.folds.Load(ctx, u.run)
		if err != nil {
			return nil, false
		}
		c := run.Checks[id]
		switch {
		case run.Cancelled != nil || run.Ended != nil || c.ID == "":
			return nil, false
		case !c.Open():
			return said(c)
		}
		if u.Blobs.AwaitWord(ctx, u.run, run.Seq) != nil {
			return nil, false
		}
	}
}

// said are the answers to the questions, by their ids; false: they were not
// answered.
func said(c agent.Checkpoint) (answers map[string]string, answered bool) {
	d := c.Decision
	switch d.Decision {
	case agent.DecideExpired, agent.DecideDeny, agent.DecideCancel, agent.DecideForMe, agent.DecideDone:
		return nil, false
	}
	answers = map[string]string{}
	for i, q := range c.Questions {
		a := d.Answers[q.ID]
		if a == "" && i == 0 {
			if a = strings.TrimSpace(d.Text); d.Decision != agent.DecideAnswer {
				a = d.Decision // a choice's own word
			}
		}
		if a != "" {
			answers[q.ID] = a
		}
	}
	return answers, len(answers) > 0
}
