package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// Check is one look at what a process would need.
type Check struct {
	Name string
	// Run says what it found, or what is missing.
	Run func(ctx context.Context, c config.Config) (string, error)
}

// Checks are the looks at what is configured, in the order of their telling.
func Checks(c config.Config) []Check {
	list := []Check{{"store", checkStore}, {"workspace", checkWorkspace}, {"sandbox", checkSandbox}, {"model", checkModel}}
	if len(c.PolicyFiles()) > 0 {
		list = append(list, Check{"policy", checkPolicy})
	}
	if slackBegun(c) {
		list = append(list, Check{"slack", checkSlack})
	}
	if discordBegun(c) {
		list = append(list, Check{"discord", checkDiscord})
	}
	return append(list, sourceChecks(c)...)
}

func checkStore(ctx context.Context, c config.Config) (string, error) {
	s, err := OpenStore(ctx, c, sqlite.Guest, nil)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if file, is := s.(interface {
		Verify(ctx context.Context) error
	}); is {
		if err := file.Verify(ctx); err != nil {
			return "", err
		}
	}
	runs, err := s.CountRuns(ctx, agent.RunFilter{})
	if err != nil {
		return "", err
	}
	kind := "SQLite in " + c.DataDir
	if c.Redis.URL.Present() {
		kind = "Redis"
	}
	text := fmt.Sprintf("%s, %d runs", kind, runs)
	if runs == 1 {
		text = kind + ", 1 run"
	}
	if warned, is := s.(interface{ Warnings() []string }); is {
		text = strings.Join(append([]string{text}, warned.Warnings()...), "; warning: ")
	}
	return text, nil
}

func checkWorkspace(_ context.Context, cfg config.Config) (string, error) {
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

func checkSandbox(ctx context.Context, cfg config.Config) (string, error) {
	box, err := kit.NewTools(cfg)
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
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	drivers, err := kit.CheckDrivers(ctx, cfg, self)
	return "run_code computes 6*7 = " + r.Text + "; " + drivers, err
}

func checkModel(ctx context.Context, cfg config.Config) (string, error) {
	m, err := NewModel(cfg)
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
	if fault, is := errors.AsType[*llm.Error](err); is && fault.Passing() && cfg.Model.Patience > 0 {
		return "", fmt.Errorf("%w. Runs wait for it for up to %s (model.patience), and pause then", err, format.Duration(cfg.Model.Patience))
	}
	if err != nil {
		return "", err
	}
	if len(resp.Message.Calls) == 0 {
		return "", fmt.Errorf("%s answers, but calls no function: set model.mode: json", cfg.Model.Name)
	}
	return fmt.Sprintf("%s answers and calls functions (%s)%s", cfg.Model.Name, time.Since(began).Round(time.Millisecond), limitWords(cfg.Model, resp.Quota)), nil
}

// limitWords says which limits the model's runs keep to, "" where nobody knows any.
func limitWords(m config.Model, said llm.Quota) string {
	var list []string
	for _, l := range []struct {
		told, said int
		what       string
	}{{m.RequestsPerMinute, said.Requests, "request"}, {m.TokensPerMinute, said.Tokens, "token"}} {
		if n := cmp.Or(l.told, l.said); n > 0 {
			list = append(list, format.Count(n, l.what))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ", at most " + format.List(list, "and") + " a minute"
}

// sourceChecks look whether each configured source answers.
func sourceChecks(c config.Config) []Check {
	var list []Check
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(c.MCPServers)), slices.Sorted(maps.Keys(c.OpenAPI))) {
		if c.MCPServers[name].Disabled || c.OpenAPI[name].Disabled {
			continue
		}
		list = append(list, Check{name, func(ctx context.Context, c config.Config) (string, error) { return kit.CheckSource(ctx, c, name) }})
	}
	for _, dir := range c.Packs {
		list = append(list, Check{"pack " + filepath.Base(dir), func(context.Context, config.Config) (string, error) { return kit.CheckPack(dir) }})
	}
	return list
}
