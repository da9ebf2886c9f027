package recurring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// How a report is made: the runs that it is about, its chart, and the run that
// posts it.

// Now is a report that is asked for.
func (c Reporter) Now(ctx context.Context, s Schedule, now time.Time) (runs.NewRun, error) {
	d, err := c.digest(ctx, s, reported{since: now.Add(-lastly), now: now, runs: c.list, seen: func(agent.Run) {}})
	if err != nil {
		return runs.NewRun{}, err
	}
	o, err := c.opening(ctx, s, now, d)
	if tick := o.Brief.Tick; tick != nil { // no schedule, and who asked for it hears of trouble first
		tick.Schedule = ""
		tick.Raise = append([]string{s.By}, slices.DeleteFunc(slices.Clone(c.Admins), func(who string) bool { return who == s.By })...)
	}
	return o, err
}

// Bounds of a report: the runs that it tells of, and those that are looked at
// for it, of which some may be posts of reports. The live ones come first, then
// those that ended last.
const (
	maxReported  = 500
	maxConsulted = 1000
)

// list is the live runs and those that ended since, and how many more there are.
func (c Reporter) list(ctx context.Context, since time.Time) (infos []agent.RunInfo, more int, err error) {
	filter := agent.RunFilter{EndedAfter: since.Add(-1), Most: maxConsulted}
	infos, err = c.Runs.Journals.Runs(ctx, filter)
	if err == nil && len(infos) == maxConsulted {
		more, err = c.Runs.Journals.CountRuns(ctx, filter)
		more = max(more-len(infos), 0)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("list the runs: %w", err)
	}
	return infos, more, nil
}

// Reporter makes reports about runs.
type Reporter struct {
	Runs *runs.Client
	// Draw makes a PNG of a chart at a path in a folder of the workspace; nil:
	// reports have none.
	Draw func(ctx context.Context, folder, path string, c digest.Chart) error
	// Counters are the wider budgets that a report of the scope shows; nil: none.
	Counters func(ctx context.Context, s digest.Scope, now time.Time) []digest.Counter
	// Admins are told what could not be posted; none: the schedule's owner.
	Admins []string
	Log    *slog.Logger
}

// reported is what a report is made from: the time that it tells of, and the
// runs that have not ended before a time, each of which is shown to seen.
type reported struct {
	since, now time.Time
	runs       func(ctx context.Context, since time.Time) (infos []agent.RunInfo, more int, err error)
	seen       func(agent.Run)
}

// digest sums up the runs that the schedule's report is about.
func (c Reporter) digest(ctx context.Context, s Schedule, of reported) (digest.Digest, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("schedule %s: the time zone %q: %w", s.Name, s.Zone, err)
	}
	scope, err := s.scope()
	if err != nil {
		return digest.Digest{}, err
	}
	from := digest.Source{Period: digest.Period{Since: of.since, Until: of.now, Zone: zone}, Audience: c.Runs.Authority.Audience, Reader: s.platform(),
		Private: func(r agent.Run) bool { return r.Brief.Direct && (s.Report != OfPerson || !s.Direct) }}
	if c.Counters != nil {
		from.Counters = c.Counters(ctx, scope, of.now)
	}
	oldest := from.Period.From()
	infos, more, err := of.runs(ctx, oldest)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	from.Omitted = more
	load := c.Runs.Load
	if len(infos) > runs.Remembered { // more than are remembered: each would drive out another
		load = c.Runs.Peek
	}
	for i, info := range infos {
		if !info.Ended.IsZero() && info.Ended.Before(oldest) {
			continue
		}
		if len(from.Runs) == maxReported {
			from.Omitted += len(infos) - i
			c.Log.Warn("a report leaves the oldest runs out", "schedule", s.Name, "runs", len(infos)+more, "most", maxReported)
			break
		}
		r, err := load(ctx, info.Run)
		if unread(err) {
			c.Log.Warn("a run is left out of a report", "run", string(info.Run), "err", err)
			from.Unread = append(from.Unread, card.Status{Run: info.Run, Started: info.Started, Problem: err.Error()})
			continue
		}
		if err != nil {
			return digest.Digest{}, err
		}
		of.seen(r)
		if scope.Covers(r) {
			from.Runs = append(from.Runs, r)
		}
	}
	return digest.New(from), nil
}

// unread reports whether an error is of one run alone, so that a report does
// without it.
func unread(err error) bool {
	_, unreadable := errors.AsType[*agent.EntryError](err)
	return unreadable || errors.Is(err, agent.ErrNoRun)
}

// scope is whose runs the schedule's report is about.
func (s Schedule) scope() (digest.Scope, error) {
	to, err := bot.ParseAddress(s.To)
	if err != nil {
		return digest.Scope{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	scope := digest.Scope{Platform: to.Platform, Workspace: to.Workspace}
	switch s.Report {
	case OfChannel:
		scope.Channel = to.Channel
	case OfPerson: // whose direct conversations may count as a workspace of their own
		scope.Person, scope.Workspace = s.By, ""
	case OfWorkspace:
	}
	return scope, nil
}

// opening is a run that posts a report and nothing else.
func (c Reporter) opening(ctx context.Context, s Schedule, at time.Time, d digest.Digest) (runs.NewRun, error) {
	to, err := bot.ParseAddress(s.To)
	if err != nil {
		return runs.NewRun{}, fmt.Errorf("schedule %s: %w", s.Name, err)
	}
	folder := to.Folder()
	var artifacts []string
	if d.Chart != nil && c.Draw != nil {
		path := "reports/" + s.Name + "-" + at.UTC().Format("2006-01-02T150405") + ".png"
		if err := c.Draw(ctx, folder, path, *d.Chart); err != nil { // the words are worth having without it
			c.Log.Warn("a report goes without its chart", "schedule", s.Name, "err", err)
		} else {
			artifacts = []string{path}
		}
	}
	raise := c.Admins
	if len(raise) == 0 && s.By != "" {
		raise = []string{s.By}
	}
	run := runs.ReportRun(agent.RunStarted{Goal: "Report " + s.Name, Requester: s.By, ReplyTo: to.String(), Folder: folder, Direct: s.Direct,
		Tick: &agent.Tick{Schedule: s.Name, At: at, Raise: raise}}, d.Headline, d.Body, artifacts...)
	run.Run = c.Runs.Journals.NewRun(s.anchor())
	return run, nil
}

// lastly is how far back a report looks that is asked for.
const lastly = 24 * time.Hour
