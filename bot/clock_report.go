package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// maxReported bounds the runs that one report looks at, the newest first.
const maxReported = 500

// report serves the turn of a report: it posts one, unless nothing has changed.
func (t *turn) report(ctx context.Context) error {
	d, err := t.digest(ctx)
	if err != nil {
		return err
	}
	if !t.s.Always && !d.News(t.at.Mark) {
		return t.handled(ctx)
	}
	opening, err := t.cfg.opening(ctx, t.s, t.due.Until, d.Late(t.lateness()))
	if err != nil {
		return err
	}
	t.at.Posted, t.at.Mark, t.at.Run = t.due.Until, d.Mark, opening.Run
	t.at.Missed, t.at.Lost = nil, 0
	opening.Along = t.along()
	_, err = t.cfg.Desk.Begin(ctx, opening)
	return err
}

// lateness is what is said of a turn that is served late, and of those that
// were missed before it.
func (t *turn) lateness() Lateness {
	l := Lateness{Due: t.now, Now: t.now, Missed: t.at.Missed, Count: t.at.Lost, Zone: t.zone}
	if t.due.Late {
		l.Due = t.due.Tick
	}
	return l
}

func (t *turn) digest(ctx context.Context) (Digest, error) {
	return t.cfg.digest(ctx, t.s, t.at.Posted, t.now)
}

// digest sums up the runs that the schedule's report is about.
func (c *ClockConfig) digest(ctx context.Context, s Schedule, since, now time.Time) (Digest, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return Digest{}, fmt.Errorf("schedule %s: the time zone %q: %w", s.Name, s.Zone, err)
	}
	scope, err := s.scope()
	if err != nil {
		return Digest{}, err
	}
	infos, err := c.Desk.Journals.Runs(ctx)
	if err != nil {
		return Digest{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	from := DigestFrom{Period: Period{Since: since, Until: now, Zone: zone}, Audience: c.Desk.Authority.Audience,
		Private: func(r agent.Run) bool { return r.Brief.Direct && s.Report != OfPerson }}
	if c.Counters != nil {
		from.Counters = c.Counters(ctx, scope, now)
	}
	oldest := from.Period.From()
	for _, info := range infos {
		if !info.Ended.IsZero() && info.Ended.Before(oldest) {
			continue
		}
		if len(from.Runs) == maxReported {
			c.Log.Warn("a report leaves the oldest runs out", "schedule", s.Name, "runs", len(infos), "most", maxReported)
			break
		}
		r, err := c.Desk.Load(ctx, info.Run)
		if _, unreadable := errors.AsType[*agent.EntryError](err); unreadable || errors.Is(err, agent.ErrNoRun) {
			c.Log.Warn("a run is left out of a report", "run", string(info.Run), "err", err)
			from.Unread = append(from.Unread, Status{Run: info.Run, Started: info.Started, Problem: err.Error()})
			continue
		}
		if err != nil {
			return Digest{}, err
		}
		if scope.Covers(r) {
			from.Runs = append(from.Runs, r)
		}
	}
	return NewDigest(from), nil
}

// scope is whose runs the schedule's report is about.
func (s Schedule) scope() (Scope, error) {
	to, err := ParseAddress(s.To)
	if err != nil {
		return Scope{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	scope := Scope{Platform: to.Platform, Workspace: to.Workspace}
	switch s.Report {
	case OfChannel:
		scope.Channel = to.Channel
	case OfPerson:
		scope.Person = s.By
	case OfWorkspace:
	}
	return scope, nil
}

// opening is a run that posts a report and nothing else.
func (c *ClockConfig) opening(ctx context.Context, s Schedule, at time.Time, d Digest) (Opening, error) {
	to, err := ParseAddress(s.To)
	if err != nil {
		return Opening{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	rep := agent.Reported{Headline: d.Headline, Body: d.Body, Artifacts: agent.Texts{}, Skipped: agent.Texts{}}
	folder := to.Folder()
	if d.Chart != nil && c.Draw != nil {
		path := "reports/" + s.Name + "-" + at.UTC().Format("2006-01-02T150405") + ".png"
		switch err := c.picture(ctx, folder, path, *d.Chart); {
		case err != nil: // the words are worth having without it
			c.Log.Warn("a report goes without its chart", "schedule", s.Name, "err", err)
		default:
			rep.Artifacts = append(rep.Artifacts, path)
		}
	}
	raise := c.Admins
	if len(raise) == 0 && s.By != "" {
		raise = []string{s.By}
	}
	zero := agent.Nano(0)
	return Opening{
		Run: agent.RunID(agent.NewID()),
		Brief: agent.RunStarted{
			Goal: "Report " + s.Name, Requester: s.By, ReplyTo: to.String(), Folder: folder, Slots: 1,
			Tick: &agent.Tick{Schedule: s.Name, At: at, Report: true, Raise: raise},
		},
		After: []agent.Body{rep, agent.RunEnded{State: agent.RunDone, Cost: &zero}},
	}, nil
}

// picture draws a chart into the folder.
func (c *ClockConfig) picture(ctx context.Context, folder, path string, chart DigestChart) error {
	png, err := c.Draw(ctx, chart)
	if err != nil {
		return fmt.Errorf("draw it: %w", err)
	}
	if err := c.write(folder, path, png); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write it to %s: %w", path, err)
	}
	return nil
}

// now is a report that is asked for.
func (c *Clock) now(ctx context.Context, s Schedule, now time.Time) (Opening, error) {
	d, err := c.cfg.digest(ctx, s, now.Add(-lastly), now)
	if err != nil {
		return Opening{}, err
	}
	return c.cfg.opening(ctx, s, now, d)
}
