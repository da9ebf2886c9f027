package file

// This file is what write_to_file, append_to_file and delete_file each do on
// their own: what a change leads to, how it is made, how it is told.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

const pathProperty = `"path":{"type":"string","minLength":1,"description":"File, relative to the workspace, for example notes/today.md"}`

func textSchema(what string) json.RawMessage {
	return json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path","text"],"properties":{` +
		pathProperty + `,"text":{"type":"string","description":"` + what + `"}}}`)
}

var writeSpec = agent.ToolSpec{
	Name:        "write_to_file",
	Description: "Writes a text file in the workspace: creates it with its folders or replaces its whole content.",
	Parameters:  textSchema("The whole new content"),
	Class:       agent.ClassWrite, Repeat: agent.RepeatProbeable,
}

var appendSpec = agent.ToolSpec{
	Name:        "append_to_file",
	Description: "Adds text to the end of a file in the workspace, exactly as given (start or end it with a line feed where one is needed); creates the file where it is missing.",
	Parameters:  textSchema("What is added at the end"),
	Class:       agent.ClassWrite, Repeat: agent.RepeatProbeable,
}

var deleteSpec = agent.ToolSpec{
	Name:        "delete_file",
	Description: "Deletes one file of the workspace for good. Folders are not deleted.",
	Parameters:  json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{` + pathProperty + `}}`),
	Class:       agent.ClassDelete, Repeat: agent.RepeatProbeable,
}

type writing struct{}

func (writing) plan(ctx context.Context, f *workspace.Folder, t target, before workspace.State) (workspace.State, string, error) {
	after := workspace.StateOf([]byte(t.Text))
	if before.Absent {
		return after, fmt.Sprintf("New file, %s.\n\n%s", format.Count(lines(t.Text), "line"), startOfText(t.Text)), nil
	}
	if before == after {
		return after, "The file has exactly this content already: nothing changes.", nil
	}
	diff, err := difference(ctx, f, t, before)
	if err != nil {
		return after, "", err
	}
	return after, fmt.Sprintf("Changes the file: it has %s then.\n\n%s", format.Count(lines(t.Text), "line"), diff), nil
}

func (writing) ignoresOthers() bool { return false }

func (writing) apply(ctx context.Context, f *workspace.Folder, t target, m transition) error {
	return f.Replace(ctx, t.Path, strings.NewReader(t.Text), m.After)
}

func (writing) resultText(t target, m transition) string {
	switch {
	case m.Before.Absent:
		return fmt.Sprintf("created %s: %s, %s", t.Path, format.Count(m.After.Size, "byte"), format.Count(lines(t.Text), "line"))
	case m.Before == m.After:
		return fmt.Sprintf("%s has exactly this content already", t.Path)
	}
	return fmt.Sprintf("replaced %s: %s, %s", t.Path, format.Count(m.After.Size, "byte"), format.Count(lines(t.Text), "line"))
}

type appending struct{}

func (appending) plan(ctx context.Context, f *workspace.Folder, t target, before workspace.State) (workspace.State, string, error) {
	if before.Absent {
		return writing{}.plan(ctx, f, t, before)
	}
	file, _, err := f.Read(t.Path)
	if err != nil {
		return before, "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.MultiReader(workspace.Bound(ctx, file), strings.NewReader(t.Text)))
	if err != nil {
		return before, "", fmt.Errorf("%s: reading what is to be kept: %w", t.Path, err)
	}
	after := workspace.State{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}
	return after, fmt.Sprintf("Adds %s at the end of the file.\n\n%s", format.Count(lines(t.Text), "line"), startOfText(t.Text)), nil
}

// ignoresOthers: the text goes to the end, whatever others added meanwhile.
func (appending) ignoresOthers() bool { return true }

func (appending) apply(ctx context.Context, f *workspace.Folder, t target, m transition) error {
	if m.Before.Absent {
		return f.Replace(ctx, t.Path, strings.NewReader(t.Text), m.After)
	}
	file, _, err := f.Read(t.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return f.Replace(ctx, t.Path, io.MultiReader(file, strings.NewReader(t.Text)), m.After)
}

func (appending) resultText(t target, m transition) string {
	return fmt.Sprintf("added %s to %s, which has %s now", format.Count(len(t.Text), "byte"), t.Path, format.Count(m.After.Size, "byte"))
}

type deleting struct{}

func (deleting) plan(ctx context.Context, f *workspace.Folder, t target, before workspace.State) (workspace.State, string, error) {
	after := workspace.State{Absent: true}
	if before.Absent {
		return after, "", fmt.Errorf("there is no %s to delete (list_files shows what there is): %w", t.Path, fs.ErrNotExist)
	}
	file, _, err := f.Read(t.Path)
	if err != nil {
		return after, "", err
	}
	defer func() { _ = file.Close() }()
	start, err := io.ReadAll(io.LimitReader(workspace.Bound(ctx, file), shownBytes+1))
	if err != nil {
		return after, "", fmt.Errorf("%s: reading it: %w", t.Path, err)
	}
	preview := fmt.Sprintf("The file has %s and is gone for good then.", format.Count(before.Size, "byte"))
	if !binary(start) && len(bytes.TrimSpace(start)) > 0 {
		preview += " It starts with:\n\n" + startOfText(string(start))
	}
	return after, preview, nil
}

func (deleting) ignoresOthers() bool { return false }

func (deleting) apply(_ context.Context, f *workspace.Folder, t target, _ transition) error {
	return f.Remove(t.Path)
}

func (deleting) resultText(t target, m transition) string {
	return fmt.Sprintf("deleted %s (%s)", t.Path, format.Count(m.Before.Size, "byte"))
}

// lines counts lines as people do: a last one without a line feed counts too.
func lines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
