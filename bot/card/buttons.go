package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The words that can be clicked, and how a click on a choice is read back.

// The words of buttons that open a form instead of deciding; Deny and Edit do
// so too.
const (
	WordOther = "other" // clarify: asks for an answer to each question
)

// Bounds of a question's buttons.
const (
	maxChoices = 8
	maxLabel   = 70 // characters
)

// styles set off what leads on and what ends something.
var styles = map[string]bot.Style{
	agent.DecideApprove: bot.StylePrimary, agent.DecideMore25: bot.StylePrimary, agent.DecideRetry: bot.StylePrimary,
	agent.DecideDeny: bot.StyleDanger, agent.DecideCancel: bot.StyleDanger,
}

// Label is what a button shows for a decision.
func Label(word string) string {
	if l, known := runs.Labels[word]; known {
		return l
	}
	return choiceLabel(word)
}

// choiceLabel is a choice as a button can show it.
func choiceLabel(choice string) string { return text.InLine(choice, maxLabel) }

// decisions are the buttons of an open question.
func decisions(c agent.Checkpoint) []bot.Button {
	if c.Ask == agent.CheckClarify {
		return answers(c)
	}
	var list []bot.Button
	for _, word := range c.Choices {
		if word == agent.DecideDeny && c.Ask == agent.CheckPlan && slices.Contains(c.Choices, agent.DecideEdit) {
			continue // Edit and Cancel say it (CHAT.md, "Plan")
		}
		list = append(list, bot.Button{Label: Label(word), Style: styles[word], Act: bot.ActDecide, ID: string(c.ID), Word: word})
	}
	return list
}

// answers are the buttons of a clarifying question: its choices where it is
// the only one, a form where it takes an answer in own words, and those of its
// words that decide it otherwise.
func answers(c agent.Checkpoint) []bot.Button {
	var list []bot.Button
	if len(c.Questions) == 1 {
		list = choices(c, c.Questions[0])
	}
	if runs.TakesAnswer(c) {
		list = append(list, bot.Button{Label: "Other", Act: bot.ActDecide, ID: string(c.ID), Word: WordOther})
	}
	if slices.Contains(c.Choices, agent.DecideForMe) {
		list = append(list, bot.Button{Label: Label(agent.DecideForMe), Act: bot.ActDecide, ID: string(c.ID), Word: agent.DecideForMe})
	}
	return list
}

// choices are a button for each choice of one question.
func choices(c agent.Checkpoint, q agent.Question) []bot.Button {
	var list []bot.Button
	for i, choice := range q.Choices[:min(len(q.Choices), maxChoices)] {
		list = append(list, bot.Button{Label: choiceLabel(choice), Act: bot.ActDecide, ID: string(c.ID), Word: choiceWord(c, q, i+1)})
	}
	return list
}

// choiceWord is the word of a button for the n-th choice of a question: the
// number alone where there is one question, "q1=2" where there are several.
func choiceWord(c agent.Checkpoint, q agent.Question, n int) string {
	if len(c.Questions) == 1 {
		return strconv.Itoa(n)
	}
	return q.ID + "=" + strconv.Itoa(n)
}

// ReadChoice reads the word of a choice's button: which question it answers,
// and with what.
func ReadChoice(c agent.Checkpoint, word string) (question, answer string, is bool) {
	id, number := "", word
	if i := strings.LastIndexByte(word, '='); i >= 0 {
		id, number = word[:i], word[i+1:]
	}
	n, err := strconv.Atoi(number)
	for _, q := range c.Questions {
		if err == nil && (q.ID == id || (id == "" && len(c.Questions) == 1)) && n >= 1 && n <= len(q.Choices) {
			return q.ID, q.Choices[n-1], true
		}
	}
	return "", "", false
}
