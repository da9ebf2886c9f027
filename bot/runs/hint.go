package runs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// Answers in a person's own words: when they are a hint for a run that is
// stuck, and when they may be meant otherwise.

// TakesHint reports whether the question takes a person's own words as the way
// out: what should be done differently.
func TakesHint(c agent.Checkpoint) bool {
	return c.Ask == agent.CheckStuck && slices.Contains(c.Choices, agent.DecideRetry)
}

// ReadHint reads a person's own words under a question of a run that is stuck:
// they let it try again, and tell it how. A word that is meant for a choice, or
// for a question of another kind, is no hint.
func ReadHint(c agent.Checkpoint, text, by string) (agent.CheckpointDecided, error) {
	d := agent.CheckpointDecided{ID: c.ID, By: by, Decision: agent.DecideRetry, Text: strings.TrimSpace(text)}
	if !TakesHint(c) || d.Text == "" || MayBeChoice(c, d.Text) {
		return d, notOffered(c, d.Text)
	}
	return d, nil
}

// MayBeChoice reports whether a text may be meant for one of the question's choices,
// or agrees with nothing that was asked.
func MayBeChoice(c agent.Checkpoint, text string) bool {
	word := strings.ToLower(strings.TrimRight(strings.TrimSpace(text), ".!? "))
	_, short := words[word]
	_, decides := Labels[word]
	if short || decides || word == "" {
		return true
	}
	if _, err := strconv.Atoi(word); err == nil {
		return true
	}
	return slices.ContainsFunc(c.Choices, func(choice string) bool { return near(word, choice) })
}

// near reports whether two words differ by no more than a typing error, long
// ones by two.
func near(a, b string) bool {
	most := 1
	if utf8.RuneCountInString(b) > 5 {
		most = 2
	}
	return format.Distance(a, b) <= most
}

func notOffered(c agent.Checkpoint, word string) error {
	if TakesHint(c) {
		return fmt.Errorf("%w: %q; say one of: %s, or in a few words what should be done differently", bot.ErrNotAnAnswer, word, strings.Join(c.Choices, ", "))
	}
	return fmt.Errorf("%w: %q; say one of: %s", bot.ErrNotAnAnswer, word, strings.Join(c.Choices, ", "))
}
