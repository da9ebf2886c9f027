// Package memory defines `deckhand memory`: what Deckhand remembers, imported,
// searched, shown, pinned, forgotten and exported. None of it needs a model.
package memory

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/recall"
)

// atTerminal sees everything: the person who has the store itself in hand.
var atTerminal = records.Viewer{Person: bot.Terminal, All: true}

// Host is the program that the commands belong to.
type Host struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     *bool // --json, once the flags are read
	// Open opens the store beside whoever works it.
	Open func(ctx context.Context, use func(cfg config.Config, s app.Store) error) error
	// Usage is an error of the command line; Failed makes one of what failed.
	Usage  func(format string, args ...any) error
	Failed func(err error) error
	// Single accepts one argument, and says what to do about another number.
	Single func(what, hint string) cobra.PositionalArgs
	// Printable drops what a terminal would obey instead of showing it.
	Printable func(text string) string
}

// Command is `deckhand memory`.
func Command(h Host) *cobra.Command {
	c := &cobra.Command{Use: "memory", Short: "What Deckhand remembers: search, show, pin, forget, import, export"}
	c.AddCommand(memoryImport(h), memorySearch(h), memoryExplain(h), memoryList(h), memoryShow(h), memoryPin(h), memoryAccept(h), memoryForget(h), memoryExport(h))
	return c
}

// remembered opens the store beside a worker, or without one.
func (h Host) remembered(ctx context.Context, use func(m *recall.Memory) error) error {
	return h.Open(ctx, func(cfg config.Config, s app.Store) error {
		return h.Failed(use(app.NewMemory(cfg, s, nil)))
	})
}

// queryFlags are those of the commands that look something up.
func queryFlags(c *cobra.Command, q *records.Query) {
	c.Flags().IntVar(&q.Limit, "limit", records.DefaultLimit, "how many `RECORDS` at most")
	scopeFlags(c, q)
}

func scopeFlags(c *cobra.Command, q *records.Query) {
	c.Flags().StringVar((*string)(&q.Scope), "scope", "", "only records of the `SCOPE`: workspace:slack:T1, channel:slack:T1:C1, person:slack:U1")
	c.Flags().Var((*kindsFlag)(&q.Kinds), "kind", "only records of the `KINDS`: episode, fact, lesson, skill, preference, insight, observation")
}

// kindsFlag is a list of kinds, separated by commas or given again and again.
type kindsFlag []records.Kind

// String is the list as it is written.
func (k *kindsFlag) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*k), " ", ","), "[]")
}

// Set adds kinds.
func (k *kindsFlag) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		if !slices.Contains(records.Kinds(), records.Kind(word)) {
			return fmt.Errorf("there is no kind %q", word)
		}
		*k = append(*k, records.Kind(word))
	}
	return nil
}

// Type is how help calls a value.
func (k *kindsFlag) Type() string { return "kinds" }

func memoryImport(h Host) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE|-", Short: "Remember records: JSON lines {id, text, speaker, time, session, kind, scope, caption}",
		Args: h.Single("FILE", "or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error { return h.importRecords(cmd.Context(), args[0]) },
	}
}

func (h Host) importRecords(ctx context.Context, path string) error {
	in := h.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return h.Usage("%w", err)
		}
		defer f.Close()
		in = f
	}
	list, err := records.ReadLines(in, atTerminal)
	if bad, is := errors.AsType[*records.LinesError](err); is {
		return h.Usage("nothing was imported from %s:\n%w", name(path), bad)
	}
	if err != nil {
		return h.Usage("%s: %w", name(path), err)
	}
	return h.remembered(ctx, func(m *recall.Memory) error {
		if err := m.Import(ctx, list); err != nil {
			return err
		}
		if *h.JSON {
			return json.NewEncoder(h.Out).Encode(struct {
				Imported int `json:"imported"`
			}{len(list)})
		}
		fmt.Fprintf(h.Err, "%s imported\n", format.Count(len(list), "record"))
		return nil
	})
}

// name is a path as people call it.
func name(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

func memorySearch(h Host) *cobra.Command {
	q := records.Query{Viewer: atTerminal}
	c := &cobra.Command{
		Use: "search QUERY|-", Short: "Find what is remembered; -: a query a line, each answered by a line of JSON", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "-" {
				return h.searchMany(cmd.Context(), q)
			}
			q.Text = strings.Join(args, " ")
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				hits, err := m.Search(cmd.Context(), q)
				if err != nil {
					return err
				}
				if *h.JSON {
					return h.printResult(json.NewEncoder(h.Out), q.Text, hits)
				}
				return h.printHits(hits)
			})
		},
	}
	queryFlags(c, &q)
	return c
}

