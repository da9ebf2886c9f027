package inspect

// This file defines `deckhand plan check`, which validates a plan by the same
// rules as a run's own plans, for people who write plans or debug a model's.

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

// Plan is `deckhand plan`.
func Plan(e Env) *cobra.Command {
	c := &cobra.Command{Use: "plan", Short: "Look at plans"}
	var toolFile string
	check := &cobra.Command{
		Use: "check FILE|-", Short: "Validate a plan: findings V1 to V22, exit 1 with any error", Args: e.Single("FILE", "or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error { return e.checkPlan(args[0], toolFile) },
	}
	check.Flags().StringVar(&toolFile, "tools", "", "JSON `FILE` of the tools that the plan may name: {\"tools\": [{\"name\", \"description\", \"input\", \"output\"}]}")
	c.AddCommand(check)
	return c
}

func (e Env) checkPlan(path, toolFile string) error {
	data, err := e.Read(path)
	if err != nil {
		return e.Usage("%w", err)
	}
	specs, err := e.planTools(toolFile)
	if err != nil {
		return err
	}
	p, shape, found, err := plan.Parse(data)
	if err != nil {
		return e.Usage("%s: %w", path, err)
	}
	_, findings := plan.Check(p, plan.Options{Tools: specs, Shape: shape, Found: found})
	if findings == nil {
		findings = []agent.PlanFinding{}
	}
	if err := e.printFindings(findings, len(p.Tasks)); err != nil {
		return err
	}
	if plan.Stops(findings) {
		return e.Fail(nil)
	}
	return nil
}

func (e Env) printFindings(findings []agent.PlanFinding, tasks int) error {
	if *e.JSON {
		return json.NewEncoder(e.Out).Encode(findings)
	}
	for _, f := range findings {
		where := ""
		if f.Task != "" {
			where = " " + string(f.Task)
		}
		if _, err := fmt.Fprintf(e.Out, "%-7s %s%s: %s\n", f.Severity, f.Code, where, e.Printable(f.Message)); err != nil {
			return err
		}
	}
	if !plan.Stops(findings) {
		_, err := fmt.Fprintf(e.Out, "the plan of %d tasks can be worked\n", tasks)
		return err
	}
	return nil
}

// planTools are the tools that V10 and V11 are judged against: those of the
// file, or the product's own.
func (e Env) planTools(path string) ([]agent.ToolSpec, error) {
	if path == "" {
		c := config.Defaults() // with the families that take a word of configuration
		c.Workspace, c.Search = ".", config.Search{Kind: "searxng", URL: "https://search.example"}
		c.Images.Model, c.Tools.HTTP.Hosts = "any", []string{"example.com"}
		box, err := kit.NewTools(c)
		if err != nil {
			return nil, err
		}
		return box.Specs(), nil
	}
	data, err := e.Read(path)
	if err != nil {
		return nil, e.Usage("%w", err)
	}
	var file struct {
		Tools []agent.ToolSpec `json:"tools"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, e.Usage("%s: %w", path, err)
	}
	if file.Tools == nil {
		file.Tools = []agent.ToolSpec{}
	}
	return file.Tools, nil
}
