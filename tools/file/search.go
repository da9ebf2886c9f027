package file

// The tool search_files: lines that hold a text or match an expression.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Bounds of a search: matching lines, matching lines of one file, bytes of a
// line that are shown, and bytes of a line that are looked at.
const (
	maxHits    = 200
	maxPerFile = 50
	hitWidth   = 240
	maxLine    = 1 << 20
)

type search struct{ c Config }

// Spec describes search_files.
func (search) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "search_files",
		Description: "Searches the text files of the workspace line by line and answers with lines path:line: text. " +
			"query is plain text (upper and lower case differ) or a regular expression between slashes: /func \\w+/, /todo/i without regard to case.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{
			"query":{"type":"string","minLength":1,"maxLength":1000},
			"path":{"type":"string","description":"File or folder to search; default the whole workspace"},
			"glob":{"type":"string","description":"Only files whose name matches, for example *.go"},
			` + skipProperty + `}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// matcher finds the first match in a line; nil: none.
type matcher func(line []byte) []int

func compileQuery(q string) (matcher, error) {
	if body, ok := strings.CutPrefix(q, "/"); ok {
		flags := ""
		if strings.HasSuffix(body, "/i") && len(body) > 2 {
			body, flags = strings.TrimSuffix(body, "i"), "(?i)"
		}
		if expr, ok := strings.CutSuffix(body, "/"); ok && expr != "" {
			re, err := regexp.Compile(flags + strings.ReplaceAll(expr, `\/`, `/`))
			if err != nil {
				return nil, fmt.Errorf("%w: %w (the syntax is RE2's; leave out the slashes to search for plain text)", ErrPattern, err)
			}
			return re.FindIndex, nil
		}
	}
	if strings.ContainsAny(q, "\n\r") {
		return nil, fmt.Errorf("%w: a query is compared with single lines, so it cannot have a line feed in it", ErrPattern)
	}
	plain := []byte(q)
	return func(line []byte) []int {
		i := bytes.Index(line, plain)
		if i < 0 {
			return nil
		}
		return []int{i, i + len(plain)}
	}, nil
}

// searchHits is what a search found so far.
type searchHits struct {
	match matcher
	out   strings.Builder
	lines int
	files int
	full  bool
	notes []string
}

var errFull = errors.New("enough was found")

// Run searches.
func (t search) Run(ctx context.Context, call agent.Call) agent.Result {
	args := struct {
		Query, Path, Glob string
		Skip              []string
	}{Skip: defaultSkip()}
	return inFolder(ctx, t.c, call, &args, func(ctx context.Context, f *workspace.Folder) (agent.Result, error) {
		top, err := startOf(f, args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		match, err := compileQuery(args.Query)
		if err != nil {
			return agent.Result{}, err
		}
		g, err := compileGlob(args.Glob)
		if err != nil {
			return agent.Result{}, err
		}
		h := &searchHits{match: match}
		err = walk(ctx, f, top, args.Skip, 0, func(file foundFile) error {
			if !g.match(file.path) {
				return nil
			}
			return h.searchFile(ctx, f, file.path)
		})
		if err != nil && !errors.Is(err, errFull) {
			return agent.Result{}, err
		}
		return succeeded(h.text(args.Query), t.c.Trust), nil
	})
}

func (h *searchHits) text(query string) string {
	if h.lines == 0 && len(h.notes) == 0 {
		return fmt.Sprintf("nothing found for %q", query)
	}
	s := fmt.Sprintf("%s in %s\n", format.Count(h.lines, "matching line"), format.Count(h.files, "file"))
	if h.full {
		s = fmt.Sprintf("the first %s, in %s; there are more: narrow the query, path or glob\n", format.Count(h.lines, "matching line"), format.Count(h.files, "file"))
	}
	return strings.TrimSuffix(s+h.out.String()+strings.Join(h.notes, ""), "\n")
}

// searchFile searches one file; binary files are passed over.
func (h *searchHits) searchFile(ctx context.Context, f *workspace.Folder, p string) error {
	file, _, err := f.Read(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went away since its folder was read
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r := bufio.NewReaderSize(workspace.Bound(ctx, file), 64<<10)
	if start, _ := r.Peek(sniff); binary(start) { // an error shows again when reading goes on
		return nil
	}
	here := 0
	for n := 1; ; n++ {
		line, long, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: reading: %w", p, pathless(err))
		}
		if long {
			h.notes = append(h.notes, fmt.Sprintf("(%s: line %d is longer than 1 MiB, only its start was searched)\n", quotedName(p), n))
		}
		if at := h.match(line); at != nil && (len(line) > 0 || err == nil) {
			if h.lines == maxHits {
				h.full = true
				return errFull
			}
			if here == maxPerFile {
				h.notes = append(h.notes, fmt.Sprintf("(%s: more than %d matching lines, the rest is left out)\n", quotedName(p), maxPerFile))
				return nil
			}
			if here++; here == 1 {
				h.files++
			}
			h.lines++
			fmt.Fprintf(&h.out, "%s:%d: %s\n", quotedName(p), n, excerpt(line, at))
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line without its ending, at most maxLine bytes of it.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		b, err := r.ReadSlice('\n')
		if line == nil && !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(b, "\r\n"), false, err // valid until the next read
		}
		if room := maxLine - len(line); len(b) > room {
			b, long = b[:room], true
		}
		line = append(line, b...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), long, err
		}
	}
}

// excerpt is the line around a match, shortened on both sides.
func excerpt(line []byte, at []int) string {
	start, end := 0, len(line)
	before, after := "", ""
	if len(line) > hitWidth {
		start = max(0, min(at[0]-hitWidth/3, len(line)-hitWidth))
		end = min(len(line), start+hitWidth)
		if start > 0 {
			before = "…"
		}
		if end < len(line) {
			after = "…"
		}
	}
	return before + strings.ToValidUTF8(string(line[start:end]), "") + after
}
