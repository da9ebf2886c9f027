// Package estimate defines `deckhand estimate`: what a goal or a plan will
// probably take, before anything starts.
package estimate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/estimate"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

// Host is the program that the command belongs to.
type Host struct {
	Out, Err io.Writer
	JSON     *bool // --json, once the flags are read
	// Open opens the store beside whoever works it.
	Open func(ctx context.Context, use func(cfg config.Config, s app.Store) error) error
	// Read reads a file, "-": standard input.
	Read func(path string) ([]byte, error)
	// Single accepts one argument, and says what to do about another number.
	Single func(what, hint string) cobra.PositionalArgs
	// Usage is an error of the command line.
	Usage func(format string, args ...any) error
	// Printable drops what a terminal would obey instead of showing it.
	Printable func(text string) string
}

// Command is `deckhand estimate`.
func Command(h Host) *cobra.Command {
	var alone bool
	c := &cobra.Command{
		Use:   "estimate GOAL|FILE",
		Short: "What a goal or a plan will take before it starts: model calls, tokens, money, time",
		Long: "Say what a run will probably take, each figure with a range. A FILE holds a plan as `deckhand plan check` takes\n" +
			"it (\"-\": standard input). A GOAL is planned by the model, which costs one call; without a model, or with\n" +
			"--no-model, it is estimated from what ended runs of this store took. The figures of a task are those of ended\n" +
			"runs, of similar ones where there are enough. Time is that of the plan's critical path with engine.slots tasks at\n" +
			"once; waiting for people is not in it.",
		Example: "  deckhand estimate plan.json\n  deckhand estimate \"Summarise what changed in docs/\"",
		Args:    h.Single("GOAL or FILE", "put a goal in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.Open(cmd.Context(), func(cfg config.Config, s app.Store) error {
				return h.estimate(cmd.Context(), cfg, s, args[0], alone)
			})
		},
	}
	c.Flags().BoolVar(&alone, "no-model", false, "ask no model for a plan")
	return c
}

// subject is what is estimated: a plan, or a goal without one.
type subject struct {
	goal string
	plan *agent.Plan
	from string // where the plan comes from: file, model; empty: there is none
	// asked is what planning cost, nil: no model was asked.
	asked *llm.Usage
}

// estimate reads what is estimated, learns from the store and prints.
func (h Host) estimate(ctx context.Context, cfg config.Config, s app.Store, arg string, alone bool) error {
	about, err := h.subject(ctx, cfg, arg, alone)
	if err != nil {
		return err
	}
	samples, err := ended(ctx, s)
	if err != nil {
		return err
	}
	basis := estimate.Learn(about.goal, samples)
	o := estimate.Options{Slots: cfg.Engine.Slots, Price: priceOf(cfg, cfg.Model.Name), PriceFast: priceOf(cfg, fastOf(cfg))}
	var e estimate.Estimate
	if about.plan != nil {
		o.Fast = func(t agent.Task) bool { r, _ := about.plan.Role(t.Role); return r.Model == agent.RoleFast }
		e = estimate.Of(*about.plan, basis, o)
	} else {
		e = estimate.OfGoal(basis, o)
	}
	return h.print(cfg, about, basis, e)
}

// subject is what the argument names.
func (h Host) subject(ctx context.Context, cfg config.Config, arg string, alone bool) (subject, error) {
	data, err := h.Read(arg)
	switch {
	case err == nil:
		p, shape, found, err := plan.Parse(data)
		if err != nil {
			return subject{}, h.Usage("%s: %w", arg, err)
		}
		return h.checked(cfg, subject{goal: strings.Join(append(p.Goals, p.Name), " "), from: "file"}, p, plan.Options{Shape: shape, Found: found})
	case strings.HasSuffix(arg, ".json"), !errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, " \n"):
		return subject{}, h.Usage("%w", err)
	case strings.TrimSpace(arg) == "":
		return subject{}, h.Usage("the goal is empty: say what is to be done")
	}
	about := subject{goal: arg}
	if alone {
		return about, nil
	}
	m, err := app.NewModel(cfg)
	if err != nil {
		fmt.Fprintln(h.Err, "no model is configured, so there is no plan to go by")
		return about, nil //nolint:nilerr // runs of the store serve as well
	}
	p, usage, err := h.ask(ctx, cfg, m, arg)
	about.asked = usage
	if err != nil {
		fmt.Fprintf(h.Err, "the model gave no plan to go by: %s\n", h.Printable(err.Error()))
		return about, nil
	}
	about.from = "model"
	return h.checked(cfg, about, p, plan.Options{Goal: arg})
}

