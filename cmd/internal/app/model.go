package app

// This file makes the client of the configured model endpoint, and tells the
// person which settings are missing where none is configured.

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// NewModel is the configured endpoint.
func NewModel(c config.Config) (llm.Model, error) {
	if !c.Model.APIKey.Present() && c.Model.BaseURL == "" {
		return nil, config.Refuse("no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that needs no key " +
			"(Ollama: http://localhost:11434/v1), and DECKHAND_MODEL. `deckhand demo` needs none")
	}
	if c.Model.Name == "" {
		return nil, config.Refuse("no model is named: set DECKHAND_MODEL, --model or model.name")
	}
	return openai.New(openai.Config{
		BaseURL: c.Model.BaseURL, Key: c.Model.APIKey.Reveal(), Mode: openai.Mode(c.Model.Mode),
		Stream: c.Model.Stream, Timeout: c.Model.Timeout,
	}), nil
}

// usualWindow is the context window that is reckoned with where neither the
// configuration nor the endpoint says one, in tokens.
const usualWindow = 32_000

// windowPatience is how long the endpoint is given to say a window.
const windowPatience = 5 * time.Second

// windows knows how large the context windows of models are. An endpoint is asked
// once for each model, when the first request becomes long enough to matter.
type windows struct {
	configured int
	main       string
	model      llm.Model
	log        *slog.Logger

	mu    sync.Mutex
	known map[string]int
}

// of is the model's context window, in tokens.
func (w *windows) of(ctx context.Context, model string) int {
	if w.configured > 0 && model == w.main {
		return w.configured
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, is := w.known[model]; is {
		return n
	}
	n := 0
	if endpoint, asks := w.model.(interface {
		Window(ctx context.Context, model string) (int, error)
	}); asks {
		ctx, cancel := context.WithTimeout(ctx, windowPatience)
		defer cancel()
		var err error
		if n, err = endpoint.Window(ctx, model); err != nil {
			w.log.Info("the endpoint does not say how large the model's context window is; set model.window", "model", model, "window", usualWindow, "err", err)
		}
	}
	if n <= 0 {
		n = usualWindow
	}
	if w.known == nil {
		w.known = map[string]int{}
	}
	w.known[model] = n
	return n
}
