package slack_test

import (
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
)

// TestCrash kills Deckhand while it talks to a Slack workspace.
func TestCrash(t *testing.T) {
	t.Parallel()
	adaptertest.Crash(t, adapter(socketed), "TestCrashChild")
}

// TestCrashChild is the Deckhand that TestCrash kills; it does nothing else.
func TestCrashChild(t *testing.T) { adaptertest.Child(t, adapter(socketed)) }
