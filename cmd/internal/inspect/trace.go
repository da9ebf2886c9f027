package inspect

// This file defines `deckhand trace`, which tells a run as a story of steps.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/trace"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Trace is the command `trace`.
func Trace(e Env) *cobra.Command {
	var from, to uint64
	var whole bool
	c := &cobra.Command{
		Use:   "trace RUN",
		Short: "Tell a run step by step: observe, orient, decide, act",
		Long: "Tell a run step by step from its journal: what it observed, how it made sense of it, what it decided and what it\n" +
			"did; of each call its reason, request, input and observation. --from and --to step through it by the numbers of\n" +
			"events; long texts are cut unless --whole is given. --json prints a step a line.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return e.Usage("trace needs one RUN: `deckhand status` lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.Open(cmd.Context(), func(_ config.Config, s app.Store) error {
				return e.trace(cmd.Context(), s, agent.RunID(args[0]), span{from, to, whole})
			})
		},
	}
	c.Flags().Uint64Var(&from, "from", 0, "first event `SEQ`")
	c.Flags().Uint64Var(&to, "to", 0, "last event `SEQ`")
	c.Flags().BoolVar(&whole, "whole", false, "texts as long as they are")
	return c
}

// span is what of a run is told.
type span struct {
	from, to uint64
	whole    bool
}

func (e Env) trace(ctx context.Context, s app.Store, run agent.RunID, which span) error {
	if which.to > 0 && which.to < which.from {
		return e.Usage("--to %d is before --from %d", which.to, which.from)
	}
	events, unread := s.Read(ctx, run, 0)
	if unread != nil && errors.Is(unread, agent.ErrNoRun) {
		return e.NoRun(string(run), unread)
	}
	enc := format.Encoder(e.Out)
	for _, step := range trace.Between(trace.Steps(events), which.from, which.to) {
		if *e.JSON {
			if err := enc.Encode(step); err != nil {
				return err
			}
		} else if _, err := fmt.Fprint(e.Out, e.story(step, which.whole)); err != nil {
			return err
		}
	}
	if unread != nil {
		return e.NoRun(string(run), unread)
	}
	return nil
}

// maxStory is how much of a text is shown, in characters.
const maxStory = 300

// story is a step as people read it.
func (e Env) story(s trace.Step, whole bool) string {
	show := func(text string) string {
		text = e.Printable(format.OneLine(text))
		if whole {
			return text
		}
		return format.Cut(text, maxStory)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%5d  %s  %-7s  %-16s  ", s.Seq, s.At.UTC().Format("15:04:05"), s.Phase, e.Printable(string(s.Strand)))
	if s.Request == "" {
		fmt.Fprintln(&b, show(cmp.Or(s.Text, s.Observation)))
		if s.Reason != "" {
			fmt.Fprintf(&b, "%43s  %s\n", "reason", show(s.Reason))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "%s\n", e.Printable(s.Request))
	for _, part := range []struct{ name, text string }{
		{"reason", s.Reason}, {"input", string(s.Input)}, {"rule", s.Rule}, {"observed", result(s)}, {"decision", decision(s.Decision)},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "%43s  %s\n", part.name, show(part.text))
		}
	}
	return b.String()
}

// decision says whether a call was needed, what it was chosen from, and what it
// refines.
func decision(d *trace.Decision) string {
	if d == nil {
		return ""
	}
	var parts []string
	switch d.Needed {
	case "yes":
		parts = append(parts, fmt.Sprintf("needed: event %d uses what came back", d.UsedBy))
	case "no":
		parts = append(parts, "not needed: nothing uses what came back")
	case "failed":
		parts = append(parts, "it failed")
	case "open":
		parts = append(parts, "nobody can tell yet whether it was needed")
	}
	if d.Which != "" {
		parts = append(parts, fmt.Sprintf("chosen by %s (%.2f)", d.Which, d.Score))
	}
	if d.Refines > 0 {
		parts = append(parts, fmt.Sprintf("refines event %d", d.Refines))
	}
	return strings.Join(parts, "; ")
}

// result is what came of a call.
func result(s trace.Step) string {
	if s.State == "" {
		return "nothing yet"
	}
	return fmt.Sprintf("%s (event %d): %s", s.State, s.Observed, s.Observation)
}
