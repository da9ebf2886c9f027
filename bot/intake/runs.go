package intake

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Bounds of a list: how many it holds, and how many runs are looked at for it.
// Each one that is looked at and was not before is one more read of its journal.
const (
	maxListed = 20
	maxLooked = 100
	maxPassed = 400 // posts of reports, which are no work, between them
)

// newestRuns is the newest runs that are wanted, at most that many, out of the
// newest hundred (of the live ones, where only those count). Reports and
// alerts are none of them, unless they could not be posted.
func (c *Chat) newestRuns(ctx context.Context, most int, live bool, want func(agent.Run) bool) ([]agent.Run, error) {
	filter := agent.RunFilter{Live: live, Most: maxLooked}
	infos, err := c.cfg.Runs.Journals.Runs(ctx, filter)
	var list []agent.Run
	looked, passed := 0, 0
	for i := 0; looked < maxLooked && passed < maxPassed && len(list) < most; i++ {
		if i == maxLooked { // posts of reports were among them
			filter.Most = maxLooked + maxPassed
			infos, err = c.cfg.Runs.Journals.Runs(ctx, filter)
		}
		if err != nil || i >= len(infos) {
			break
		}
		r, readable, err := c.listed(ctx, infos[i])
		switch {
		case err != nil:
			return nil, err
		case readable && isReportOnly(r):
			passed++
			continue
		case readable && (!live || r.Ended == nil) && want(r):
			list = append(list, r)
		}
		looked++
	}
	return list, err
}

// listed is the fold of a listed run, if it can be read.
func (c *Chat) listed(ctx context.Context, info agent.RunInfo) (r agent.Run, readable bool, err error) {
	r, err = c.cfg.Runs.LoadListed(ctx, info)
	if _, unreadable := errors.AsType[*agent.EntryError](err); unreadable || errors.Is(err, agent.ErrNoRun) {
		c.cfg.Log.Warn("a run is left out of a list", "run", string(info.Run), "err", err)
		return r, false, nil
	}
	return r, err == nil, err
}

// isReportOnly reports whether the run is the post of a report or an alert and nothing
// else: no list of work has it, unless it could not be posted.
func isReportOnly(r agent.Run) bool { return r.Scheduled() && agent.Undelivered(r) == "" }

