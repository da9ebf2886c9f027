package recurring

// This file holds what all schedules share during one look of the clock: the
// list of runs, read once, and the start of new schedules. It also remembers
// the reports that were posted, to save reading their journals again.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// sweep is one look of a clock at all schedules.
type sweep struct {
	*Clock
	now  time.Time
	kept map[string]string // names of schedules with their values

	listed time.Time // since when; zero: not at all
	infos  []agent.RunInfo
	more   int
}

func (c *Clock) newSweep(now time.Time, kept map[string]string) *sweep {
	return &sweep{Clock: c, now: now, kept: kept}
}

// runs lists runs, once for all reports that fall due together and look as far
// back. Each is about what happened until the look began, and all of that is in it.
func (l *sweep) runs(ctx context.Context, since time.Time) (infos []agent.RunInfo, more int, err error) {
	if !l.listed.IsZero() && !since.Before(l.listed) {
		return l.infos, l.more, nil
	}
	infos, more, err = l.cfg.Reporter.list(ctx, since)
	if err != nil {
		return nil, 0, err
	}
	l.infos, l.more, l.listed = l.posted.open(infos), more, since
	return l.infos, l.more, nil
}

// cursor is how far the schedule was served. Nobody can have served turns that
// are still to come: what says so was written by a clock that was ahead, and
// must not keep the schedule from being served until then.
func (l *sweep) cursor(s Schedule, text string) (at Cursor, known bool) {
	at, known = s.cursor(text)
	if !at.At.After(l.now.Add(clockGrace)) && !at.Posted.After(l.now.Add(clockGrace)) {
		return at, known
	}
	l.cfg.Reporter.Log.Error("a schedule was served ahead of its time, by a clock that was wrong; it counts from now on", "schedule", s.Name, "served", at.At, "now", l.now)
	if at.Posted.After(l.now) {
		at.Posted = l.now
	}
	return Cursor{Spec: at.Spec, Posted: at.Posted, Mark: at.Mark, Run: at.Run}, false
}

// begin writes down that a schedule, or its new timing, counts from here on.
// Where another clock was faster, its word stands: it may have served a turn
// already.
func (l *sweep) begin(ctx context.Context, s Schedule) error {
	old, err := l.cfg.Recurring.Store.Value(ctx, NameServed+s.Name)
	if err != nil {
		return fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	at, known := l.cursor(s, old)
	if known {
		return nil // it began meanwhile
	}
	sum := sha256.Sum256([]byte(s.Spec() + "\n" + old))
	at = Cursor{Spec: s.Spec(), At: l.now, Posted: at.Posted, Mark: at.Mark, Run: at.Run}
	err = l.cfg.Reporter.Runs.Note(ctx, runs.Dedupe{
		Once: []string{"begin/" + s.Name + "/" + hex.EncodeToString(sum[:8])}, Anchor: s.anchor(), Set: map[string]string{NameServed + s.Name: at.Text()}})
	if !errors.Is(err, agent.ErrSeen) {
		return err
	}
	newer, err := l.cfg.Recurring.Store.Value(ctx, NameServed+s.Name)
	if err != nil || newer != old {
		return err
	}
	return l.keep(ctx, s, at) // it began like this long ago, and was removed since
}

func (c *Clock) keep(ctx context.Context, s Schedule, at Cursor) error {
	if err := c.cfg.Recurring.Store.SetValue(ctx, NameServed+s.Name, at.Text()); err != nil {
		return fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	return nil
}

// postedReports are the reports that were posted. No report ever tells of them, and
// there are as many as there were turns: their journals need not be read again.
// The zero value is empty and may be used from many goroutines.
type postedReports struct {
	mu   sync.Mutex
	runs map[agent.RunID]bool
}

// open are the runs that are not settled. What the store does not list any more
// is forgotten.
func (s *postedReports) open(infos []agent.RunInfo) []agent.RunInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []agent.RunInfo
	still := make(map[agent.RunID]bool, len(s.runs))
	for _, info := range infos {
		if s.runs[info.Run] {
			still[info.Run] = true
		} else {
			open = append(open, info)
		}
	}
	s.runs = still
	return open
}

// note remembers a run that is settled.
func (s *postedReports) note(r agent.Run) {
	if !r.Scheduled() || !agent.Delivered(r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[r.ID] = true
}
