package recurring

import (
	"context"

	"github.com/deckhand-bot/deckhand/bot/digest"
)

// report serves the turn of a report: it posts one, unless nothing has changed.
func (t *tick) report(ctx context.Context) error {
	d, err := t.digest(ctx)
	if err != nil {
		return err
	}
	if !t.s.Always && !d.News(t.at.Mark) {
		return t.done(ctx)
	}
	opening, err := t.cfg.Reporter.opening(ctx, t.s, t.due.Until, d.Late(t.lateness()))
	if err != nil {
		return err
	}
	t.at.Posted, t.at.Mark, t.at.Run = t.now, d.Mark, opening.Run
	t.at.Missed, t.at.Lost = nil, 0
	opening.Dedupe = t.dedupe()
	_, err = t.cfg.Reporter.Runs.Begin(ctx, opening)
	return err
}

// lateness is what is said of a turn that is served late, and of those that
// were missed before it.
func (t *tick) lateness() digest.Lateness {
	l := digest.Lateness{Due: t.now, Now: t.now, Missed: t.at.Missed, Count: t.at.Lost, Zone: t.zone}
	if t.due.Late {
		l.Due = t.due.Tick
	}
	return l
}

func (t *tick) digest(ctx context.Context) (digest.Digest, error) {
	return t.cfg.Reporter.digest(ctx, t.s, reported{since: t.at.Posted, now: t.now, runs: t.runs, seen: t.posted.note})
}
