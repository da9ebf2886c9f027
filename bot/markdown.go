package bot

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Markdown is the card as one text, without what can be clicked: for private
// answers, and for what cannot show parts.
func Markdown(c Card) string {
	var blocks []string
	for _, p := range c.Parts {
		if text := markdown(p); text != "" {
			blocks = append(blocks, text)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// marks stand for the states of tasks.
var marks = map[agent.TaskState]string{
	agent.TaskPending: "○", agent.TaskRunning: "▶", agent.TaskDone: "✓", agent.TaskFailed: "✗", agent.TaskSkipped: "–",
}

// TaskMark stands for the state of a task, one character wide.
func TaskMark(s agent.TaskState) string { return marks[s] }

func markdown(part Part) string {
	switch p := part.(type) {
	case Heading:
		return "**" + text.Escape(p.Text) + "**"
	case Prose:
		return p.Markdown
	case Small:
		return p.Markdown
	case Code:
		return text.Fenced(p.Text)
	case Facts:
		lines := make([]string, len(p.List))
		for i, f := range p.List {
			lines[i] = "**" + text.Escape(f.Name) + "**: " + text.Escape(f.Value) // a list would go on with that of the tasks above it
		}
		return strings.Join(lines, text.NextLine)
	case Tasks:
		lines := []string{"**" + text.Escape(p.Title) + "**"}
		for _, t := range p.Items {
			line := "- " + TaskMark(t.State) + " " + text.Escape(t.Title)
			if t.Note != "" {
				line += " – " + text.Escape(t.Note)
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	case Buttons, Rating:
	}
	return ""
}
