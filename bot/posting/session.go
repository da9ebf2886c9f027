package posting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Keeping up to date what a thread says of its run beside the messages: that it
// works, that it waits for a person, its title.

// sessionTimeout bounds a request that nobody waits for.
const sessionTimeout = 2 * time.Second

// session is what a run's thread was made to say of it.
type session struct {
	shown  bot.Session // zero: not known
	until  time.Time   // it is said again then; zero: when it changes
	failed int         // times in a row
}

// updateSession brings the session up to date at once.
func (v *Poster) updateSession(ctx context.Context, r agent.Run) {
	d := v.display(r.ID)
	d.mu.Lock()
	defer d.mu.Unlock()
	v.keepSession(ctx, r, &d.session)
}

// keepSession says in the run's thread how it stands, when that changes and when
// the platform forgets it, and returns when to look again. What did not get
// through is said again: a thread that says "working" for ever keeps people
// waiting.
func (v *Poster) keepSession(ctx context.Context, r agent.Run, known *session) time.Duration {
	s := bot.SessionOf(r)
	if left := time.Until(known.until); known.failed > 0 || s == known.shown {
		if left > 0 {
			return left
		}
		if known.until.IsZero() {
			return 0
		}
	}
	platform, thread, err := v.platformAt(r.Thread())
	if errors.Is(err, errElsewhere) {
		return elsewhere
	}
	shows, can := platform.(bot.Sessions)
	if err != nil || !can || r.Scheduled() {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	var fades time.Duration
	lives, err := v.residesIn(ctx, r, known)
	if err == nil && lives {
		fades, err = shows.ShowSession(ctx, thread, s, known.shown)
	}
	if err != nil {
		return v.unsaid(r, known, s, err)
	}
	*known = session{shown: s}
	if fades > 0 {
		fades = max(fades, v.heartbeat)
		known.until = time.Now().Add(fades)
	}
	return fades
}

// residesIn reports whether the thread is still the run's. Where an ended run is
// looked at again, and it is not known what its thread says, another run may
// live there by now.
func (v *Poster) residesIn(ctx context.Context, r agent.Run, known *session) (bool, error) {
	if r.Ended == nil || known.shown != (bot.Session{}) {
		return true, nil
	}
	run, err := v.residents.Value(ctx, agent.ThreadName(r.Thread()))
	if err != nil {
		return false, fmt.Errorf("ask which run lives in %s: %w: %w", r.Thread(), bot.ErrLost, err)
	}
	return run == "" || run == string(r.ID), nil
}

// unsaid notes that the thread does not say how the run stands, and returns when
// to try it again. What the platform refuses for good is left at that.
func (v *Poster) unsaid(r agent.Run, known *session, s bot.Session, err error) time.Duration {
	log := v.log.With("run", r.ID, "err", err)
	if !undetermined(err) {
		log.Warn("a thread cannot be made to say how its run stands")
		*known = session{shown: s}
		return 0
	}
	wait := backoff(known.failed)
	if busy, is := errors.AsType[*bot.BusyError](err); is {
		wait = max(busy.After, wait)
	}
	log.Debug("a thread cannot be made to say how its run stands; trying again", "in", wait)
	*known = session{failed: known.failed + 1, until: time.Now().Add(wait)}
	return wait
}
