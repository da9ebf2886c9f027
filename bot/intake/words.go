package intake

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/remember"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/bot/words"
)

// Single words and patterns in what people write.

// firstWord parts a text after its first word.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// afterColon is the text after "WORD:", else the text.
func afterColon(text, word string) string {
	first, rest := firstWord(text)
	if rest != "" && strings.EqualFold(first, word+":") {
		return rest
	}
	return text
}

// denialReason is what follows "deny" in a text that denies and says why.
func denialReason(text string) (why string, is bool) {
	word, rest := firstWord(text)
	return rest, rest != "" && strings.EqualFold(strings.TrimRight(word, ",:"), agent.DecideDeny)
}

// decisionWord is the decision that a text is exactly: a word of the question or,
// said to the bot, also a short one or a number. Free answers are none.
func decisionWord(c agent.Checkpoint, text string, to bool) (word string, is bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if _, offered := runs.ChoiceOf(c, text); !offered {
		text = strings.TrimRight(text, ".! ")
	}
	if text == agent.DecideAnswer && runs.TakesAnswer(c) {
		return "", false // the name of the decision is no answer
	}
	if meant, offered := runs.ChoiceOf(c, text); offered {
		return meant, true
	}
	if n := words.Percent(text); c.Ask == agent.CheckBudget && n > 0 {
		meant, offered := runs.ChoiceOf(c, agent.RaiseBy(n))
		return meant, offered
	}
	if text == "always in this run" && slices.Contains(c.Choices, agent.DecideAlways) {
		return agent.DecideAlways, true
	}
	if text == "" || (!to && c.Ask != agent.CheckClarify) {
		return "", false
	}
	if runs.TakesAnswer(c) {
		return numbered(c, text)
	}
	d, err := runs.ReadWord(c, plainly(c, text), "")
	return d.Decision, err == nil
}

// numbered is the choice that a text is the number of, as the question shows it.
func numbered(c agent.Checkpoint, text string) (word string, is bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || len(c.Questions) != 1 || n > len(c.Questions[0].Choices) {
		return "", false
	}
	return c.Questions[0].Choices[n-1], true
}

// plainly is a yes or no of any language as the short word for it, where leave
// is asked for.
func plainly(c agent.Checkpoint, text string) string {
	if c.Ask != agent.CheckApproval && c.Ask != agent.CheckPlan {
		return text
	}
	switch words.Of(text) {
	case words.Yes:
		return "yes"
	case words.No:
		return "no"
	}
	return text
}

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

func never(string) bool         { return false }
func anything(rest string) bool { return rest != "" }
func nothing(rest string) bool  { return rest == "" }

// isMemoryOrder are the beginnings of orders about memory; anything else after the
// word is a goal about memory.
func isMemoryOrder(rest string) bool {
	first, _, _ := strings.Cut(strings.ToLower(rest), " ")
	return rest == "" || slices.Contains(remember.Orders(), first)
}

// isToRemember reports whether the text after "remember", said in a sentence, is
// something to keep: "remember to …" is a goal.
func isToRemember(rest string) bool {
	first, after := firstWord(strings.ToLower(rest))
	return after != "" && first != "to"
}

var namePattern = regexp.MustCompile("^`?([A-Za-z0-9][A-Za-z0-9._-]{0,63})`?$")
var subjects = map[string]recurring.Subject{"workspace": recurring.OfWorkspace, "channel": recurring.OfChannel, "mine": recurring.OfPerson}

// isScheduleOrder reports whether the text after "report" or "schedule", said in a
// sentence, orders something about the schedules that there are.
func isScheduleOrder(rest string) bool {
	first, after := firstWord(strings.ToLower(rest))
	switch first {
	case "":
		return true
	case "list":
		return after == ""
	case "now":
		return isReportOption(strings.Fields(after))
	case "remove", "pause", "resume":
		return after == "" || namePattern.MatchString(after)
	case "change":
		name, _ := firstWord(after)
		return after == "" || namePattern.MatchString(name)
	}
	return false
}

// isReportOrder reports whether the text after "report", said in a sentence, is an
// order in exact words: a time and nothing else but options. What is not may yet
// be understood by meaning.
func isReportOrder(rest string) bool {
	if isScheduleOrder(rest) {
		return true
	}
	_, options, err := schedule.ParsePrefix(rest, time.UTC, time.Unix(0, 0))
	words := strings.Fields(strings.ToLower(options))
	return err == nil && !slices.ContainsFunc(words, func(word string) bool { return !isReportOption([]string{word}) })
}

// isGoalOrder is the same for the text after "schedule": a time, a colon and a goal.
func isGoalOrder(rest string) bool {
	if isScheduleOrder(rest) {
		return true
	}
	_, after, err := schedule.ParsePrefix(rest, time.UTC, time.Unix(0, 0))
	begin := strings.TrimSpace(strings.TrimSuffix(rest, after))
	option, goal, colon := strings.Cut(after, ":")
	switch recurring.Overlap(strings.ToLower(strings.TrimSpace(option))) {
	case recurring.OverlapSkip, recurring.OverlapQueue, recurring.OverlapReplace:
		colon = colon && strings.TrimSpace(goal) != ""
	default:
		colon = strings.HasSuffix(begin, ":") && after != ""
	}
	return err == nil && colon
}

// isReportOption reports whether the words begin with one that can follow "report now".
func isReportOption(words []string) bool {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return true
	}
	_, about := subjects[words[0]]
	return about || words[0] == "here" || words[0] == "always" || words[0] == "quiet"
}
