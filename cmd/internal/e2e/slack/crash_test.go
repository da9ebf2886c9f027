package slack_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// often lets a Deckhand read back what it missed as often as it is killed:
// Slack allows fifty reads a minute, and no more than a few restarts with it.
var often = slacktest.Config{
	Limits: slacktest.Limits{PerMinute: map[string]int{
		"conversations.history": 3000, "conversations.replies": 3000, "users.conversations": 3000,
		"agents.sessions.setStatus": 3000, "agents.sessions.rename": 3000, "auth.test": 3000, "apps.connections.open": 3000,
	}},
	Redeliver: []time.Duration{5 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second},
}

// TestCrash kills Deckhand while it talks to a Slack workspace.
func TestCrash(t *testing.T) {
	t.Parallel()
	chat.Crash(t, adapter(socketed, often))
}

// TestCrashHearing kills it between a person's words and what they mean.
func TestCrashHearing(t *testing.T) {
	t.Parallel()
	chat.CrashHearing(t, adapter(socketed, often))
}

// TestMain makes a child of this binary the Deckhand that TestCrash kills.
func TestMain(m *testing.M) {
	chat.Child(adapter(socketed, often))
	goleak.VerifyTestMain(m)
}
