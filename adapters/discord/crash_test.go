package discord_test

import (
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
)

// TestCrash kills Deckhand while it talks to a Discord server.
func TestCrash(t *testing.T) {
	t.Parallel()
	adaptertest.Crash(t, adapter(gateway, discordtest.Limits{}), "TestCrashChild")
}

// TestCrashChild is the Deckhand that TestCrash kills; it does nothing else.
func TestCrashChild(t *testing.T) { adaptertest.Child(t, adapter(gateway, discordtest.Limits{})) }