// result is what a query found, on a line.
type result struct {
	Query   string  `json:"query"`
	Results []found `json:"results"`
}

type found struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

func (h Host) printResult(to *json.Encoder, query string, hits []records.Hit) error {
	r := result{Query: query, Results: make([]found, len(hits))}
	for i, h := range hits {
		r.Results[i] = found{h.Record.ID, h.Score}
	}
	return to.Encode(r)
}

// searchMany answers a query a line, in their order.
func (h Host) searchMany(ctx context.Context, q records.Query) error {
	queries, err := readQueries(h.In)
	if err != nil {
		return h.Usage("%w", err)
	}
	return h.remembered(ctx, func(m *recall.Memory) error {
		out := bufio.NewWriter(h.Out)
		lines := json.NewEncoder(out)
		for _, text := range queries {
			q.Text = text
			hits, err := m.Search(ctx, q)
			if err != nil {
				return err
			}
			if err := h.printResult(lines, text, hits); err != nil {
				return err
			}
		}
		return out.Flush()
	})
}

// readQueries reads a query a line: its text, or {"query": TEXT}.
func readQueries(in io.Reader) ([]string, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	var list []string
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.ToValidUTF8(lines.Text(), "\uFFFD"))
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "{") {
			var q struct {
				Query *string `json:"query"`
			}
			if err := json.Unmarshal([]byte(line), &q); err != nil || q.Query == nil {
				return nil, fmt.Errorf("line %d of standard input is no {\"query\": TEXT}", number)
			}
			line = *q.Query
		}
		list = append(list, line)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return list, nil
}

func (h Host) printHits(hits []records.Hit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(h.Out, "nothing is remembered that fits")
		return err
	}
	w := tabwriter.NewWriter(h.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SCORE\tID\tKIND\tWHEN\tTEXT")
	for _, hit := range hits {
		fmt.Fprintf(w, "%.3f\t%s\t%s\t%s\t%s\n", hit.Score, h.Printable(hit.Record.ID), hit.Record.Kind, when(hit.Record), h.lineOf(hit.Record, 100))
	}
	return w.Flush()
}

// lineOf is a record on one line.
func (h Host) lineOf(r records.Record, most int) string {
	text := r.Text
	if r.Caption != "" {
		text += " [" + r.Caption + "]"
	}
	if r.Speaker != "" {
		text = r.Speaker + ": " + text
	}
	return h.Printable(format.Cut(strings.Join(strings.Fields(text), " "), most))
}

func when(r records.Record) string {
	at := r.Time
	if at.IsZero() {
		at = r.Written
	}
	return at.Local().Format(time.DateOnly)
}

func memoryExplain(h Host) *cobra.Command {
	q := records.Query{Viewer: atTerminal}
	c := &cobra.Command{
		Use: "explain QUERY", Short: "Say why records are found: their scores by part", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Text = strings.Join(args, " ")
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				hits, err := m.Search(cmd.Context(), q)
				if err != nil {
					return err
				}
				if *h.JSON {
					return json.NewEncoder(h.Out).Encode(struct {
						Query   string        `json:"query"`
						Results []records.Hit `json:"results"`
					}{q.Text, hits})
				}
				return h.explainHits(hits)
			})
		},
	}
	queryFlags(c, &q)
	return c
}

func (h Host) explainHits(hits []records.Hit) error {
	w := tabwriter.NewWriter(h.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SCORE\t= RELEVANCE\t+ IMPORTANCE\t+ RECENCY\tWORDS\tSESSION\tMEANING\tID\tMATCHED\tTEXT")
	for _, hit := range hits {
		p := hit.Parts
		fmt.Fprintf(w, "%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%s\t%s\n", hit.Score, p.Relevance, p.Importance, p.Recency, p.Words, p.Session, p.Meaning,
			h.Printable(hit.Record.ID), h.Printable(format.Cut(strings.Join(p.Matched, " "), 60)), h.lineOf(hit.Record, 60))
	}
	return w.Flush()
}

func memoryList(h Host) *cobra.Command {
	q := records.Query{Viewer: atTerminal}
	var all bool
	c := &cobra.Command{
		Use: "list", Short: "List what is remembered, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.List(cmd.Context(), q)
				if err != nil {
					return err
				}
				more := 0
				if !all && len(list) > q.Limit {
					list, more = list[:q.Limit], len(list)-q.Limit
				}
				if *h.JSON {
					return h.printRecords(list)
				}
				if more > 0 {
					defer fmt.Fprintf(h.Err, "%s: deckhand memory list --all\n", format.Count(more, "more record"))
				}
				return h.tabulate(list)
			})
		},
	}
	queryFlags(c, &q)
	c.Flags().Lookup("limit").DefValue = "50"
	q.Limit = 50
	c.Flags().BoolVar(&all, "all", false, "list every record")
	return c
}

