package discord_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// forgetful is a Discord that remembers a nonce for two seconds: Discord does for
// minutes, and a bot may be away for longer. A request that was still under way
// when somebody looked for its message is caught, as on Discord; whatever is posted
// again later stands there twice. It opens as many threads in a channel as there are runs: Discord opens fifty in
// five minutes, and a run waits longer for its thread than the test does.
var forgetful = discordtest.Config{NonceLife: 2 * time.Second, Limits: discordtest.Limits{
	Routes: map[string]discordtest.Rate{discordtest.OpenThread: {N: 1000, Per: time.Minute}},
}}

// TestCrash kills Deckhand while it talks to a Discord server.
func TestCrash(t *testing.T) {
	t.Parallel()
	chat.Crash(t, adapter(gateway, forgetful))
}

// TestCrashHearing kills it between a person's words and what they mean.
func TestCrashHearing(t *testing.T) {
	t.Parallel()
	chat.CrashHearing(t, adapter(gateway, forgetful))
}

// TestMain makes a child of this binary the Deckhand that TestCrash kills.
func TestMain(m *testing.M) {
	chat.Child(adapter(gateway, forgetful))
	goleak.VerifyTestMain(m)
}
