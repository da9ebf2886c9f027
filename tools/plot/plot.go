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

// Spec describes the tool. It counts as a read: it can only create or replace
// a picture.
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
	if !strings.EqualFold(path.Ext(at), ".png") {
		return "", fmt.Errorf("%w: let path end in .png, got %q", ErrPath, at)
	}
	f, err := t.w.Open(c.Folder)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	p, err := f.Target(at)
	if err != nil {
		return "", err
	}
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
	if err := replaceable(f, p); err != nil {
		return "", err
	}
	if err := f.Replace(ctx, p, bytes.NewReader(png), workspace.StateOf(png)); err != nil {
		return "", err
	}
	return p, l.Record(key)
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
