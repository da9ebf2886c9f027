package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/plot"
)

// recurringOf are the schedules of the file and those that people made in chat.
func recurringOf(c config.Config, s Store) recurring.Schedules {
	fixed := make([]recurring.Schedule, len(c.Schedules))
	for i, f := range c.Schedules {
		fixed[i] = recurring.Schedule{
			Name: f.Name, Report: recurring.Subject(f.Report), Goal: f.Goal, When: f.When, Zone: f.Zone, Since: time.Unix(0, 0).UTC(),
			To: f.To, Always: !f.Quiet, Missed: schedule.Missed(f.Missed), Overlap: recurring.Overlap(f.Overlap),
		}
	}
	return recurring.Schedules{Fixed: fixed, Store: s}
}

// reporter makes reports about runs.
func (a *App) reporter() recurring.Reporter {
	o := a.options
	return recurring.Reporter{Runs: NewClient(o.Config, a.store), Draw: draw(plot.New(a.kit.Space)), Admins: o.Config.Authority.Admins,
		Counters: counters(o.Config, a.store, o.Log), Log: o.Log}
}

// draw makes the chart of a report with the tool that runs use.
func draw(tool plot.Tool) func(ctx context.Context, folder, path string, chart digest.Chart) error {
	return func(ctx context.Context, folder, path string, chart digest.Chart) error {
		args, err := json.Marshal(map[string]any{
			"kind": chart.Kind, "title": chart.Title, "labels": chart.Labels, "values": chart.Values,
			"x_label": chart.XLabel, "y_label": chart.YLabel, "path": path,
		})
		if err != nil {
			return fmt.Errorf("the chart %q: %w", chart.Title, err)
		}
		if r := tool.Run(ctx, agent.Call{Arguments: args, Folder: folder}); r.State != agent.OutcomeOK {
			return errors.New(r.Text)
		}
		return nil
	}
}
