package recurring

import (
	"context"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// goal serves the turn of a recurring goal: it begins a run, as far as the last
// one has ended or may overlap.
func (t *tick) goal(ctx context.Context) error {
	old, err := t.previous(ctx)
	if err != nil {
		return err
	}
	if old.ID != "" && old.Ended == nil {
		switch t.s.Overlap {
		case OverlapQueue:
			return errWaits
		case OverlapReplace:
			err = t.cfg.Reporter.Runs.Append(ctx, old, agent.Main, agent.RunControlled{Word: agent.WordCancel, By: agent.Deckhand,
				Reason: "the schedule " + t.s.Name + " starts it anew"}, false, runs.Dedupe{})
			if err != nil {
				return err
			}
		case OverlapSkip, "":
			t.at.Skipped++
			t.cfg.Reporter.Log.Warn("a turn of a schedule is left out: the last run has not ended", "schedule", t.s.Name, "run", string(old.ID))
			return t.done(ctx)
		}
	}
	opening, err := t.recurring()
	if err != nil {
		return err
	}
	t.at.Run = opening.Run
	t.at.Missed, t.at.Lost, t.at.Skipped = nil, 0, 0
	opening.Dedupe = t.dedupe()
	_, err = t.cfg.Reporter.Runs.Begin(ctx, opening)
	return err
}

// previous is the schedule's newest run, of no ID if there is none any more.
func (t *tick) previous(ctx context.Context) (agent.Run, error) {
	if t.at.Run == "" {
		return agent.Run{}, nil
	}
	r, err := t.cfg.Reporter.Runs.Load(ctx, t.at.Run)
	if errors.Is(err, agent.ErrNoRun) {
		return agent.Run{}, nil
	}
	return r, err
}

// recurring is the run that the turn begins. Nobody waits at a schedule: what
// gets stuck fails.
func (t *tick) recurring() (runs.NewRun, error) {
	to, err := bot.ParseAddress(t.s.To)
	if err != nil {
		return runs.NewRun{}, fmt.Errorf("schedule %s: %w", t.s.Name, err)
	}
	b, err := t.cfg.Brief(to.Place())
	if err != nil {
		return runs.NewRun{}, fmt.Errorf("schedule %s: no run can start there: %w", t.s.Name, err)
	}
	b.Goal, b.Requester = t.s.Goal, t.s.By
	t.cfg.Reporter.Runs.AnswerAt(&b, to, t.s.Direct)
	b.Unattended = true
	b.Tick = &agent.Tick{Schedule: t.s.Name, At: t.due.Until}
	o := runs.NewRun{Run: t.cfg.Reporter.Runs.Journals.NewRun(t.s.anchor()), Brief: b}
	if said := t.turnText(); said != "" {
		o.After = []agent.Body{agent.PersonSaid{By: agent.Deckhand, Text: said, Trusted: true}}
	}
	return o, nil
}

// turnText is what the run is told of turns that did not happen.
func (t *tick) turnText() string {
	late := t.lateness()
	late.What = "goal"
	said := late.String()
	if t.at.Skipped > 0 {
		if said != "" {
			said += " "
		}
		said += format.Count(t.at.Skipped, "turn") + " before this one were left out because the run before had not ended."
	}
	return said
}