func (h Host) tabulate(list []records.Record) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(h.Out, "nothing is remembered yet")
		return err
	}
	w := tabwriter.NewWriter(h.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tKIND\tSCOPE\tWHEN\tPINNED\tTEXT")
	for _, r := range list {
		pinned := ""
		if r.Pinned {
			pinned = "pinned"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Printable(r.ID), r.Kind, h.Printable(string(r.Scope)), when(r), pinned, h.lineOf(r, 80))
	}
	return w.Flush()
}

// printRecords writes a record a line, as import reads them.
func (h Host) printRecords(list []records.Record) error {
	out := bufio.NewWriter(h.Out)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, r := range list {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return out.Flush()
}

func memoryShow(h Host) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a record whole, with where it comes from", Args: h.Single("ID", "`deckhand memory list` shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.Show(cmd.Context(), atTerminal, args[0])
				if err == nil && len(list) == 0 {
					err = noRecord(args[0])
				}
				if err != nil || *h.JSON {
					return errors.Join(err, h.printRecords(list))
				}
				return h.describe(list)
			})
		},
	}
}

func noRecord(id string) error {
	return fmt.Errorf("nothing with the id %q is remembered: `deckhand memory list` shows the ids", id)
}

func (h Host) describe(list []records.Record) error {
	w := tabwriter.NewWriter(h.Out, 0, 4, 2, ' ', 0)
	row := func(what, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", what, h.Printable(value))
		}
	}
	day := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.Local().Format(time.DateTime)
	}
	for _, r := range list {
		row("id", r.ID)
		row("kind", string(r.Kind))
		row("scope", string(r.Scope))
		row("speaker", r.Speaker)
		row("session", r.Session)
		row("time", day(r.Time))
		row("written", day(r.Written))
		row("expires", day(r.Expires))
		row("trust", string(r.Label()))
		row("told by", r.Source.Person)
		row("told at", r.Source.Place)
		row("message", r.Source.Message)
		row("run", string(r.Source.Run))
		row("replaces", strings.Join(r.Supersedes, ", "))
		row("cites", strings.Join(r.Cites, ", "))
		row("caption", r.Caption)
		fmt.Fprintln(w)
		for line := range strings.Lines(r.Text) {
			fmt.Fprintln(w, h.Printable(strings.TrimRight(line, "\n")))
		}
	}
	return w.Flush()
}

func memoryPin(h Host) *cobra.Command {
	var off bool
	c := &cobra.Command{
		Use: "pin ID", Short: "Keep a record whatever its age (--off: no longer)", Args: h.Single("ID", "`deckhand memory list` shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.Pin(cmd.Context(), atTerminal, args[0], !off)
				return h.changed(list, err, args[0], map[bool]string{true: "no longer pinned", false: "pinned"}[off])
			})
		},
	}
	c.Flags().BoolVar(&off, "off", false, "take the pin off")
	return c
}

func memoryForget(h Host) *cobra.Command {
	return &cobra.Command{
		Use: "forget ID", Short: "Forget a record: its text, its vector, and what was found by it", Args: h.Single("ID", "`deckhand memory list` shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.Forget(cmd.Context(), atTerminal, args[0])
				return h.changed(list, err, args[0], "forgotten")
			})
		},
	}
}

func (h Host) changed(list []records.Record, err error, id, done string) error {
	if err == nil && len(list) == 0 {
		err = noRecord(id)
	}
	if err != nil {
		return err
	}
	if *h.JSON {
		return h.printRecords(list)
	}
	for _, r := range list {
		fmt.Fprintf(h.Err, "%s %s: %s\n", done, h.Printable(r.ID), h.lineOf(r, 80))
	}
	return nil
}

func memoryExport(h Host) *cobra.Command {
	q := records.Query{Viewer: atTerminal}
	var preferred bool
	c := &cobra.Command{
		Use: "export", Short: "Write everything that is remembered as JSON lines, as `memory import` reads them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if preferred {
				return h.exportPreferences(cmd.Context())
			}
			return h.remembered(cmd.Context(), func(m *recall.Memory) error {
				list, err := m.List(cmd.Context(), q)
				if err != nil {
					return err
				}
				return h.printRecords(list)
			})
		},
	}
	c.Flags().BoolVar(&preferred, "preferences", false, "write what people preferred instead: of two reports of one goal the better rated one, and the other")
	scopeFlags(c, &q)
	return c
}
