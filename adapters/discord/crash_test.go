package discord_test

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
)

// forgetful is a Discord that remembers no nonce: Discord does for minutes, and
// a bot may be away for longer. Whatever is posted again stands there twice. It
// opens as many threads in a channel as there are runs: Discord opens fifty in
// five minutes, and a run waits longer for its thread than the test does.
var forgetful = discordtest.Config{NonceLife: time.Nanosecond, Limits: discordtest.Limits{
	Routes: map[string]discordtest.Rate{discordtest.OpenThread: {N: 1000, Per: time.Minute}},
}}

// TestCrash kills Deckhand while it talks to a Discord server.
func TestCrash(t *testing.T) {
	t.Parallel()
	adaptertest.Crash(t, adapter(gateway, forgetful), "TestCrashChild")
}

// TestCrashChild is the Deckhand that TestCrash kills; it does nothing else.
func TestCrashChild(t *testing.T) { adaptertest.Child(t, adapter(gateway, forgetful)) }
