package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// finding is one line of the doctor's report.
type finding struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// check is one thing that the doctor looks at.
type check struct {
	name  string
	check func(context.Context, config) (string, error)
}

// doctorPatience bounds each of the doctor's checks.
const doctorPatience = 20 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check configuration, store, workspace, sandbox, model, Slack and Discord, and say what is missing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *app) doctor(ctx context.Context) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	from := cfg.File
	if from == "" {
		from = "no file; defaults and environment"
	}
	list := []finding{{"configuration", true, from}}
	checks := []check{{"store", checkStore}, {"workspace", checkWorkspace}, {"sandbox", checkSandbox}, {"model", checkModel}}
	if cfg.Slack.present() {
		checks = append(checks, check{"slack", checkSlack})
	}
	if cfg.Discord.present() {
		checks = append(checks, check{"discord", checkDiscord})
	}
	for _, c := range checks {
		bounded, cancel := context.WithTimeout(ctx, doctorPatience)
		detail, err := c.check(bounded, cfg)
		cancel()
		f := finding{c.name, err == nil, detail}
		if err != nil {
			f.Detail = err.Error()
		}
		list = append(list, f)
	}
	return a.diagnosis(list)
}

func (a *app) diagnosis(list []finding) error {
	ill := false
	for _, f := range list {
		ill = ill || !f.OK
	}
	if a.json {
		if err := json.NewEncoder(a.out).Encode(list); err != nil {
			return err
		}
	} else {
		for _, f := range list {
			mark := "ok  "
			if !f.OK {
				mark = "FAIL"
			}
			fmt.Fprintf(a.out, "%s  %-13s  %s\n", mark, f.Check, printable(f.Detail))
		}
	}
	if ill {
		return &exit{code: exitFailed}
	}
	return nil
}

func checkStore(ctx context.Context, cfg config) (string, error) {
	s, err := cfg.open(ctx, sqlite.Guest)
	if err != nil {
		return "", err
	}
	defer s.Close()
	runs, err := s.Runs(ctx)
	if err != nil {
		return "", err
	}
	kind := "SQLite in " + cfg.DataDir
	if cfg.Redis.URL.present() {
		kind = "Redis"
	}
	if len(runs) == 1 {
		return kind + ", 1 run", nil
	}
	return fmt.Sprintf("%s, %d runs", kind, len(runs)), nil
}

func checkSlack(ctx context.Context, cfg config) (string, error) {
	if !cfg.Slack.BotToken.present() {
		return "", errors.New(slackOff)
	}
	if err := cfg.slackComplete(); err != nil {
		return "", err
	}
	return slack.Check(ctx, cfg.slackConfig(nil, slog.New(slog.DiscardHandler)))
}

func checkWorkspace(_ context.Context, cfg config) (string, error) {
	if err := os.MkdirAll(cfg.Workspace, 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(cfg.Workspace, ".deckhand-doctor-*")
	if err != nil {
		return "", fmt.Errorf("cannot write there: %w", err)
	}
	defer os.Remove(f.Name())
	return cfg.Workspace, f.Close()
}

func checkSandbox(ctx context.Context, cfg config) (string, error) {
	box, _, err := cfg.toolbox()
	if err != nil {
		return "", err
	}
	tool, known := box.Tool("run_code")
	if !known {
		return "", errors.New("run_code is not built in")
	}
	r := tool.Run(ctx, agent.Call{Tool: "run_code", Arguments: json.RawMessage(`{"code":"6*7"}`)})
	if r.State != agent.OutcomeOK {
		return "", fmt.Errorf("run_code does not work: %s", r.Text)
	}
	return "run_code computes 6*7 = " + r.Text, nil
}

func checkModel(ctx context.Context, cfg config) (string, error) {
	cfg.Model.Retries = min(cfg.Model.Retries, 1) // a person is waiting
	m, err := cfg.model()
	if err != nil {
		return "", err
	}
	began := time.Now()
	resp, err := m.Complete(ctx, llm.Request{
		Model: cfg.Model.Name, Required: true, MaxTokens: 256,
		Messages: []llm.Message{{Role: llm.User, Content: "Call the function ok."}},
		Functions: []llm.Function{{Name: "ok", Description: "Says that all is well.",
			Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}},
	})
	if err != nil {
		return "", err
	}
	if len(resp.Message.Calls) == 0 {
		return "", fmt.Errorf("%s answers, but calls no function: set model.mode: json", cfg.Model.Name)
	}
	return fmt.Sprintf("%s answers and calls functions (%s)", cfg.Model.Name, time.Since(began).Round(time.Millisecond)), nil
}
