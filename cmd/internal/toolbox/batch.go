package toolbox

// This file defines `deckhand tools search` and `deckhand tools check` for
// people, and for scripts: a JSON line in, a JSON line out, in the same order.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/find"
)

// maxLine bounds one line of a batch, in bytes.
const maxLine = 16 << 20

// hits is the answer to a request.
type hits struct {
	Query string       `json:"query"`
	Tools []find.Match `json:"tools"`
	Error string       `json:"error,omitempty"`
}

func toolsSearchCommand(h Host) *cobra.Command {
	var file string
	var limit int
	c := &cobra.Command{
		Use: "search QUERY|-", Short: "Find the tools that fit a request; -: a request a line, bare or {\"query\"}",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return errors.New("--limit must be at least 1")
			}
			return h.withFinder(cmd.Context(), file, func(search func(string, int) []find.Match) error {
				if len(args) == 1 && args[0] == "-" {
					return h.searchLines(search, limit)
				}
				return h.searchOnce(search, strings.Join(args, " "), limit)
			})
		},
	}
	c.Flags().StringVar(&file, "tools", "", "JSON `FILE` of the tools to search: {\"tools\": [{\"name\", \"description\", \"parameters\"}]} or OpenAI's array (default: those that runs have)")
	c.Flags().IntVar(&limit, "limit", 5, "how many tools at most")
	return c
}

// withFinder searches a file's tools, or those that runs have.
func (h Host) withFinder(ctx context.Context, file string, use func(search func(string, int) []find.Match) error) error {
	if file == "" {
		return h.withTools(ctx, func(_ context.Context, box toolbox) error { return use(box.Find) })
	}
	specs, err := readCatalog(file)
	if err != nil {
		return err
	}
	list := make([]find.Tool, len(specs))
	for i, s := range specs {
		list[i] = find.Of(s)
	}
	return use(find.New(list).Search)
}

func readCatalog(file string) ([]agent.ToolSpec, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	specs, err := tools.ParseCatalog(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return specs, nil
}

func (h Host) searchOnce(search func(string, int) []find.Match, query string, limit int) error {
	found := search(query, limit)
	if h.asJSON() {
		return writeLine(h.Out, hits{Query: query, Tools: atLeastNone(found)})
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(h.Out, "no tool fits")
		return err
	}
	for _, m := range found {
		if _, err := fmt.Fprintf(h.Out, "%.3f  %s\n", m.Score, h.Printable(m.Name)); err != nil {
			return err
		}
	}
	return nil
}

func (h Host) searchLines(search func(string, int) []find.Match, limit int) error {
	return eachLine(h.In, func(_ int, line []byte, err error) error {
		found := hits{Query: string(line)}
		if err == nil {
			found.Query, err = queryOf(line)
		}
		if err != nil {
			found.Error = err.Error()
		} else {
			found.Tools = search(found.Query, limit)
		}
		found.Tools = atLeastNone(found.Tools)
		return writeLine(h.Out, found)
	})
}

func atLeastNone(found []find.Match) []find.Match {
	if found == nil {
		return []find.Match{}
	}
	return found
}

// queryOf is the request of a line: bare, a JSON text, or {"query"}.
func queryOf(line []byte) (string, error) {
	switch line[0] {
	case '"':
		var text string
		if json.Unmarshal(line, &text) == nil {
			return text, nil
		}
	case '{':
		var q struct {
			Query *string `json:"query"`
		}
		if err := json.Unmarshal(line, &q); err != nil {
			return string(line), fmt.Errorf("not JSON: %w", err)
		}
		if q.Query == nil {
			return string(line), errors.New(`the line has no "query"`)
		}
		return *q.Query, nil
	}
	return string(line), nil
}

// checked is the answer to a call that was looked at.
type checked struct {
	ID    json.RawMessage `json:"id"`
	OK    bool            `json:"ok"`
	Error string          `json:"error"`
}

func toolsCheckCommand(h Host) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "check FILE|-", Short: "Say what is wrong with calls of tools, a JSON line each: {\"id\", \"tools\", \"call\": {\"name\", \"arguments\"}}",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := h.In
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			if file != "" {
				specs, err := readCatalog(file)
				if err != nil {
					return err
				}
				return h.checkLines(in, tools.Describe(specs))
			}
			return h.withTools(cmd.Context(), func(_ context.Context, box toolbox) error { return h.checkLines(in, box) })
		},
	}
	c.Flags().StringVar(&file, "tools", "", "JSON `FILE` of the tools that lines without their own mean (default: those that runs have)")
	return c
}

