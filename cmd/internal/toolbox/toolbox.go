package toolbox

// This file defines `deckhand tools`: what a run would have, looked at, searched
// and called by hand.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/use"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/source"
)

// toolbox is what the commands need of the tools that runs have.
type toolbox = *source.Registry

// Host is the program that the commands belong to. An error of theirs is one of
// usage, unless it comes from Failed.
type Host struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     *bool // --json, once the flags are read
	Load     func() (config.Config, error)
	// Beside opens the store beside a process that works in it.
	Beside    func(ctx context.Context, use func(cfg config.Config, s app.Store) error) error
	Printable func(string) string   // without what a terminal would obey
	Failed    func(err error) error // ends with the exit code of what failed
}

func (h Host) asJSON() bool { return *h.JSON }

// Command is `deckhand tools`.
func Command(h Host) *cobra.Command {
	c := &cobra.Command{Use: "tools", Short: "The tools that runs have: list, show, call, search, check"}
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the tools, where they come from and what they may do", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return h.withTools(cmd.Context(), h.listTools) },
		},
		&cobra.Command{
			Use: "show NAME", Short: "Show a tool with its arguments", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return h.withTools(cmd.Context(), func(ctx context.Context, box toolbox) error { return h.showTool(ctx, box, args[0]) })
			},
		},
		&cobra.Command{
			Use: "call NAME JSON", Short: "Call a tool in the workspace, at once and without a question", Args: cobra.ExactArgs(2),
			RunE: func(cmd *cobra.Command, args []string) error {
				return h.withTools(cmd.Context(), func(ctx context.Context, box toolbox) error { return h.callTool(ctx, box, args[0], args[1]) })
			},
		},
		&cobra.Command{
			Use: "accept SOURCE", Short: "Take over what a source says of its tools now, and show what is different", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return h.accept(cmd.Context(), args[0]) },
		},
		toolsSearchCommand(h), toolsCheckCommand(h),
	)
	return c
}

// withTools opens the tools that runs of this configuration would have.
func (h Host) withTools(ctx context.Context, use func(ctx context.Context, box toolbox) error) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	box, err := kit.NewTools(cfg)
	if err != nil {
		return err
	}
	if len(box.Standings()) == 0 {
		defer box.Close()
		return use(ctx, box)
	}
	if err := box.Close(); err != nil { // nothing was started yet
		return err
	}
	return h.Beside(ctx, func(cfg config.Config, s app.Store) error {
		box, err := kit.NewToolsIn(cfg, s) // with what was accepted
		if err != nil {
			return err
		}
		defer box.Close()
		box.Settle(ctx)
		h.trouble(box)
		return use(ctx, box)
	})
}

// trouble says which sources and tools are not there, and why.
func (h Host) trouble(box toolbox) {
	for _, s := range box.Standings() {
		if s.Problem != "" {
			fmt.Fprintf(h.Err, "deckhand: the source %s gives no tools: %s\n", s.Source, h.Printable(s.Problem))
		}
		for _, why := range s.Refused {
			fmt.Fprintf(h.Err, "deckhand: %s: %s\n", s.Source, h.Printable(why))
		}
	}
}

// maxNoted is what the audit chain keeps of what a tool says of itself, in characters.
const maxNoted = 500

// accept takes over what a source says of its tools now. That it was done is noted
// in the audit chain.
func (h Host) accept(ctx context.Context, name string) error {
	return h.Beside(ctx, func(cfg config.Config, s app.Store) error {
		box, err := kit.NewToolsIn(cfg, s)
		if err != nil {
			return err
		}
		defer box.Close()
		changed, err := box.Accept(ctx, name)
		if errors.Is(err, source.ErrNoSource) {
			return err
		}
		if err != nil {
			return h.Failed(err)
		}
		facts := map[string]string{}
		for i, c := range changed {
			fmt.Fprintln(h.Out, h.visible(c.String()))
			facts[fmt.Sprintf("tool %d", i+1)] = format.LineStart(c.String(), maxNoted)
		}
		noted := audit.Entry{Kind: audit.KindSource, Who: audit.Process(), Facts: facts,
			What: fmt.Sprintf("%s of the source %s taken over", format.Count(len(changed), "changed tool"), name)}
		if err := audit.Note(ctx, s, noted); err != nil {
			return h.Failed(err)
		}
		_, err = fmt.Fprintf(h.Err, "took over %s of %s\n", format.Count(len(changed), "changed tool"), h.Printable(name))
		return err
	})
}

