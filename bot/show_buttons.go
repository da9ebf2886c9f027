package bot

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

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

// labels are the words that buttons show for a decision (CONTRACT.md, "Chat").
var labels = map[string]string{
	agent.DecideApprove: "Approve", agent.DecideDeny: "Deny", agent.DecideEdit: "Edit", agent.DecideAlways: "Always in this run",
	agent.DecideCancel: "Cancel", agent.DecideForMe: "Decide for me", agent.DecideMore25: "+25 %", agent.DecideMore100: "+100 %",
	agent.DecideFinish: "Finish with what you have", agent.DecideRetry: "Try again", agent.DecideRepeat: "Repeat",
	agent.DecideSkip: "Skip", agent.DecideDone: "Done",
}

// styles set off what leads on and what ends something.
var styles = map[string]Style{
	agent.DecideApprove: StylePrimary, agent.DecideMore25: StylePrimary, agent.DecideRetry: StylePrimary,
	agent.DecideDeny: StyleDanger, agent.DecideCancel: StyleDanger,
}

func label(word string) string {
	if l, known := labels[word]; known {
		return l
	}
	return choiceLabel(word)
}

// choiceLabel is a choice as a button can show it.
func choiceLabel(choice string) string { return inLine(choice, maxLabel) }

// decisions are the buttons of an open question.
func decisions(c agent.Checkpoint) []Button {
	if c.Ask == agent.CheckClarify {
		return answers(c)
	}
	var list []Button
	for _, word := range c.Choices {
		if word == agent.DecideDeny && c.Ask == agent.CheckPlan && slices.Contains(c.Choices, agent.DecideEdit) {
			continue // Edit and Cancel say it (CHAT.md, "Plan")
		}
		list = append(list, Button{Label: label(word), Style: styles[word], Act: ActDecide, ID: string(c.ID), Word: word})
	}
	return list
}

// answers are the buttons of a clarifying question: its choices where it is
// the only one, a form, and leaving it to the model.
func answers(c agent.Checkpoint) []Button {
	var list []Button
	if len(c.Questions) == 1 {
		list = choices(c, c.Questions[0])
	}
	return append(list,
		Button{Label: "Other", Act: ActDecide, ID: string(c.ID), Word: WordOther},
		Button{Label: label(agent.DecideForMe), Act: ActDecide, ID: string(c.ID), Word: agent.DecideForMe})
}

// choices are a button for each choice of one question.
func choices(c agent.Checkpoint, q agent.Question) []Button {
	var list []Button
	for i, choice := range q.Choices[:min(len(q.Choices), maxChoices)] {
		list = append(list, Button{Label: choiceLabel(choice), Act: ActDecide, ID: string(c.ID), Word: choiceWord(c, q, i+1)})
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
