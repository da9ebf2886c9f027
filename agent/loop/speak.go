package loop

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Voice shows runs to people. Its posts are effects like any tool's: journalled
// before they are made, and probed for after a crash or a lost answer. Edits of
// the card are neither: they are made again.
type Voice interface {
	// May takes a turn at the place's pace, or says how long to wait for one.
	May(ctx context.Context, r agent.Run, p agent.Post) (wait time.Duration, err error)
	// Post makes a post. Its result's text is an agent.Shown.
	Post(ctx context.Context, r agent.Run, p agent.Post, c agent.Call) agent.Result
	// Find looks whether an earlier attempt of the post was made.
	Find(ctx context.Context, r agent.Run, p agent.Post, in agent.ToolIntent) (done bool, result agent.Result, err error)
	// Show brings the card up to date and returns when to look again; zero:
	// when something happens.
	Show(ctx context.Context, r agent.Run) (again time.Duration)
	// Deadline is how long after its intent a post's request has certainly ended.
	Deadline(p agent.Post) time.Duration
}

// Bounds of what the voice does.
const (
	mutePause   = time.Second      // of a strand that this process has no voice for
	showTimeout = 20 * time.Second // of one look after the card
)

// speak journals the intent of a post; the next move makes it.
func (t *turn) speak(ctx context.Context, view agent.Run, p agent.Post) error {
	if t.Voice == nil {
		return t.rest(ctx, mutePause) // somebody with a voice may serve this store too
	}
	wait, err := t.Voice.May(ctx, view, p)
	if err != nil {
		t.Log.Warn("cannot take a turn to post; trying again", "run", view.ID, "post", p.Key, "err", err)
		wait = retryPause
	}
	if wait > 0 {
		return t.rest(ctx, wait)
	}
	in := p.Intent(t.deadline(p))
	t.event(in)
	t.fresh[in.Effect] = true
	return nil
}

// deadline is when a post's request has certainly ended; what may be repeated
// has none.
func (t *turn) deadline(p agent.Post) time.Time {
	if p.Repeat() == agent.RepeatIdempotent {
		return time.Time{}
	}
	return t.now().Add(t.Voice.Deadline(p))
}

// show looks after the card and says when the strand is due again. Without a
// lease the card is left alone: the next holder may have shown something newer.
func (t *turn) show(ctx context.Context, view agent.Run, wake time.Time) (due time.Time, err error) {
	again := mutePause
	if t.Voice != nil {
		if !t.held.valid(t.holding) {
			return due, errLeaseGone
		}
		bound, cancel := context.WithTimeout(ctx, showTimeout)
		defer cancel()
		again = t.Voice.Show(bound, view)
	}
	if again <= 0 {
		return wake, nil
	}
	if at := t.now().Add(again); wake.IsZero() || at.Before(wake) {
		return at, nil
	}
	return wake, nil
}

// post is one of the voice's posts in the shape of a tool.
type post struct {
	voice Voice
	run   agent.Run
	what  agent.Post
	in    agent.ToolIntent
}

// Spec bounds the post.
func (p post) Spec() agent.ToolSpec {
	s := agent.ToolSpec{Name: p.in.Tool, Repeat: p.what.Repeat()}
	if s.Repeat != agent.RepeatIdempotent {
		s.Deadline = p.voice.Deadline(p.what)
	}
	return s
}

// Run makes the post.
func (p post) Run(ctx context.Context, c agent.Call) agent.Result {
	return p.voice.Post(ctx, p.run, p.what, c)
}

// Probe looks for it.
func (p post) Probe(ctx context.Context, _ agent.Call) (bool, agent.Result, error) {
	return p.voice.Find(ctx, p.run, p.what, p.in)
}

// errMute hands a post back in a process that has no voice.
var errMute = errors.New("this process has no platform to post to")

// acts is what does an intent: a tool of the box, or on the voice strand a post.
func (t *turn) acts(view agent.Run, in agent.ToolIntent) (tool agent.Tool, known bool, err error) {
	if t.lease.Strand != agent.Voice {
		tool, known = t.Tools.Tool(in.Tool)
		return tool, known, nil
	}
	if t.Voice == nil {
		return nil, false, errMute
	}
	what, err := agent.PostOf(in)
	return post{t.Voice, view, what, in}, true, err
}

// stir wakes those whom the batch concerns beside this strand: the voice, when
// people can see a change, and the main strand when the voice fetched a file.
// It returns the names that the batch gives to the run: its card's thread.
func (t *turn) stir() (names map[string]string) {
	wake := func(s agent.StrandID) {
		if t.wake == nil {
			t.wake = map[agent.StrandID]time.Time{}
		}
		t.wake[s] = agent.AtOnce
	}
	for _, e := range t.batch {
		o, outcome := e.Body.(agent.ToolOutcome)
		switch {
		case t.lease.Strand != agent.Voice:
			if _, speaks := t.run.Strands[agent.Voice]; speaks && agent.Visible(e.Body) {
				wake(agent.Voice)
			}
		case outcome:
			names = threadNames(t.lease.Run, o, names)
			if o.Effect.Attaches() {
				wake(agent.Main)
			}
		}
	}
	return names
}

// threadNames adds the thread that a post opened to the names.
func threadNames(run agent.RunID, o agent.ToolOutcome, names map[string]string) map[string]string {
	var s agent.Shown
	if o.State != agent.OutcomeOK || json.Unmarshal([]byte(o.Text), &s) != nil || s.Thread == "" {
		return names
	}
	if names == nil {
		names = map[string]string{}
	}
	names[agent.ThreadName(s.Thread)] = string(run)
	return names
}
