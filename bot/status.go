package bot

import (
	"context"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Status is where a run stands, in the shape of `status --json`.
type Status struct {
	Run        agent.RunID    `json:"run"`
	Goal       string         `json:"goal"`
	State      agent.RunState `json:"state"`
	WaitingFor string         `json:"waiting_for"`
	Waits      string         `json:"-"` // the same in words of a card
	Started    time.Time      `json:"started"`
	Tasks      Progress       `json:"tasks"`
	Cost       *agent.Nano    `json:"cost_usd"`
	Tokens     int64          `json:"tokens"`
	// Problem says why the journal cannot be read, empty if it can.
	Problem string `json:"problem,omitempty"`
}

// Progress counts tasks.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// StatusOf sums up a fold.
func StatusOf(r agent.Run) Status {
	done, total := r.Progress()
	s := Status{Run: r.ID, Goal: r.Brief.Goal, State: r.State(), Started: r.Started,
		Tasks: Progress{done, total}, Cost: r.Spent.Dollars(), Tokens: r.Spent.Tokens()}
	switch {
	case r.Undelivered() != "":
		s.WaitingFor = "an administrator: the report could not be posted: " + strings.TrimPrefix(r.Undelivered(), "error: ")
		s.Waits = "**could not be posted**: " + quoted(r.Undelivered(), 160)
	case s.State == agent.RunPaused && r.Refused != "":
		s.WaitingFor = r.Refused
		s.Waits = "the model refuses its configuration: " + quoted(r.Refused, 100)
	case s.State == agent.RunPaused:
		s.WaitingFor = "resume (paused by " + r.Paused + ")"
		s.Waits = "paused by " + pausedBy(r.Paused)
	case r.Ended == nil:
		if c := r.OpenCheckpoint(); c != nil {
			s.WaitingFor = string(c.Ask) + " " + string(c.ID) + ": " + c.Title
			s.Waits = "waits " + wants[c.Ask] + ": " + quoted(title(*c), 100) + " (`" + string(c.ID) + "`)"
		}
	}
	return s
}

// mere reports whether the run is the post of a report or an alert and nothing
// else: no list of work has it, unless it could not be posted.
func mere(r agent.Run) bool { return r.Scheduled() && r.Undelivered() == "" }

// ListRuns sums up every run of the store, the newest first, without the posts of
// reports. A run whose journal is damaged is listed with its problem; the
// others are not affected.
func ListRuns(ctx context.Context, d *Desk) ([]Status, error) {
	infos, err := d.Journals.Runs(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Status, 0, len(infos))
	for _, info := range infos {
		r, err := d.Load(ctx, info.Run)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			list = append(list, Status{Run: info.Run, Started: info.Started, Problem: err.Error()})
			continue
		}
		if !mere(r) {
			list = append(list, StatusOf(r))
		}
	}
	return list, nil
}
