package file

// The tool list_files: files, or their lines and sizes by folder or ending.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// longest is how many files `by: lines` lists unless limit says otherwise.
const longest = 200

type list struct{ c Config }

type listArgs struct {
	Path, Glob, By, Format string
	Depth, Limit           tools.Whole
	Skip                   []string
}

// Spec describes list_files.
func (list) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "list_files",
		Description: "Lists regular files of the workspace, without following symbolic links. by file: path and size in bytes; " +
			"by folder: folder, number of files, lines (. is the top folder); by extension: extension, files, lines; by lines: path and lines, longest first. " +
			"Columns are separated by tabs, without a heading; lines are counted as wc -l does. format json gives an array of objects with the keys path, size, folder, ext, files, lines.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
			"path":{"type":"string","description":"Folder to list; default the whole workspace"},
			"glob":{"type":"string","description":"Only files whose name matches, for example *.go or *.{ts,tsx}; with a slash it is compared with the path: src/**/*.go"},
			"by":{"type":"string","enum":["file","folder","extension","lines"],"description":"Default file"},
			"depth":{"type":"integer","minimum":1,"description":"Levels of folders, 1 is the folder alone; default all"},
			` + skipProperty + `,
			"limit":{"type":"integer","minimum":1,"description":"Most rows; default 200 for by lines, else all"},
			"format":{"type":"string","enum":["text","json"],"description":"Default text"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// row is one row of a listing; which fields count depends on by.
type row struct {
	name  string
	files int64
	lines int64
	size  int64
}

// Run lists.
func (t list) Run(ctx context.Context, call agent.Call) agent.Result {
	args := listArgs{Path: ".", By: "file", Skip: defaultSkip()}
	return inFolder(ctx, t.c, call, &args, func(ctx context.Context, f *workspace.Folder) (agent.Result, error) {
		top, err := startOf(f, args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		rows, err := collect(ctx, f, top, args)
		if err != nil {
			return agent.Result{}, err
		}
		text, err := render(rows, args)
		if err == nil && len(text) > bounds.Result {
			err = fmt.Errorf("the listing of %s entries is larger than %d MiB: narrow path or glob, list by folder, or set limit", format.Thousands(len(rows)), bounds.Result>>20)
		}
		return succeeded(text, t.c.Trust), err // others chose the names
	})
}

// collect walks and groups.
func collect(ctx context.Context, f *workspace.Folder, top string, args listArgs) ([]row, error) {
	g, err := compileGlob(args.Glob)
	if err != nil {
		return nil, err
	}
	var rows []row
	at := map[string]int{}
	var c counter
	err = walk(ctx, f, top, args.Skip, int(args.Depth), func(file foundFile) error {
		if !g.match(file.path) {
			return nil
		}
		if args.By == "file" {
			rows = append(rows, row{name: file.path, size: file.size})
			return nil
		}
		lines, err := c.lines(ctx, f, file.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went away since its folder was read
		}
		if err != nil {
			return err
		}
		name := file.path
		switch args.By {
		case "folder":
			name = path.Dir(file.path)
		case "extension":
			name = extension(file.path)
		}
		i, seen := at[name]
		if !seen {
			i = len(rows)
			at[name] = i
			rows = append(rows, row{name: name})
		}
		rows[i].files++
		rows[i].lines += lines
		return nil
	})
	sortRows(rows, args.By)
	return rows, err
}

// sortRows sorts files and folders by name, the rest by lines, most first.
func sortRows(rows []row, by string) {
	slices.SortFunc(rows, func(a, b row) int {
		if by == "lines" || by == "extension" {
			return cmp.Or(cmp.Compare(b.lines, a.lines), cmp.Compare(a.name, b.name))
		}
		return cmp.Compare(a.name, b.name)
	})
}

func render(rows []row, args listArgs) (string, error) {
	limit := int(args.Limit)
	if limit == 0 && args.By == "lines" {
		limit = longest
	}
	left := 0
	if limit > 0 && len(rows) > limit {
		left, rows = len(rows)-limit, rows[:limit]
	}
	if args.Format == "json" {
		return renderJSON(rows, args.By)
	}
	if len(rows) == 0 {
		return "no files", nil
	}
	var b strings.Builder
	for _, r := range rows {
		switch args.By {
		case "file":
			fmt.Fprintf(&b, "%s\t%d\n", quotedName(r.name), r.size)
		case "lines":
			fmt.Fprintf(&b, "%s\t%d\n", quotedName(r.name), r.lines)
		case "extension":
			fmt.Fprintf(&b, "%s\t%d\t%d\n", cmp.Or(quotedName(r.name), "(none)"), r.files, r.lines)
		case "folder":
			fmt.Fprintf(&b, "%s\t%d\t%d\n", quotedName(r.name), r.files, r.lines)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%s more, raise limit to see them)\n", format.Thousands(left))
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func renderJSON(rows []row, by string) (string, error) {
	out := make([]map[string]any, 0, len(rows))
	for _, r := range rows {
		switch by {
		case "file":
			out = append(out, map[string]any{"path": r.name, "size": r.size})
		case "lines":
			out = append(out, map[string]any{"path": r.name, "lines": r.lines})
		case "extension":
			out = append(out, map[string]any{"ext": r.name, "files": r.files, "lines": r.lines})
		case "folder":
			out = append(out, map[string]any{"folder": r.name, "files": r.files, "lines": r.lines})
		}
	}
	b, err := format.JSON(out)
	if err != nil {
		return "", fmt.Errorf("writing the listing as JSON: %w", err)
	}
	return string(b), nil
}

// quotedName is a name on one line and in one column: names with control
// characters are quoted.
func quotedName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