// ListRuns sums up the newest runs of the store, at most that many (0: all), and
// every older one that has not ended; the newest first, without the posts of
// reports. It returns how many more there are. A run whose journal is damaged is
// listed with its problem; the others are not affected.
func ListRuns(ctx context.Context, d *runs.Client, most int) (list []card.Status, more int, err error) {
	infos, err := d.Journals.Runs(ctx, agent.RunFilter{Most: most})
	if err != nil {
		return nil, 0, err
	}
	if most > 0 && len(infos) == most {
		if infos, more, err = addLive(ctx, d, infos); err != nil {
			return nil, 0, err
		}
	}
	found := make([]*card.Status, len(infos)) // nil: the post of a report
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookers)
	for i, info := range infos {
		group.Go(func() error {
			r, err := d.LoadListed(ctx, info)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				damaged := card.StatusOfDamaged(info.Run, info.Started, err)
				found[i] = &damaged
			case !isReportOnly(r):
				status := card.StatusOf(r)
				found[i] = &status
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	list = make([]card.Status, 0, len(found))
	for _, status := range found {
		if status != nil {
			list = append(list, *status)
		}
	}
	return list, more, nil
}

// lookers is how many journals are read at once for a list.
const lookers = 8

// addLive adds the live runs to the newest ones, and counts the others.
func addLive(ctx context.Context, d *runs.Client, newest []agent.RunInfo) (infos []agent.RunInfo, more int, err error) {
	known := make(map[agent.RunID]bool, len(newest))
	for _, info := range newest {
		known[info.Run] = true
	}
	live, err := d.Journals.Runs(ctx, agent.RunFilter{Live: true})
	if err != nil {
		return nil, 0, err
	}
	for _, info := range live {
		if !known[info.Run] {
			newest = append(newest, info)
		}
	}
	all, err := d.Journals.CountRuns(ctx, agent.RunFilter{})
	return newest, max(all-len(newest), 0), err
}

// Mine sums up the person's newest runs, the newest first, at most 20 out of
// the newest 100 of the store.
func (c *Chat) Mine(ctx context.Context, p bot.Person) ([]card.Status, error) {
	runs, err := c.requested(ctx, p)
	list := make([]card.Status, len(runs))
	for i, r := range runs {
		list[i] = card.StatusOf(r)
	}
	return list, err
}

// requested are the newest runs that the person asked for.
func (c *Chat) requested(ctx context.Context, p bot.Person) ([]agent.Run, error) {
	return c.newestRuns(ctx, maxListed, false, func(r agent.Run) bool { return authority.IsRequester(r, p) })
}

// Pending lists open questions that the person may decide, of the newest runs
// first, at most 20 out of the newest 100 live runs of the store.
func (c *Chat) Pending(ctx context.Context, p bot.Person) ([]card.Pending, error) {
	var list []card.Pending
	_, err := c.newestRuns(ctx, maxListed, true, func(r agent.Run) bool {
		n := len(list)
		for _, check := range r.OpenCheckpoints() {
			if len(list) < maxListed && c.cfg.Runs.Authority.MayDecide(r.Asking(check), check.Ask, p) && !check.Voted(p.ID) {
				list = append(list, card.Pending{Run: r, Check: check})
			}
		}
		return len(list) > n
	})
	return list, err
}

// target is the run that a command is about: the one that is named, else the
// one that lives in the thread, else the person's only live one at this place.
func (req *request) target(ctx context.Context, named string) (agent.Run, error) {
	if named != "" {
		return req.visible(ctx, agent.RunID(strings.Trim(named, "`")))
	}
	r, live, err := req.resident(ctx)
	if err != nil {
		return r, err
	}
	rivals, err := req.rivals(ctx)
	switch {
	case err != nil:
		return r, err
	case len(rivals) > 1:
		return r, &ambiguousError{rivals}
	case len(rivals) == 1 && !live:
		return rivals[0], nil
	case r.ID != "":
		return r, nil
	}
	place := req.in.Where.Place()
	list, err := req.newestRuns(ctx, maxRivals, true, func(r agent.Run) bool {
		return authority.IsRequester(r, req.in.By) && (req.in.Where.Channel == "" || placeOf(r) == place)
	})
	switch {
	case err != nil:
		return r, err
	case len(list) == 0:
		return r, refuse("No run of yours is at work here. Say it in the thread of the run that you mean: `runs` lists yours, with a link to each.")
	case len(list) > 1:
		return r, &ambiguousError{list}
	}
	return list[0], nil
}

// visible is a run that the person may look at: at the place where it answers,
// or with a part in it.
func (req *request) visible(ctx context.Context, run agent.RunID) (agent.Run, error) {
	r, err := req.cfg.Runs.Load(ctx, run)
	if err != nil {
		return r, err
	}
	if req.maySee(r) {
		return r, nil
	}
	req.log("a look at a run was refused", r)
	return agent.Run{}, agent.ErrNoRun
}

// maySee reports whether the person may look at the run.
func (req *request) maySee(r agent.Run) bool {
	a := req.cfg.Runs.Authority
	return authority.LivesAt(r, req.in.Where) || a.MaySteer(r, req.in.By) || a.MayDecide(r, agent.CheckApproval, req.in.By) || a.MayDecide(r, agent.CheckBudget, req.in.By)
}

// placeOf is the channel that a run answers in, empty for one that is only watched.
func placeOf(r agent.Run) string {
	a, err := bot.ParseAddress(r.Brief.ReplyTo)
	if errors.Is(err, bot.ErrAddress) {
		return ""
	}
	return a.Place()
}
