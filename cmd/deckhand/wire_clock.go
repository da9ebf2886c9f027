package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// recurring are the schedules of the file and those that people made in chat.
func (c config) recurring(s store) recurring.Recurring {
	fixed := make([]recurring.Schedule, len(c.Schedules))
	for i, f := range c.Schedules {
		fixed[i] = recurring.Schedule{
			Name: f.Name, Report: recurring.Subject(f.Report), Goal: f.Goal, When: f.When, Zone: f.Zone, Since: time.Unix(0, 0).UTC(),
			To: f.To, Always: !f.Quiet, Missed: schedule.Missed(f.Missed), Overlap: recurring.Overlap(f.Overlap),
		}
	}
	return recurring.Recurring{Fixed: fixed, Store: s}
}

// reporter makes reports about runs.
func (c config) reporter(s store, w *workspace.Workspace, log *slog.Logger) recurring.Reporter {
	return recurring.Reporter{Desk: c.desk(s), Draw: draw(plot.New(w)), Admins: c.Authority.Admins, Counters: c.counters(s, log), Log: log}
}

// clock serves schedules.
func (c config) clock(s store, r recurring.Reporter, alarm func(context.Context, bot.Alert)) *recurring.Clock {
	return recurring.NewClock(recurring.ClockConfig{Reporter: r, Recurring: c.recurring(s), Brief: c.briefIn, Alarm: alarm})
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

// counters are the month's budgets of those whom a report is about.
func (c config) counters(s store, log *slog.Logger) func(ctx context.Context, scope digest.Scope, now time.Time) []digest.Counter {
	return func(ctx context.Context, scope digest.Scope, now time.Time) []digest.Counter {
		month := now.UTC().Format("2006-01")
		name, counter, limit := "everybody", "month/"+month, c.Budget.Month.USD
		switch {
		case scope.Person != "":
			name, counter, limit = "you", "person/"+scope.Person+"/"+month, c.Budget.PersonMonth.USD
		case scope.Channel != "":
			at := bot.Address{Platform: scope.Platform, Workspace: scope.Workspace, Channel: scope.Channel}
			name, counter, limit = "this channel", "channel/"+at.Folder()+"/"+month, c.Budget.ChannelMonth.USD
		}
		if limit == 0 {
			return nil // nobody set one, and the runs' own costs are in the report
		}
		spent, err := s.Spent(ctx, counter)
		if err != nil {
			log.Warn("a budget is left out of a report", "counter", counter, "err", err)
			return nil
		}
		return []digest.Counter{{Name: name + " in " + now.UTC().Format("January"), Spent: agent.Nano(spent), Limit: limit}}
	}
}