// figures are what the calls of tools came to in the newest runs of the store.
func (h Host) figures(ctx context.Context) (figures map[string]use.Figures) {
	err := h.Beside(ctx, func(_ config.Config, s app.Store) (err error) {
		figures, err = use.Lately(ctx, s)
		return err
	})
	if err != nil {
		fmt.Fprintf(h.Err, "deckhand: the list has no figures of calls: %s\n", h.Printable(err.Error()))
	}
	return figures
}

// listed is a tool as --json lists it.
type listed struct {
	agent.ToolSpec
	Use *use.Figures `json:"use,omitempty"` // of the newest runs
}

func (h Host) listTools(ctx context.Context, box toolbox) error {
	figures := h.figures(ctx)
	if h.asJSON() {
		out := json.NewEncoder(h.Out)
		for _, s := range box.Specs() {
			line := listed{ToolSpec: s}
			if f, called := figures[s.Name]; called {
				line.Use = &f
			}
			if err := out.Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSOURCE\tCOUNTS AS\tCALLS\tFAILED\tUSELESS\tCOST\tTIME\tDOES")
	for _, s := range box.Specs() {
		from := s.Source
		if from == "" {
			from = "built in"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Name, h.Printable(from), s.Class, columns(figures[s.Name]), h.Printable(format.LineStart(s.Description, 80)))
	}
	return w.Flush()
}

// columns are a tool's calls, failures, share of useless results, cost and time a
// call.
func columns(f use.Figures) string {
	if f.Calls == 0 {
		return "–\t–\t–\t–\t–"
	}
	useless := "–"
	if share, known := f.UselessShare(); known {
		useless = fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%d\t%d\t%s\t$%.4f\t%s", f.Calls, f.Failures, useless, float64(f.Cost)/float64(agent.Dollar),
		(f.Took / time.Duration(f.Calls)).Round(time.Millisecond))
}

// aTool is the tool with the name, or an error that names those like it.
func aTool(box toolbox, name string) (agent.Tool, error) {
	tool, is := box.Tool(name)
	if !is {
		return nil, box.Check(name, json.RawMessage("{}"))
	}
	return tool, nil
}

func (h Host) showTool(ctx context.Context, box toolbox, name string) error {
	tool, err := aTool(box, name)
	if err != nil {
		return err
	}
	spec := tool.Spec()
	if h.asJSON() {
		return json.NewEncoder(h.Out).Encode(spec)
	}
	_, err = fmt.Fprintln(h.Out, h.visible(spec.Help(documentation(ctx, tool))))
	return err
}

func documentation(ctx context.Context, tool agent.Tool) string {
	if d, is := tool.(agent.Documented); is {
		return d.Documentation(ctx)
	}
	return ""
}

// visible is a text of several lines that a terminal shows as it is.
func (h Host) visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = h.Printable(strings.ReplaceAll(l, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

func (h Host) callTool(ctx context.Context, box toolbox, name, arguments string) error {
	tool, err := aTool(box, name)
	if err != nil {
		return err
	}
	if err := box.Check(name, json.RawMessage(arguments)); err != nil {
		return err
	}
	call := agent.Call{Run: "by-hand", Strand: agent.Main, Effect: "by-hand", Tool: name, Person: "terminal", Arguments: json.RawMessage(arguments)}
	if p, is := tool.(agent.Preparer); is {
		prepared, err := p.Prepare(ctx, call)
		if err != nil {
			return h.Failed(err)
		}
		call.Mark = prepared.Mark
	}
	result := tool.Run(ctx, call)
	if h.asJSON() {
		err = json.NewEncoder(h.Out).Encode(map[string]any{"state": result.State, "text": result.Text, "trust": result.Trust, "files": result.Files})
	} else {
		_, err = fmt.Fprintln(h.Out, h.visible(result.Text))
	}
	if err == nil && result.State != agent.OutcomeOK {
		return h.Failed(nil)
	}
	return err
}
