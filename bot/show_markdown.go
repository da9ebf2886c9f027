package bot

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
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

func markdown(part Part) string {
	switch p := part.(type) {
	case Heading:
		return "**" + escape(p.Text) + "**"
	case Prose:
		return p.Markdown
	case Small:
		return p.Markdown
	case Code:
		return fenced(p.Text)
	case Facts:
		lines := make([]string, len(p.List))
		for i, f := range p.List {
			lines[i] = "**" + escape(f.Name) + "**: " + escape(f.Value) // a list would go on with that of the tasks above it
		}
		return strings.Join(lines, nextLine)
	case Tasks:
		lines := []string{"**" + escape(p.Title) + "**"}
		for _, t := range p.Items {
			line := "- " + marks[t.State] + " " + escape(t.Title)
			if t.Note != "" {
				line += " – " + escape(t.Note)
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	case Buttons, Rating:
	}
	return ""
}

// fenced is a text in a fence that it does not contain.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
