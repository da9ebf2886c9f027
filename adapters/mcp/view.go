package mcp

// This file is a run as another agent sees it, and the run's files.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxFile is how large a file may be that is handed out, in bytes.
const maxFile = 8 << 20

// runList is the answer of status without a run.
type runList struct {
	Runs []view `json:"runs"`
}

// view is one run.
type view struct {
	Run        agent.RunID    `json:"run"`
	Goal       string         `json:"goal"`
	State      agent.RunState `json:"state"`
	WaitingFor string         `json:"waiting_for,omitempty"`
	TasksDone  int            `json:"tasks_done"`
	Tasks      int            `json:"tasks"`
	Cost       string         `json:"cost_usd,omitempty"`
	Tokens     int64          `json:"tokens"`
	Questions  []question     `json:"questions,omitempty"`
	Report     *report        `json:"report,omitempty"`
}

// question is an open checkpoint.
type question struct {
	Checkpoint agent.CheckpointID `json:"checkpoint"`
	Kind       string             `json:"kind"`
	Title      string             `json:"title"`
	Detail     string             `json:"detail,omitempty"`
	Risk       string             `json:"risk,omitempty"`
	Choices    []string           `json:"choices,omitempty"`
	Questions  []asked            `json:"questions,omitempty"`
}

// asked is one of several questions of a checkpoint.
type asked struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
}

// report is what came of a run.
type report struct {
	Headline  string   `json:"headline"`
	Body      string   `json:"body"`
	Artifacts []string `json:"artifacts,omitempty"`
	Skipped   []string `json:"skipped,omitempty"`
}

// view is the run now.
func (h host) view(r agent.Run) view {
	done, total := r.Progress()
	v := view{Run: r.ID, Goal: format.Cut(r.Brief.Goal, 2000), State: r.State(), WaitingFor: h.c.Desk.Waits(r),
		TasksDone: done, Tasks: total, Tokens: r.Spent.Tokens()}
	if cost := r.Spent.Dollars(); cost != nil {
		v.Cost = cost.String()
	}
	for _, c := range r.OpenCheckpoints() {
		q := question{Checkpoint: c.ID, Kind: string(c.Ask), Title: c.Title, Detail: format.Cut(c.Detail, 8000), Risk: c.Risk, Choices: c.Choices}
		for _, one := range c.Questions {
			q.Questions = append(q.Questions, asked{ID: one.ID, Question: one.Question, Choices: one.Choices})
		}
		v.Questions = append(v.Questions, q)
	}
	if rep := r.Report; rep != nil {
		v.Report = &report{Headline: rep.Headline, Body: rep.Body, Artifacts: rep.Artifacts, Skipped: rep.Skipped}
	}
	return v
}

// content is the run in words, with links to its files.
func (v view) content() []sdk.Content {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s", v.Run, v.State)
	if v.WaitingFor != "" {
		fmt.Fprintf(&b, ", waits for %s", v.WaitingFor)
	}
	for _, q := range v.Questions {
		fmt.Fprintf(&b, "\n\nquestion %s (%s): %s", q.Checkpoint, q.Kind, q.Title)
		if q.Detail != "" {
			b.WriteString("\n" + q.Detail)
		}
		for _, one := range q.Questions {
			fmt.Fprintf(&b, "\n- %s: %s %s", one.ID, one.Question, strings.Join(one.Choices, " / "))
		}
		if len(q.Choices) > 0 {
			b.WriteString("\nchoices: " + strings.Join(q.Choices, ", "))
		}
	}
	var links []sdk.Content
	if v.Report != nil {
		b.WriteString("\n\n" + v.Report.Headline + "\n\n" + v.Report.Body)
		for _, p := range v.Report.Artifacts {
			links = append(links, &sdk.ResourceLink{URI: address(v.Run, p), Name: path.Base(p), MIMEType: kindOf(p)})
		}
	}
	return append([]sdk.Content{&sdk.TextContent{Text: b.String()}}, links...)
}

// address is a file's address as a resource.
func address(run agent.RunID, p string) string {
	return (&url.URL{Scheme: "deckhand", Host: string(run), Path: "/" + p}).String()
}

func kindOf(p string) string { return mime.TypeByExtension(path.Ext(p)) }

// resource reads a file by its address.
func (h host) resource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	u, err := url.Parse(r.Params.URI)
	if err != nil || u.Scheme != "deckhand" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	// The host of an address is read without regard to case by some: the run's id
	// is taken as it was written.
	_, rest, _ := strings.Cut(r.Params.URI, "://")
	run, _, _ := strings.Cut(rest, "/")
	one, err := h.file(ctx, agent.RunID(run), strings.TrimPrefix(u.Path, "/"))
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{one}}, nil
}

// file reads a file of a run that the other agent may see.
func (h host) file(ctx context.Context, id agent.RunID, p string) (*sdk.ResourceContents, error) {
	r, err := h.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if !delivered(r, p) {
		return nil, fmt.Errorf("%s is none of the files that run %s made: its report names them", p, id)
	}
	f, size, err := h.c.Desk.Open(r.Brief.Folder, p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if size > maxFile {
		return nil, fmt.Errorf("%s has %d MiB, at most %d MiB are handed out: take it from the workspace", p, size>>20, maxFile>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p, err)
	}
	if len(data) > maxFile {
		return nil, errors.New("it grew while it was read")
	}
	one := &sdk.ResourceContents{URI: address(id, p), MIMEType: kindOf(p)}
	if utf8.Valid(data) {
		one.Text = string(data)
	} else {
		one.Blob = data
	}
	return one, nil
}

// delivered reports whether a file is one that the run may hand out: those of its
// report, and what it wrote where nobody reviews that first.
func delivered(r agent.Run, p string) bool {
	if r.Report != nil && slices.Contains(r.Report.Artifacts, p) {
		return true
	}
	return len(r.Brief.Reviewers) == 0 && slices.Contains(r.Touched, p)
}
