package intake

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// command is a word that people give the bot. In a sentence a word counts as a
// command only where what follows it can be nothing else; behind the
// platform's own command it always counts.
type command struct {
	word  string
	also  string // another word for it
	usage string // its line of help; empty: it is not in the list
	does  string
	// exact marks the control words: alone they count before anything else.
	exact bool
	// fits reports whether the text after the word is what the command takes.
	fits func(rest string) bool
	do   func(h call, ctx context.Context, rest string) (bot.Answer, error)
}

// commands is the one list of what the bot understands.
func commands() []command {
	return []command{
		{word: "run", usage: "run GOAL", does: "starts a run", fits: never, do: call.run},
		{word: "status", usage: "status [RUN]", does: "where a run stands", exact: true, fits: aRun, do: show(showStatus)},
		{word: "runs", usage: "runs", does: "lists your runs", fits: nothing, do: call.runs},
		{word: "plan", usage: "plan [RUN]", does: "the plan and what is done of it", fits: aRun, do: show(showPlan)},
		{word: "approve", usage: "approve [QUESTION]", does: "approves what is asked", fits: aQuestion, do: decides(agent.DecideApprove)},
		{word: "deny", usage: "deny [QUESTION] [REASON]", does: "denies what is asked, and says why", fits: aQuestion, do: decides(agent.DecideDeny)},
		{word: "steer", usage: "steer TEXT", does: "tells a run something on its way", fits: anything, do: call.steer},
		{word: "pause", also: "stop", usage: "pause [RUN]", does: "pauses a run (stop does the same)", exact: true, fits: aRun, do: controlling(agent.WordPause)},
		{word: "resume", usage: "resume [RUN]", does: "lets a paused run go on", exact: true, fits: aRun, do: controlling(agent.WordResume)},
		{word: "cancel", usage: "cancel [RUN]", does: "ends a run", exact: true, fits: aRun, do: controlling(agent.WordCancel)},
		{word: "budget", usage: "budget [RUN]", does: "what a run has spent, of what", fits: aRun, do: show(showBudget)},
		{word: "permissions", usage: "permissions [RUN]", does: "what a run may do, and who decides about the rest", fits: aRun, do: show(showPermissions)},
		{word: "watch", usage: "watch RUN", does: "shows a run of another place here, too", fits: aNamedRun, do: call.watch},
		{word: "help", usage: "help", does: "this list", exact: true, fits: nothing, do: call.help},
		{word: "report", usage: "report WHEN [ZONE] [here|#channel] [always]", does: "tells again and again where things stand; also `report now`, `list` and `change|pause|resume|remove NAME`",
			fits: scheduled, do: scheduling(recurring.ReportKind)},
		{word: "schedule", usage: "schedule WHEN: GOAL", does: "works on a goal again and again; also `schedule list` and `change|pause|resume|remove NAME`",
			fits: scheduled, do: scheduling(recurring.GoalKind)},
		{word: "memory", fits: ordered, do: call.missing},
	}
}

func never(string) bool         { return false }
func anything(rest string) bool { return rest != "" }
func nothing(rest string) bool  { return rest == "" }

var (
	runPattern   = regexp.MustCompile(`^[a-z2-7]{16}$`)
	checkPattern = regexp.MustCompile(`^[a-z2-7]{16}-[a-z0-9]{1,16}$`)
)

func aRun(rest string) bool      { return rest == "" || runPattern.MatchString(rest) }
func aNamedRun(rest string) bool { return runPattern.MatchString(rest) }

func aQuestion(rest string) bool {
	first, _, _ := strings.Cut(rest, " ")
	return rest == "" || checkPattern.MatchString(first)
}

// ordered are the beginnings of orders about memory; anything else after the
// word is a goal about memory.
func ordered(rest string) bool {
	first, _, _ := strings.Cut(strings.ToLower(rest), " ")
	return rest == "" || slices.Contains([]string{"list", "pin", "forget"}, first)
}

// commandOf is the command that the word names in any case, nil if none.
func commandOf(word string) *command {
	word = strings.ToLower(word)
	for _, c := range commands() {
		if word != "" && (c.word == word || c.also == word) {
			return &c
		}
	}
	return nil
}

// controlWord is the command of a text that is one of the exact control words
// and nothing else but case, space and what is no letter behind it.
func controlWord(text string) *command {
	word := strings.TrimRightFunc(strings.TrimSpace(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if c := commandOf(word); c != nil && c.exact {
		return c
	}
	return nil
}

// spokenCommand is the command of a text that was said to the bot, nil if it
// says something else.
func spokenCommand(text string) (c *command, rest string) {
	word, rest := firstWord(text)
	c = commandOf(word)
	if c == nil {
		c = commandOf(strings.TrimRight(word, ".!?,:;"))
		if c == nil || (rest != "" && c.word != "steer") {
			return nil, ""
		}
	}
	if !c.fits(rest) && rest != "" {
		return nil, ""
	}
	return c, rest // a word alone is no goal: what it needs is said
}

// firstWord parts a text after its first word.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// reason is what follows "deny" in a text that denies and says why.
func reason(text string) (why string, is bool) {
	word, rest := firstWord(text)
	return rest, rest != "" && strings.EqualFold(strings.TrimRight(word, ",:"), agent.DecideDeny)
}

// spelled is the decision that a text is exactly: a word of the question or,
// said to the bot, also a short one or a number. Free answers are none.
func spelled(c agent.Checkpoint, text string, to bool) (word string, is bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if _, offered := runs.Choice(c, text); !offered {
		text = strings.TrimRight(text, ".! ")
	}
	if text == agent.DecideAnswer && runs.Free(c) {
		return "", false // the name of the decision is no answer
	}
	if meant, offered := runs.Choice(c, text); offered {
		return meant, true
	}
	if text == "always in this run" && slices.Contains(c.Choices, agent.DecideAlways) {
		return agent.DecideAlways, true
	}
	n, err := strconv.Atoi(text)
	number := err == nil && n > 0
	switch {
	case text == "", !to && c.Ask != agent.CheckClarify:
		return "", false
	case number && runs.Free(c): // only the numbers that the question shows
		if len(c.Questions) != 1 || n > len(c.Questions[0].Choices) {
			return "", false
		}
		return c.Questions[0].Choices[n-1], true
	case runs.Free(c):
		return "", false
	}
	d, err := runs.ReadWord(c, text, "")
	return d.Decision, err == nil
}
