package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// superviseCommand is how this binary is started as the supervisor of a job.
const superviseCommand = "supervise-job"

// jobs are the commands on the host, nil where they are off.
func (c config) jobs(w *workspace.Workspace) (*job.Jobs, error) {
	if !c.Tools.Jobs.Enabled {
		return nil, nil //nolint:nilnil // off is no error
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program for the supervisors of jobs: %w", err)
	}
	dir := filepath.Join(c.DataDir, "jobs")
	if c.Redis.URL.present() { // replicas keep them beside the files that they share
		dir = filepath.Join(c.Workspace, ".deckhand", "jobs")
	}
	jobs, err := job.New(job.Config{
		Dir: dir, Workspace: w, Root: c.Workspace, Command: []string{self, superviseCommand},
		Max: c.Tools.Jobs.Max, Wall: c.Tools.Jobs.Wall, Output: int64(c.Tools.Jobs.Output),
	})
	if err != nil {
		return nil, usage("tools.jobs (%s): %w", c.At("tools.jobs.enabled"), err)
	}
	return jobs, nil
}

// ending is the store of a loop whose runs take their jobs with them.
func (c config) ending(s agent.Store, w *workspace.Workspace, log *slog.Logger) (agent.Store, error) {
	jobs, err := c.jobs(w)
	if jobs == nil || err != nil {
		return s, err
	}
	if err := job.Conceal(); err != nil {
		return nil, fmt.Errorf("hide this process's secrets from the commands of jobs: %w", err)
	}
	return endings{s, jobs, log}, nil
}

// endings ends the jobs of a run together with the run. What a crash in
// between leaves is found by the next sweep.
type endings struct {
	agent.Store
	jobs *job.Jobs
	log  *slog.Logger
}

// Commit is the store's own.
func (e endings) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	r, err := e.Store.Commit(ctx, c)
	if err == nil && c.Ends {
		if err := e.jobs.End(c.Run); err != nil {
			e.log.Error("cannot end the jobs of a run that ended; the next sweep tries it", "run", c.Run, "err", err)
		}
	}
	return r, err
}

// sweepJobs ends the jobs of runs that have ended, and removes old ones.
func (c config) sweepJobs(ctx context.Context, s store, log *slog.Logger) {
	err := c.sweepJobsOf(ctx, s)
	if err != nil && ctx.Err() == nil {
		log.Error("cannot look through the jobs of ended runs; trying again later", "err", err)
	}
}

func (c config) sweepJobsOf(ctx context.Context, s store) error {
	w, err := c.shared()
	if err != nil {
		return err
	}
	jobs, err := c.jobs(w)
	if jobs == nil || err != nil {
		return err
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	ended := make(map[agent.RunID]time.Time, len(runs))
	for _, r := range runs {
		ended[r.Run] = r.Ended
	}
	_, err = jobs.Sweep(ctx, func(run agent.RunID) (time.Time, bool) {
		at, known := ended[run]
		return at, known
	}, time.Now().Add(-c.Retention.Runs))
	return err
}
