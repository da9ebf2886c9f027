package inspect

// This file defines `deckhand audit`: whether what was decided is still what the
// audit chain says, and the decisions as lines.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Audit is the command `audit` with its two parts.
func Audit(e Env) *cobra.Command {
	c := &cobra.Command{
		Use: "audit", Short: "The decisions of this store: whether they were tampered with, and what they were",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.Usage("audit needs a command: verify, export or cut") },
	}
	c.AddCommand(verifyCommand(e), exportCommand(e), cutCommand(e))
	return c
}

func verifyCommand(e Env) *cobra.Command {
	var anchor string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Find what was changed, removed or cut off: exit 1 with any",
		Long: "Follow the audit chain from its first entry to its end, hold every journal that it seals against its digests, and\n" +
			"the chain against the anchors: the file of audit.anchor, or the one that --anchor names (a log with anchors of\n" +
			"stdout in it will do). Exit code 0: all is as it was sealed, 1: it is not.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.Open(cmd.Context(), func(cfg config.Config, s app.Store) error { return e.verify(cmd.Context(), cfg, s, anchor) })
		},
	}
	c.Flags().StringVar(&anchor, "anchor", "", "`FILE` with anchors (default: the file of audit.anchor)")
	return c
}

func (e Env) verify(ctx context.Context, cfg config.Config, s app.Store, anchor string) error {
	anchors, from, err := e.anchors(cfg, anchor)
	if err != nil {
		return err
	}
	v, err := audit.Check{Store: s, Anchors: anchors, Kept: cfg.Retention.Runs}.Verify(ctx)
	if err != nil {
		return e.Fail(err)
	}
	if err := e.printVerdict(v, len(anchors), from); err != nil {
		return err
	}
	if len(v.Findings) > 0 {
		return e.Fail(nil)
	}
	return nil
}

// anchors reads the anchors of the file that is named, or of the configured one
// where it is there.
func (e Env) anchors(cfg config.Config, file string) (anchors []audit.Anchor, from string, err error) {
	named := file != ""
	if !named && cfg.Audit.Anchor != "" {
		file = app.AnchorFile(cfg)
	}
	if file == "" || file == audit.Stdout {
		return nil, "", nil
	}
	f, err := os.Open(file)
	switch {
	case os.IsNotExist(err) && !named:
		return nil, "", nil // nothing was anchored yet
	case err != nil:
		return nil, "", e.Usage("%w", err)
	}
	defer f.Close()
	anchors, err = audit.ReadAnchors(f)
	if err == nil && len(anchors) == 0 && named {
		return nil, "", e.Usage("%s has no anchor in it: lines such as {\"chain\": …, \"n\": …, \"hash\": …}", file)
	}
	return anchors, file, err
}

func (e Env) printVerdict(v audit.Verdict, anchors int, from string) error {
	if *e.JSON {
		return format.Encoder(e.Out).Encode(struct {
			OK bool `json:"ok"`
			audit.Verdict
			Anchors int `json:"anchors"`
		}{len(v.Findings) == 0, v, anchors})
	}
	var b strings.Builder
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "%-8s  %s\n", f.Kind, e.Printable(f.Text))
	}
	for _, note := range v.Notes {
		fmt.Fprintf(&b, "note      %s\n", e.Printable(note))
	}
	fmt.Fprintf(&b, "%d entries of the chain, %d decisions, %d runs", v.Entries, v.Decisions, v.Runs)
	if from != "" {
		fmt.Fprintf(&b, ", %d anchors of %s", anchors, from)
	} else {
		b.WriteString(", no anchors: who may write the store could have made all of it anew (audit.anchor)")
	}
	if len(v.Findings) == 0 {
		b.WriteString(": all is as it was sealed")
	}
	_, err := fmt.Fprintln(e.Out, b.String())
	return err
}

