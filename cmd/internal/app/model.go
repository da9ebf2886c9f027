package app

// This file makes the client of the configured model endpoint, and tells the
// person which settings are missing where none is configured.

import (
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// NewModel is the configured endpoint.
func NewModel(c config.Config) (llm.Model, error) {
	if !c.Model.APIKey.Present() && c.Model.BaseURL == "" {
		return nil, refuse("no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint that needs no key " +
			"(Ollama: http://localhost:11434/v1), and DECKHAND_MODEL. `deckhand demo` needs none")
	}
	if c.Model.Name == "" {
		return nil, refuse("no model is named: set DECKHAND_MODEL, --model or model.name")
	}
	return openai.New(openai.Config{
		BaseURL: c.Model.BaseURL, Key: c.Model.APIKey.Reveal(), Mode: openai.Mode(c.Model.Mode),
		Stream: c.Model.Stream, Timeout: c.Model.Timeout,
	}), nil
}