// checker says what is wrong with a call.
type checker interface {
	Check(name string, arguments json.RawMessage) error
}

func (h Host) checkLines(in io.Reader, known checker) error {
	own := catalogs{}
	return eachLine(in, func(n int, line []byte, err error) error {
		c := checked{ID: json.RawMessage("null")}
		if err == nil {
			c.ID, err = checkLine(line, known, &own)
		}
		c.OK = err == nil
		if err != nil {
			c.Error = err.Error()
			if string(c.ID) == "null" {
				c.Error = fmt.Sprintf("line %d: %s", n, c.Error)
			}
		}
		return writeLine(h.Out, c)
	})
}

// catalogs keeps the tools of the last line: most lines have the same.
type catalogs struct {
	hash [sha256.Size]byte
	box  *tools.Box
}

func (c *catalogs) of(raw json.RawMessage) (*tools.Box, error) {
	hash := sha256.Sum256(raw)
	if c.box != nil && c.hash == hash {
		return c.box, nil
	}
	specs, err := tools.ParseCatalog(raw)
	if err != nil {
		return nil, fmt.Errorf(`"tools": %w`, err)
	}
	c.hash, c.box = hash, tools.Describe(specs)
	return c.box, nil
}

// checkLine looks at the call of a line.
func checkLine(line []byte, known checker, own *catalogs) (id json.RawMessage, err error) {
	id = json.RawMessage("null")
	var l struct {
		ID    json.RawMessage `json:"id"`
		Tools json.RawMessage `json:"tools"`
		Call  *struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Function  *struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"call"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return id, fmt.Errorf("not JSON: %w", err)
	}
	if l.ID != nil {
		id = l.ID
	}
	if l.Call == nil {
		return id, errors.New(`the line has no "call"`)
	}
	name, arguments := l.Call.Name, l.Call.Arguments
	if f := l.Call.Function; f != nil {
		name, arguments = f.Name, f.Arguments
	}
	if name == "" {
		return id, errors.New(`the call has no "name"`)
	}
	if len(l.Tools) > 0 && string(l.Tools) != "null" {
		if known, err = own.of(l.Tools); err != nil {
			return id, err
		}
	}
	return id, known.Check(name, argumentsOf(arguments))
}

// argumentsOf are a call's arguments: none are no arguments, and a text that holds
// them is how OpenAI's calls carry them.
func argumentsOf(raw json.RawMessage) json.RawMessage {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return json.RawMessage("{}")
	case json.Unmarshal(raw, &text) != nil:
		return raw
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// errLong is said of a line that is too long to be read.
var errLong = fmt.Errorf("the line has more than %d bytes", maxLine)

// eachLine hands over each line that is not empty, with its number from 1. A line
// that is too long is handed over as an error, and the rest goes on.
func eachLine(in io.Reader, do func(n int, line []byte, err error) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, long, end := readLine(r)
		last := errors.Is(end, io.EOF)
		if end != nil && !last {
			return end
		}
		var err error
		if line = bytes.TrimSpace(line); long {
			line, err = line[:min(len(line), 80)], errLong
		}
		if len(line) > 0 || long {
			if err := do(n, line, err); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

// readLine reads to the end of a line, and keeps no more than may be.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			long = true
		} else {
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
