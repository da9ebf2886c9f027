package plot

// The tool, which writes the picture.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// ErrPath is returned for a path that is not a picture's.
var ErrPath = errors.New("plot writes PNG pictures only")

// Tool is the tool plot.
type Tool struct {
	w *workspace.Workspace
}

// New returns the tool; its pictures go to the workspace.
func New(w *workspace.Workspace) Tool { return Tool{w} }

// Spec describes the tool. In a plan it counts as a read: what a call does to
// the world is said when its path is known.
func (Tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "plot",
		Description: "Draws a chart of one series as a PNG in the workspace. Bars with many or long labels lie on their side; above 40 bars the small ones become one bar \"other\". " +
			"labels and values may be JSON arrays or texts with one; values may be an object of label and number. scatter and line take numeric labels as x; histogram needs no labels.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["kind","values","path"],"properties":{
			"kind":{"type":"string","enum":["bar","line","scatter","pie","histogram"]},
			"title":{"type":"string","maxLength":300},
			"labels":{"type":["array","string"],"description":"One label for each value"},
			"values":{"type":["array","string","object"],"description":"Numbers"},
			"x_label":{"type":"string","maxLength":100,"description":"Title of the horizontal axis"},
			"y_label":{"type":"string","maxLength":100,"description":"Title of the vertical axis"},
			"path":{"type":"string","minLength":1,"description":"PNG file, relative to the workspace, for example charts/loc.png"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatIdempotent,
	}
}

// arguments are what a model sends.
type arguments struct {
	Kind   string          `json:"kind"`
	Title  string          `json:"title"`
	Path   string          `json:"path"`
	Labels json.RawMessage `json:"labels"`
	Values json.RawMessage `json:"values"`
	XLabel string          `json:"x_label"`
	YLabel string          `json:"y_label"`
}

// Prepare says what drawing would do to the path: make a picture, or replace one.
func (t Tool) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	var args arguments
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Prepared{}, fmt.Errorf("plot: the arguments do not fit: %w", err)
	}
	f, p, err := t.target(c, args.Path)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("plot: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := replaceable(f, p); err != nil {
		return agent.Prepared{}, fmt.Errorf("plot: %w", err)
	}
	before, err := f.State(ctx, p)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("plot: %w", err)
	}
	prepared := agent.Prepared{Target: before.String(), Mark: before.String(), Class: agent.ClassCreate, Changes: []string{p}, Preview: fmt.Sprintf("Draws a new picture, `%s`.", p)}
	if !before.Absent {
		prepared.Class, prepared.Preview = agent.ClassWrite, fmt.Sprintf("Replaces the picture `%s` (%d bytes).", p, before.Size)
	}
	return prepared, nil
}

// Run draws and writes the picture.
func (t Tool) Run(ctx context.Context, c agent.Call) agent.Result {
	var args arguments
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Failed("plot: the arguments do not fit: " + err.Error())
	}
	ch, err := read(args)
	if err != nil {
		return agent.Failed("plot: " + err.Error())
	}
	p, err := t.write(ctx, c, args.Path, ch)
	if err != nil {
		return agent.Failed("plot: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Files: []string{p}, Text: fmt.Sprintf("wrote %s: %s", p, ch)}
}

// write puts the picture at the path, unless this very call did so before.
func (t Tool) write(ctx context.Context, c agent.Call, at string, ch chart) (string, error) {
	f, p, err := t.target(c, at)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	png, err := picture(ch, sharpness)
	if err != nil {
		return "", err
	}
	l, err := f.Lock(ctx, p)
	if err != nil {
		return "", err
	}
	defer l.Release()
	// A worker that slept since before the picture was drawn must not put it
	// over a newer one.
	key := fmt.Sprintf("%s\x00%s\x00plot\x00%s", c.Run, c.Effect, c.Arguments)
	if done, err := l.Done(key); err != nil || done {
		return p, err
	}
	if err := unchanged(ctx, f, p, c.Mark, workspace.StateOf(png)); err != nil {
		return "", err
	}
	if err := f.Replace(ctx, p, bytes.NewReader(png), workspace.StateOf(png)); err != nil {
		return "", err
	}
	return p, l.Record(key)
}

// target is the run's folder, to be closed, and the clean path of the picture.
func (t Tool) target(c agent.Call, at string) (*workspace.Folder, string, error) {
	if !strings.EqualFold(path.Ext(at), ".png") {
		return nil, "", fmt.Errorf("%w: let path end in .png, got %q", ErrPath, at)
	}
	f, err := t.w.Open(c.Folder)
	if err != nil {
		return nil, "", err
	}
	p, err := f.Target(at)
	if err != nil {
		return nil, "", errors.Join(err, f.Close())
	}
	return f, p, nil
}

// unchanged reports whether the path is as it was when the call was prepared, or
// holds the new picture already. A call that an older build prepared has no mark.
func unchanged(ctx context.Context, f *workspace.Folder, p, mark string, after workspace.State) error {
	now, err := f.State(ctx, p)
	switch {
	case err != nil:
		return err
	case mark == "":
		return replaceable(f, p)
	case now.String() != mark && now != after:
		return fmt.Errorf("%w: %s is %s, it was %s when this picture was prepared; nothing was changed, look at it and decide anew", workspace.ErrChanged, p, now, mark)
	}
	return nil
}

// replaceable reports whether there is nothing at the path, or a picture.
func replaceable(f *workspace.Folder, p string) error {
	file, _, err := f.Read(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	start := make([]byte, 8)
	n, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: reading what is there: %w", p, err)
	}
	if n > 0 && string(start[:n]) != "\x89PNG\r\n\x1a\n" {
		return fmt.Errorf("%w: %s exists and is no PNG, choose another path", ErrPath, p)
	}
	return nil
}