// errCircle is said of a plan that has no order.
var errCircle = errors.New("its tasks wait for each other in a circle, so no time can be told: `deckhand plan check` says which")

// checked is the subject with the plan as a run would take it. Findings that
// would stop a run are told and, but for a circle, keep nobody from estimating.
func (h Host) checked(_ config.Config, about subject, p agent.Plan, o plan.Options) (subject, error) {
	p, found := plan.Check(p, o)
	errs := 0
	for _, f := range found {
		if f.Code == "V4" {
			return about, h.Usage("%w", errCircle)
		}
		if f.Severity == agent.SeverityError {
			errs++
		}
	}
	if errs > 0 {
		fmt.Fprintf(h.Err, "the plan breaks %s (`deckhand plan check` names them); it is estimated as it stands\n", format.Count(errs, "rule"))
	}
	about.plan = &p
	return about, nil
}

// errNoPlan is what the model did instead.
var errNoPlan = errors.New("it would not plan yet")

// ask asks the model for a plan as a run would, once.
func (h Host) ask(ctx context.Context, cfg config.Config, m llm.Model, goal string) (p agent.Plan, usage *llm.Usage, err error) {
	book, err := prompt.Open()
	if err != nil {
		return p, nil, err
	}
	box, err := kit.NewTools(cfg)
	if err != nil {
		return p, nil, err
	}
	defer box.Close()
	box.Load(ctx)
	run := agent.Run{}.Apply(agent.Event{Run: "estimate", Strand: agent.Main, Seq: 1, Body: agent.RunStarted{Goal: goal, Slots: cfg.Engine.Slots}})
	ready, _, err := book.Request(&run, agent.Main, box.Specs(), prompt.Rendering{})
	if err != nil {
		return p, nil, err
	}
	ready.Model, ready.MaxTokens = cfg.Model.Name, cfg.Model.MaxAnswerTokens
	resp, err := m.Complete(ctx, ready.Request)
	if err != nil {
		return p, nil, err
	}
	if len(resp.Message.Calls) == 0 {
		return p, &resp.Usage, fmt.Errorf("%w: it only wrote", errNoPlan)
	}
	c := resp.Message.Calls[0]
	if c.Name != "submit_plan" {
		return p, &resp.Usage, fmt.Errorf("%w: it called %s", errNoPlan, c.Name)
	}
	p, _, _, err = plan.Parse([]byte(c.Arguments))
	return p, &resp.Usage, err
}

// mostSamples is how many of the newest ended runs are learnt from. Each is one
// read of its journal.
const mostSamples = 50

// ended are samples of the newest runs that ended.
func ended(ctx context.Context, s app.Store) ([]estimate.Sample, error) {
	infos, err := s.Runs(ctx, agent.RunFilter{Most: 4 * mostSamples})
	if err != nil {
		return nil, err
	}
	var list []estimate.Sample
	for _, info := range infos {
		if info.Ended.IsZero() || len(list) == mostSamples {
			continue
		}
		events, err := s.Read(ctx, info.Run, 0)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // a run that cannot be read teaches nothing
		}
		if sample, whole := estimate.SampleOf(events); whole {
			list = append(list, sample)
		}
	}
	return list, nil
}

func fastOf(c config.Config) string {
	if c.Model.Fast != "" {
		return c.Model.Fast
	}
	return c.Model.Name
}

func priceOf(c config.Config, name string) *estimate.Price {
	p, known := c.Model.Prices[name]
	if !known {
		return nil
	}
	return &estimate.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
}

