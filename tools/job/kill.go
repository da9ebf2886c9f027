package job

// This file is the tools kill_job and list_jobs: a run ends its jobs by
// asking their supervisors, and sees all that it started.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// kill is the tool kill_job.
type kill struct{ j *Jobs }

// Spec describes the tool. It reaches nothing but what this run started, so it
// is asked for as little as a read.
func (t kill) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "kill_job",
		Description: "Ends a job of this run with all its processes: SIGTERM, and SIGKILL after " + t.j.c.Grace.String() +
			". A job that is over stays as it is.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{
			"id":{"type":"string","description":"As start_job returned it"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatIdempotent,
	}
}

// Run asks the job's supervisor to end it, and is called again until it has.
func (t kill) Run(ctx context.Context, c agent.Call) agent.Result {
	var args struct{ ID string }
	r, err := report{}, readArguments(c, &args)
	if err == nil {
		r, err = t.killJob(ctx, c.Run, args.ID, "kill_job was called")
	}
	if err != nil {
		return agent.Failed("kill_job: " + err.Error())
	}
	if patience := int(t.j.c.Grace/time.Second) + 10; !r.over() && c.Deferred < patience {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Again: time.Second}
	}
	text := r.summary()
	if !r.over() {
		text += "; it is being ended and takes its time, look again with job_status"
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: text}
}

func (t kill) killJob(ctx context.Context, run agent.RunID, id, why string) (report, error) {
	dir, err := t.j.find(run, id)
	if err != nil {
		return report{}, err
	}
	r, err := readReport(dir)
	if err != nil || r.over() {
		return r, err
	}
	if err := requestKill(dir, why); err != nil {
		return r, err
	}
	// Most commands end at once.
	ctx, cancel := context.WithTimeout(ctx, 3*lookEvery)
	defer cancel()
	_ = until(ctx, func() bool { return exists(dir, endFile) })
	return readReport(dir)
}

// requestKill asks a job's supervisor to end the command; the first reason counts.
func requestKill(dir, why string) error {
	err := createJSON(dir, killFile, why)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the job cannot be ended: %w", err)
	}
	return nil
}

// list is the tool list_jobs.
type list struct{ j *Jobs }

// Spec describes the tool.
func (list) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "list_jobs",
		Description: "Lists the jobs of this run in the order in which they were started: id, name, state, runtime and the command's beginning.",
		Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{}}`),
		Class:       agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// Run lists the jobs.
func (t list) Run(_ context.Context, c agent.Call) agent.Result {
	dirs, err := t.j.all(c.Run)
	if err != nil {
		return agent.Failed("list_jobs: " + err.Error())
	}
	reports := make([]report, 0, len(dirs))
	for _, dir := range dirs {
		r, err := readReport(dir)
		if err != nil {
			return agent.Failed("list_jobs: " + filepath.Base(dir) + ": " + err.Error())
		}
		reports = append(reports, r)
	}
	slices.SortFunc(reports, func(a, b report) int { return a.Made.Compare(b.Made) })
	lines := make([]string, 0, len(reports))
	for _, r := range reports {
		lines = append(lines, r.summary()+": "+format.Line(r.Command, 100))
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		text = "this run has no jobs"
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: text}
}