func cutCommand(e Env) *cobra.Command {
	var anchor, before, to string
	c := &cobra.Command{
		Use:   "cut",
		Short: "Take the beginning of the audit chain out, into a file",
		Long: "Take out what stands in the chain before the newest anchor that is older than --before, where every run that is\n" +
			"sealed there has expired. The lines go to a new file first; then the chain and the file of anchors say what was taken\n" +
			"out, so that `audit verify` still proves the rest. A chain that is not whole is not cut.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.Open(cmd.Context(), func(cfg config.Config, s app.Store) error {
				return e.cut(cmd.Context(), cfg, s, anchor, before, to)
			})
		},
	}
	c.Flags().StringVar(&anchor, "anchor", "", "`FILE` with anchors (default: the file of audit.anchor)")
	c.Flags().StringVar(&before, "before", "8760h", "only what is older than `D`: a duration such as 24h or 90d, a date, or a time (RFC 3339)")
	c.Flags().StringVar(&to, "to", "", "new `FILE` that the lines go to (needed)")
	return c
}

func (e Env) cut(ctx context.Context, cfg config.Config, s app.Store, anchor, before, to string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return e.Fail(err)
	}
	until, err := sinceWhen(before, now)
	if err != nil || before == "" {
		return e.Usage("--before: %w", cmp.Or(err, errors.New("a duration or a date is needed")))
	}
	anchors, from, err := e.anchors(cfg, anchor)
	if err != nil {
		return err
	}
	if from == "" || to == "" {
		return e.Usage("audit cut needs a file of anchors (audit.anchor, or --anchor FILE) to cut at, and --to FILE for what is taken out")
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return e.Usage("--to: %w", err)
	}
	at, err := audit.Cutting{
		Check:  audit.Check{Store: s, Anchors: anchors, Kept: cfg.Retention.Runs},
		Before: until,
		Keep: func(lines []string) error {
			_, err := f.WriteString(strings.Join(lines, "\n") + "\n")
			return errors.Join(err, f.Sync())
		},
		Sign: (&audit.Anchors{To: from}).Put,
	}.Cut(ctx)
	err = errors.Join(err, f.Close())
	if errors.Is(err, audit.ErrNoCut) {
		_ = os.Remove(to) // nothing was written to it, or nothing is gone
	}
	if err != nil {
		return e.Fail(err)
	}
	_, err = fmt.Fprintf(e.Out, "took out the entries up to %d of the audit chain, into %s; the last of them has the hash %s\n", at.N, to, at.Hash)
	return err
}

func exportCommand(e Env) *cobra.Command {
	var since string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print the decisions: of policies and people, and how processes began",
		Long: "Print who decided what on which call, under which version of the policy, in the order of the audit chain: a line\n" +
			"each, with --json as JSON. A call's arguments are named by their SHA-256; the journal of the run has them whole.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.Open(cmd.Context(), func(_ config.Config, s app.Store) error { return e.export(cmd.Context(), s, since) })
		},
	}
	c.Flags().StringVar(&since, "since", "", "only what was decided since `D`: a duration such as 24h or 7d, a date, or a time (RFC 3339)")
	return c
}

func (e Env) export(ctx context.Context, s app.Store, since string) error {
	now, err := s.Now(ctx)
	if err != nil {
		return e.Fail(err)
	}
	from, err := sinceWhen(since, now)
	if err != nil {
		return e.Usage("--since: %w", err)
	}
	enc := format.Encoder(e.Out)
	err = audit.Export(ctx, s, from, func(r audit.Record) error {
		if *e.JSON {
			return enc.Encode(r)
		}
		_, err := fmt.Fprintln(e.Out, e.Printable(r.Words()))
		return err
	})
	if err != nil {
		return e.Fail(err)
	}
	return nil
}

// sinceWhen is the time that a person means, zero where nothing was said.
func sinceWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a duration such as 24h or 7d, nor a date such as 2026-01-31, nor a time in RFC 3339", text)
}