// told is an estimate as --json shows it. Plan is where the tasks are from: file
// or model; empty: there is no plan. Planning is what asking the model for it took.
type told struct {
	estimate.Estimate
	Goal     string   `json:"goal,omitempty"`
	Plan     string   `json:"plan"`
	Basis    basis    `json:"basis"`
	Planning *spent   `json:"planning,omitempty"`
	Over     []string `json:"over_budget"` // budgets of a run that the high end does not fit
}

type basis struct {
	Runs    int    `json:"runs"`
	Similar int    `json:"similar"`
	Text    string `json:"text"`
}

type spent struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

func (h Host) print(cfg config.Config, about subject, b estimate.Basis, e estimate.Estimate) error {
	out := told{Estimate: e, Plan: about.from, Basis: basis{b.Runs, b.Similar, b.Says()}, Over: over(cfg, e)}
	if about.from != "file" {
		out.Goal = about.goal
	}
	if about.asked != nil {
		out.Planning = &spent{about.asked.Prompt, about.asked.Completion}
	}
	if *h.JSON {
		return format.Encoder(h.Out).Encode(out)
	}
	return h.table(cfg, out)
}

// over are the budgets of a run that the high end would use up.
func over(c config.Config, e estimate.Estimate) []string {
	list := []string{}
	l := c.Budget.Run
	if l.USD > 0 && e.Cost != nil && e.Cost.High > l.USD {
		list = append(list, agent.BudgetUSD)
	}
	if l.Tokens > 0 && e.Tokens.High > float64(l.Tokens) {
		list = append(list, agent.BudgetTokens)
	}
	if l.Time > 0 && e.Model.High+e.Compute.High > l.Time.Seconds() { // time counts for all strands together
		list = append(list, agent.BudgetTime)
	}
	if l.Steps > 0 && e.Calls.High > float64(l.Steps) {
		list = append(list, agent.BudgetSteps)
	}
	return list
}

func (h Host) table(cfg config.Config, t told) error {
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	count := func(x float64) string { return format.Thousands(int64(math.Round(x))) }
	row := func(what string, r estimate.Range, show func(float64) string) {
		fmt.Fprintf(w, "%s\t%s\t%s to %s\n", what, show(r.Likely), show(r.Low), show(r.High))
	}
	fmt.Fprintln(w, "\tlikely\trange")
	if t.Plan == "" {
		row("tasks", t.Tasks, count)
	}
	row("model calls", t.Calls, count)
	row("tokens", t.Tokens, count)
	switch {
	case t.Cost != nil:
		fmt.Fprintf(w, "money\t%s\t%s to %s\n", format.Money(t.Cost.Likely), format.Money(t.Cost.Low), format.Money(t.Cost.High))
	case cfg.Model.Name == "":
		fmt.Fprintln(w, "money\tnot known\tno model is named")
	default:
		fmt.Fprintf(w, "money\tnot known\t%q has no price: set model.prices\n", h.Printable(cfg.Model.Name))
	}
	row("time", t.Time, estimate.Duration)
	row("  the model's", t.Model, estimate.Duration)
	row("  the tools'", t.Compute, estimate.Duration)
	if err := w.Flush(); err != nil {
		return err
	}
	var says strings.Builder
	if t.Plan != "" {
		ids := make([]string, len(t.Critical))
		for i, id := range t.Critical {
			ids[i] = h.Printable(string(id))
		}
		fmt.Fprintf(&says, "Time follows the plan: %s, %d at once; the longest chain is %s.\n", format.Count(int(t.Tasks.Likely), "task"), t.Slots, strings.Join(ids, " → "))
	}
	fmt.Fprintf(&says, "Based on %s.\n", t.Basis.Text)
	if t.Planning != nil {
		fmt.Fprintf(&says, "Planning for this estimate took %s tokens.\n", format.Thousands(t.Planning.Prompt+t.Planning.Completion))
	}
	if len(t.Over) > 0 {
		fmt.Fprintf(&says, "At worst it does not fit the budget of a run: %s (budget.run).\n", strings.Join(t.Over, ", "))
	}
	_, err := io.WriteString(h.Out, says.String())
	return err
}
