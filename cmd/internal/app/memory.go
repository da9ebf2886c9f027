package app

import (
	"log/slog"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/recall"
)

// NewMemory is what Deckhand remembers in a store.
func NewMemory(_ config.Config, s Store, log *slog.Logger) *recall.Memory {
	return recall.New(recall.Config{Store: s, Log: log})
}
