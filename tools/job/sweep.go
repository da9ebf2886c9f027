package job

// What becomes of the jobs of runs that ended.

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// End asks the supervisors of a run's jobs to end them, for a run that has
// ended itself. It does not wait for that.
func (j *Jobs) End(run agent.RunID) error {
	dirs, err := j.all(run)
	for _, dir := range dirs {
		if r, e := readReport(dir); e != nil || !r.over() {
			err = errors.Join(err, requestKill(dir, "its run has ended"))
		}
	}
	return err
}

// Sweep ends the jobs of runs that have ended, and removes the folders of those
// that ended before the given time. Runs that ended are told by the function;
// the folder of a run that it does not know goes when it is as old, and its
// jobs are left alone until then.
func (j *Jobs) Sweep(ctx context.Context, ended func(agent.RunID) (at time.Time, known bool, err error), before time.Time) (removed int, err error) {
	entries, err := os.ReadDir(j.c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("the jobs cannot be listed: %w", err)
	}
	var failures []error
	for _, e := range entries {
		if ctx.Err() != nil {
			break
		}
		if strings.HasPrefix(e.Name(), gone) {
			failures = append(failures, os.RemoveAll(filepath.Join(j.c.Dir, e.Name())))
			continue
		}
		if !e.IsDir() || !runShape.MatchString(e.Name()) {
			continue
		}
		did, err := j.sweepRun(e, ended, before)
		failures = append(failures, err)
		if did {
			removed++
		}
	}
	return removed, errors.Join(failures...)
}

// sweepRun does it for the folder of one run.
func (j *Jobs) sweepRun(e fs.DirEntry, ended func(agent.RunID) (at time.Time, known bool, err error), before time.Time) (removed bool, err error) {
	run := agent.RunID(e.Name())
	at, known, err := ended(run)
	switch {
	case err != nil:
		return false, fmt.Errorf("whether run %s has ended: %w", run, err)
	case known && at.IsZero(): // it lives
		return false, nil
	case known:
		err = j.End(run)
	default:
		info, gone := e.Info()
		if gone != nil {
			return false, nil //nolint:nilerr // somebody else removed it
		}
		at = info.ModTime()
	}
	if !at.Before(before) || !j.idle(run) {
		return false, err
	}
	failed := j.remove(run)
	return failed == nil, errors.Join(err, failed)
}

// gone begins the names of folders that are being removed.
const gone = ".gone-"

// remove removes the folder of a run: at once for whoever looks, since a
// supervisor that is late must not find a job that seems not to have begun.
func (j *Jobs) remove(run agent.RunID) error {
	away := filepath.Join(j.c.Dir, gone+rand.Text())
	if err := os.Rename(filepath.Join(j.c.Dir, string(run)), away); err != nil {
		return err
	}
	return os.RemoveAll(away)
}

// idle reports whether no job of the run goes on.
func (j *Jobs) idle(run agent.RunID) bool {
	dirs, err := j.all(run)
	for _, dir := range dirs {
		r, e := readReport(dir)
		if e != nil || !r.over() && (r.begun != nil || time.Since(r.Made) < beginWait) {
			return false
		}
	}
	return err == nil
}
