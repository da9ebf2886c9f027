package kit

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// newJobs are the commands on the host, nil where they are off.
func newJobs(c config.Config, w *workspace.Workspace, s *sandbox.Sandbox, self string) (*job.Jobs, error) {
	if !c.Tools.Jobs.Enabled {
		return nil, nil //nolint:nilnil // off is no error
	}
	dir := filepath.Join(c.DataDir, "jobs")
	if c.Redis.URL.Present() { // replicas keep them beside the files that they share
		dir = filepath.Join(c.Workspace, ".deckhand", "jobs")
	}
	jobs, err := job.New(job.Config{
		Dir: dir, Workspace: w, Root: c.Workspace, Command: []string{self, superviseCommand}, Sandbox: s, Hide: hidden(c),
		Max: c.Tools.Jobs.Max, Wall: c.Tools.Jobs.Wall, Output: int64(c.Tools.Jobs.Output),
	})
	if err != nil {
		return nil, config.Refuse("tools.jobs (%s): %w", c.At("tools.jobs.enabled"), err)
	}
	return jobs, nil
}

// Ending is the store of a loop whose runs take their jobs with them.
func (k *Kit) Ending(s agent.Store, log *slog.Logger) (agent.Store, error) {
	if k.jobs == nil {
		return s, nil
	}
	if err := job.Conceal(); err != nil {
		return nil, fmt.Errorf("hide this process's secrets from the commands of jobs: %w", err)
	}
	return endingStore{s, k.jobs, log}, nil
}

// endingStore ends the jobs of a run together with the run. What a crash in
// between leaves is found by the next sweep.
type endingStore struct {
	agent.Store
	jobs *job.Jobs
	log  *slog.Logger
}

// Commit is the store's own.
func (e endingStore) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	r, err := e.Store.Commit(ctx, c)
	if err == nil && c.Ends {
		if err := e.jobs.End(c.Run); err != nil {
			e.log.Error("cannot end the jobs of a run that ended; the next sweep tries it", "run", c.Run, "err", err)
		}
	}
	return r, err
}

// SweepJobs ends the jobs of runs that have ended, and removes those of runs that
// ended before.
func (k *Kit) SweepJobs(ctx context.Context, runs agent.Archive, before time.Time) error {
	if k.jobs == nil {
		return nil
	}
	_, err := k.jobs.Sweep(ctx, func(run agent.RunID) (at time.Time, known bool, err error) {
		infos, err := runs.Runs(ctx, agent.RunFilter{Only: []agent.RunID{run}})
		if err != nil || len(infos) == 0 {
			return at, false, err
		}
		return infos[0].Ended, true, nil
	}, before)
	return err
}
