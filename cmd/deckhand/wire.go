package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/term"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/calc"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/policy"
	"github.com/deckhand-bot/deckhand/tools/wait"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// sandboxCommand is how this binary is started as the sandbox of run_code.
const sandboxCommand = "sandbox-js"

// store is what both stores are.
type store interface {
	agent.Store
	agent.Archive
	Close() error
}

// terminals reports whether a person sits at both ends.
func terminals() bool {
	return term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
}

// load reads the configuration with this invocation's flags.
func (a *app) load() (config, error) { return config.Load(a.flags, a.env) }

// open opens the configured store. For SQLite the mode says whether this
// process works the runs or looks on; Redis has no such difference.
func (c config) open(ctx context.Context, mode sqlite.Mode) (store, error) {
	if c.Redis.URL.present() {
		s, err := redis.Open(ctx, redis.Config{URL: c.Redis.URL.Reveal(), Lease: c.Engine.Lease,
			Shards: c.Redis.Shards, WaitReplicas: c.Redis.WaitReplicas})
		if err != nil {
			return nil, &exit{exitUsage, err}
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: c.DataDir, Lease: c.Engine.Lease}, mode)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	return s, nil
}

func (c config) desk(s store) *runs.Client {
	return &runs.Client{Journals: s, Authority: c.authority()}
}

// shared is where the agents' files are.
func (c config) shared() (*workspace.Workspace, error) {
	at := workspace.Config{Dir: c.Workspace}
	if !c.Redis.URL.present() && c.DataDir != "" {
		at.Locks = filepath.Join(c.DataDir, "locks") // replicas lock beside the files that they share
	}
	return workspace.New(at)
}

// toolbox builds the tools that runs may use, in a workspace.
func (c config) toolbox() (*tools.Box, *workspace.Workspace, error) {
	w, err := c.shared()
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program for the sandbox of run_code: %w", err)
	}
	sandbox, err := code.New(code.Config{
		Command: []string{self, sandboxCommand},
		Memory:  int64(c.Tools.RunCode.Memory), CPU: c.Tools.RunCode.CPU,
		Wall: c.Tools.RunCode.Wall, Output: int(c.Tools.RunCode.Output),
	})
	if err != nil {
		return nil, nil, err
	}
	list := append(file.New(file.Config{Workspace: w}), calc.Tool{}, wait.Tool{}, plot.New(w), sandbox)
	jobs, err := c.jobs(w)
	if err != nil {
		return nil, nil, err
	}
	if jobs != nil {
		list = append(list, jobs.Tools()...)
	}
	box, err := tools.New(list...)
	return box, w, err
}

// model is the configured endpoint.
func (c config) model() (llm.Model, error) {
	if !c.Model.APIKey.present() && c.Model.BaseURL == "" {
		return nil, usage("no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that needs no key " +
			"(Ollama: http://localhost:11434/v1), and DECKHAND_MODEL. `deckhand demo` needs none")
	}
	if c.Model.Name == "" {
		return nil, usage("no model is named: set DECKHAND_MODEL, --model or model.name")
	}
	return openai.New(openai.Config{
		BaseURL: c.Model.BaseURL, Key: c.Model.APIKey.Reveal(), Mode: openai.Mode(c.Model.Mode),
		Stream: c.Model.Stream, Timeout: c.Model.Timeout, Retries: c.Model.Retries, RetryMaxWait: c.Model.RetryMaxWait,
	}), nil
}

// loop wires the runtime over a store and a model.
func (c config) loop(s store, m llm.Model, log *slog.Logger) (loop.Config, error) {
	box, w, err := c.toolbox()
	if err != nil {
		return loop.Config{}, err
	}
	kept, err := c.ending(s, w, log)
	if err != nil {
		return loop.Config{}, err
	}
	prices := make(map[string]loop.Price, len(c.Model.Prices))
	for name, p := range c.Model.Prices {
		prices[name] = loop.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	return loop.Config{
		Store: kept, Blobs: s, Model: m, Tools: box, Policy: policy.Default{}, Log: log,
		ModelName: c.Model.Name, FastName: c.Model.Fast, Prices: prices,
		MaxAnswer: c.Model.MaxAnswerTokens, Workers: c.Engine.Workers, Lease: c.Engine.Lease,
		Wider: c.wider, File: present(w), Runs: s, CheckIns: c.CheckIns.Every,
	}, nil
}

// present looks whether a file is in the workspace.
func present(w *workspace.Workspace) func(folder, path string) error {
	return func(folder, path string) error {
		f, err := w.Open(folder)
		if err != nil {
			return err
		}
		defer f.Close()
		clean, err := workspace.Clean(path)
		if err != nil {
			return err
		}
		_, err = f.Stat(clean)
		return err
	}
}

// wider lists the counters beyond a run's own: its requester's, its channel's
// and everybody's, for the month in which it began.
func (c config) wider(b agent.RunStarted, at time.Time) []loop.Allowance {
	month := at.UTC().Format("2006-01")
	list := []loop.Allowance{
		{Counter: "person/" + b.Requester + "/" + month, Limits: agent.Limits{USD: c.Budget.PersonMonth.USD}},
		{Counter: "month/" + month, Limits: agent.Limits{USD: c.Budget.Month.USD}},
	}
	if b.ReplyTo != "" {
		list = append(list, loop.Allowance{Counter: "channel/" + b.Folder + "/" + month, Limits: agent.Limits{USD: c.Budget.ChannelMonth.USD}})
	}
	return list
}

// brief is everything that is decided about a run from the terminal before it
// starts. A money limit that nobody set is dropped where the model has no
// price; one that somebody set refuses to start.
func (c config) brief(goal string, yesTo []string, notice io.Writer) (agent.RunStarted, error) {
	limits, err := c.affordable("")
	if err != nil {
		return agent.RunStarted{}, err
	}
	if asked, _ := c.LimitsIn(""); asked.USD > limits.USD {
		fmt.Fprintf(notice, "note: the model %q has no price in the configuration, so money is not counted; the limit is %d tokens\n",
			c.Model.Name, limits.Tokens)
	}
	if err := c.priced(); err != nil {
		return agent.RunStarted{}, err
	}
	return agent.RunStarted{
		Goal: goal, Requester: bot.Terminal, Limits: limits, YesTo: yesTo,
		PlanApproval: c.PlanApprovalIn(""), Autonomy: c.AutonomyIn(""),
		Expires: c.Authority.Expires, Slots: c.Engine.Slots, CheckIns: c.CheckIns.Steps, Unattended: len(yesTo) > 0,
		Approvers: slices.Clone(c.Authority.Approvers), Reviewers: c.ReviewersIn(""),
	}, nil
}

// priced refuses budgets of months in money where the model has no price:
// they could not be kept.
func (c config) priced() error {
	if _, priced := c.Model.Prices[c.Model.Name]; priced {
		return nil
	}
	for key, l := range map[string]config.MonthLimits{"person_month": c.Budget.PersonMonth, "channel_month": c.Budget.ChannelMonth, "month": c.Budget.Month} {
		if l.USD > 0 {
			return usage("budget.%s.usd is set (%s), but the model %q has no price: set model.prices.%s: {input: …, output: …} in US$ per 1,000,000 tokens",
				key, c.At("budget."+key+".usd"), c.Model.Name, c.Model.Name)
		}
	}
	return nil
}

// logger writes warnings for people at the terminal, everything for servers.
func logger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// heldBy is the pid of the process that holds the embedded store, 0 if the
// error says something else.
func heldBy(err error) int {
	if held, is := errors.AsType[*sqlite.HeldError](err); is {
		return held.PID
	}
	return 0
}
