package lookup

import (
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/trace"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Bounds of an answer why.
const (
	maxCalls  = 10
	maxReason = 300 // characters
)

// Why tells the newest calls of a run, each with the reason that the model gave
// and whether what came back was of use, as Markdown.
func Why(events []agent.Event) string {
	var lines []string
	for _, s := range trace.Steps(events) {
		if s.Request == "" {
			continue
		}
		reason := "no reason given"
		if said := strings.TrimSpace(s.Reason); said != "" {
			reason = "“" + text.Escape(format.Line(said, maxReason)) + "”"
		}
		lines = append(lines, fmt.Sprintf("- `%s`: %s%s", s.Request, reason, worth(s.Decision)))
	}
	if len(lines) == 0 {
		return "No tool was called yet."
	}
	head := "The newest calls, and why the model made them, in its own words:\n"
	return head + strings.Join(lines[max(0, len(lines)-maxCalls):], "\n")
}

// worth says what came of a call.
func worth(d *trace.Decision) string {
	if d == nil {
		return ""
	}
	switch d.Needed {
	case "yes":
		return " → what came back was used"
	case "no":
		return " → nothing used what came back"
	case "failed":
		return " → it failed"
	}
	return ""
}
