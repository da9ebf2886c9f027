package pack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/pack"
)

// Host is the program that the commands belong to. An error of theirs is one of
// usage, unless it comes from Failed.
type Host struct {
	Out, Err io.Writer
	JSON     *bool // --json, once the flags are read
	Load     func() (config.Config, error)
	// File is the configuration file that is read, or would be.
	File func() string
	// Beside opens the store beside a process that works in it.
	Beside    func(ctx context.Context, use func(cfg config.Config, s app.Store) error) error
	Printable func(string) string   // without what a terminal would obey
	Failed    func(err error) error // ends with the exit code of what failed
	// Single accepts one argument, and says what to do about another number.
	Single func(what, hint string) cobra.PositionalArgs
}

// Command is `deckhand pack`.
func Command(h Host) *cobra.Command {
	c := &cobra.Command{Use: "pack", Short: "Packs of tools that a team keeps in git: add, list, show, check, remove"}
	to := ""
	add := &cobra.Command{
		Use: "add NAME|DIR", Short: "Take a pack over: one that comes with Deckhand, or a folder",
		Long: "Take a pack over. One that comes with Deckhand is written to packs/NAME beside the configuration file, to be read,\n" +
			"changed and kept in git; a folder stays where it is. Its path goes into the key packs of the configuration file, and\n" +
			"its tools are pinned as they are now: what changes in them later waits for `deckhand tools accept NAME`.",
		Example: "  deckhand pack add business\n  deckhand pack add ../our-tools",
		Args:    h.Single("NAME or DIR", "`deckhand pack list` shows those that come with Deckhand"),
		RunE:    func(cmd *cobra.Command, args []string) error { return h.add(cmd.Context(), args[0], to) },
	}
	add.Flags().StringVar(&to, "to", "", "`DIR` that one which comes with Deckhand is written to (default: packs/NAME)")
	c.AddCommand(add,
		&cobra.Command{
			Use: "list", Short: "List the packs of the configuration, and those that come with Deckhand", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return h.list() },
		},
		&cobra.Command{
			Use: "show NAME|DIR", Short: "Show what is in a pack",
			Args: h.Single("NAME or DIR", "a pack of the configuration, one that comes with Deckhand, or a folder"),
			RunE: func(_ *cobra.Command, args []string) error { return h.show(args[0]) },
		},
		&cobra.Command{
			Use: "check [NAME|DIR]", Short: "Find every fault of a pack, with file and line; without a name of all in the configuration", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return h.check(cmd.Context(), args) },
		},
		&cobra.Command{
			Use: "remove NAME", Short: "Take a pack out of the configuration; its folder stays",
			Args: h.Single("NAME", "`deckhand pack list` shows them"),
			RunE: func(cmd *cobra.Command, args []string) error { return h.remove(cmd.Context(), args[0]) },
		},
	)
	return c
}

// find is a pack by its name in the configuration, by its folder, or by the name of
// one that comes with Deckhand.
func (h Host) find(name string) (*pack.Pack, error) {
	cfg, err := h.Load()
	if err != nil {
		return nil, err
	}
	for _, dir := range cfg.Packs {
		if p, err := pack.Open(dir); err == nil && p.Name == name {
			return p, nil
		}
	}
	if isFolder(name) {
		return pack.Open(name)
	}
	return pack.OpenShipped(name)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// row is a pack in `pack list --json`.
type row struct {
	pack.Contents
	Shipped bool   `json:"shipped"`
	Problem string `json:"problem,omitempty"`
}

func (h Host) list() error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	var rows []row
	taken := map[string]bool{}
	for _, dir := range cfg.Packs {
		p, err := pack.Open(dir)
		if err != nil {
			rows = append(rows, row{Contents: pack.Contents{Name: filepath.Base(dir), Dir: dir}, Problem: err.Error()})
			continue
		}
		taken[p.Name] = true
		rows = append(rows, row{Contents: p.Contents()})
	}
	for _, name := range pack.Shipped() {
		if p, err := pack.OpenShipped(name); err == nil && !taken[name] {
			rows = append(rows, row{Contents: p.Contents(), Shipped: true})
		}
	}
	if *h.JSON {
		out := json.NewEncoder(h.Out)
		for _, r := range rows {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tTOOLS\tWHERE\tWHAT")
	for _, r := range rows {
		where, what := h.Printable(r.Dir), r.Description
		switch {
		case r.Shipped:
			where = "comes with Deckhand: pack add " + r.Name
		case r.Problem != "":
			what = "cannot be read: " + r.Problem
		case len(r.Faults) > 0:
			what = format.Count(len(r.Faults), "fault") + ": pack check " + r.Name
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", h.Printable(r.Name), h.Printable(r.Version), len(r.Tools), where, h.Printable(format.LineStart(what, 80)))
	}
	return w.Flush()
}

func (h Host) show(name string) error {
	p, err := h.find(name)
	if err != nil {
		return err
	}
	c := p.Contents()
	if *h.JSON {
		return json.NewEncoder(h.Out).Encode(c)
	}
	fmt.Fprintf(h.Out, "%s %s\n%s\n", h.Printable(c.Name), h.Printable(c.Version), h.Printable(c.Description))
	for _, part := range []struct{ name, text string }{
		{"folder", c.Dir}, {"hash", c.Hash}, {"reaches", strings.Join(c.Hosts, ", ")}, {"reads the variables", strings.Join(c.Variables, ", ")},
		{"rows by person", string(c.Rows)}, {"documents", strings.Join(c.Documents, ", ")}, {"servers", c.Servers},
	} {
		if part.text != "" {
			fmt.Fprintf(h.Out, "%s: %s\n", part.name, h.Printable(part.text))
		}
	}
	fmt.Fprintln(h.Out)
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	for _, t := range c.Tools {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.Printable(t.Name), t.Kind, t.Effect, h.Printable(format.LineStart(t.Description, 90)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return h.faults(p, nil)
}

// faults prints what is wrong, each with its file; an error where anything is.
func (h Host) faults(p *pack.Pack, more []pack.Fault) error {
	all := append(append([]pack.Fault{}, p.Faults...), more...)
	for _, f := range all {
		fmt.Fprintf(h.Err, "%s\n", h.Printable(filepath.Join(p.Dir, f.String())))
	}
	if len(all) > 0 {
		return h.Failed(fmt.Errorf("the pack %s has %s", p.Name, format.Count(len(all), "fault")))
	}
	return nil
}

// check finds every fault of the packs.
func (h Host) check(ctx context.Context, names []string) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if names = cfg.Packs; len(names) == 0 {
			return errors.New("the configuration names no packs: name one, or a folder")
		}
	}
	var failed error
	for _, name := range names {
		p, err := h.find(name)
		if err != nil {
			return h.Failed(err)
		}
		more, err := kit.ProbePack(ctx, cfg, p)
		if err != nil {
			return h.Failed(err)
		}
		if err := h.faults(p, more); err != nil {
			failed = err
			continue
		}
		c := p.Contents()
		fmt.Fprintf(h.Out, "%s %s: %s, no faults\n", h.Printable(c.Name), h.Printable(c.Version), format.Count(len(c.Tools), "tool"))
	}
	return failed
}
