package card

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The question of a run that is stuck: what was tried, what each way out does,
// and who is asked next.

// Bounds of what a question about a way out shows.
const (
	maxTried     = 8
	maxTriedLine = 300 // characters
)

// stuckParts is what a run that is stuck says: what was tried, what it needs, and
// what each button does.
func stuckParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	parts := triedParts(r, c)
	need := "**How shall I go on?**"
	if r.Brief.ReplyTo != "" {
		need += " " + inThread(c)
	}
	lines := []string{need}
	for _, word := range c.Choices {
		if what := wayOut(c, word); what != "" {
			lines = append(lines, "- **"+text.Escape(Label(word))+"**: "+what)
		}
	}
	return append(parts, bot.Prose{Markdown: strings.Join(lines, "\n")})
}

// triedParts is what was tried, nothing where nothing was.
func triedParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	lines := tried(r, c)
	if len(lines) == 0 {
		return nil
	}
	return []bot.Part{bot.Prose{Markdown: "**What was tried**\n- " + strings.Join(text.AtMost(lines, maxTried), "\n- ")}}
}

// inThread says how a question is answered where it stands in a thread.
func inThread(c agent.Checkpoint) string {
	if runs.TakesHint(c) {
		return "Press a button, or write here what I should do differently (reply to this or mention me): I try again with it."
	}
	return "Press a button."
}

// wayOut is what a choice of a question of a run that is stuck does, empty for
// any other question.
func wayOut(c agent.Checkpoint, word string) string {
	if c.Ask != agent.CheckStuck {
		return ""
	}
	switch word {
	case agent.DecideRetry:
		if c.Strand == agent.Main {
			return "I make one more plan"
		}
		return "I go on with this task"
	case agent.DecideSkip:
		return "I leave this task out and go on with the rest"
	case agent.DecideFinish:
		return "I report what there is"
	case agent.DecideCancel:
		return "the run ends at once"
	}
	return ""
}

// tried is what was tried: the lines of the question itself, what else was
// noticed about the task's work, and for the whole run the tasks that failed.
func tried(r agent.Run, c agent.Checkpoint) []string {
	var lines []string
	add := func(line string) {
		if line = People(r, text.Quoted(line, maxTriedLine)); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for line := range strings.SplitSeq(c.Detail, "\n") {
		add(strings.TrimPrefix(strings.TrimSpace(line), "- "))
	}
	if c.Strand == agent.Main {
		return lines // it lists the tasks that failed
	}
	for _, f := range noticed(r, c) {
		add(f.Message)
	}
	return lines
}

// noticed are the findings about the task since its last question, without the
// streaks that ended in a stop: the question is about those.
func noticed(r agent.Run, c agent.Checkpoint) []agent.Finding {
	own := slices.DeleteFunc(slices.Clone(r.Findings), func(f agent.Finding) bool { return f.Strand != c.Strand })
	end := len(own)
	for end > 0 && endsInQuestion(own[end-1]) {
		end--
	}
	from := end
	for from > 0 && !endsInQuestion(own[from-1]) {
		from--
	}
	return slices.DeleteFunc(slices.Clone(own[from:end]), func(f agent.Finding) bool {
		return slices.ContainsFunc(own, func(o agent.Finding) bool {
			return endsInQuestion(o) && overlap(f.Events, o.Events) || repeatsRule(f, o)
		})
	})
}

// endsInQuestion reports whether a person is asked because of the finding. A chant
// only ends an answer.
func endsInQuestion(f agent.Finding) bool {
	return f.Severity == agent.FindingStop && f.Rule != agent.RuleChant
}

// repeatsRule reports whether a check-in's finding only says again what an exact
// rule found.
func repeatsRule(f, o agent.Finding) bool {
	return f.Rule == agent.RuleCheckIn && o.Rule != f.Rule && o.Message == f.Message
}

// overlap reports whether two lists have something in common.
func overlap(a, b []uint64) bool {
	return slices.ContainsFunc(a, func(n uint64) bool { return slices.Contains(b, n) })
}

// askedLater says who is asked when half of the question's time is over, and
// nobody has decided: "" where that is nobody else.
func askedLater(c agent.Checkpoint, first, later []string) string {
	if c.Expires.IsZero() || slices.Equal(first, later) {
		return ""
	}
	half := c.Opened.Add(c.Expires.Sub(c.Opened) / 2)
	return "If nobody answers by " + text.Moment(half) + ", I ask " + bot.Mentions(later, "and") + " as well."
}

// passedOn says who is asked now, after those who were asked first.
func passedOn(r agent.Run, first, now []string) string {
	switch {
	case len(now) == 0:
		return "Nobody has answered yet."
	case !slices.Equal(first, now):
		return bot.Mentions(first, "and") + " has not answered. " + bot.Mentions(now, "or") + ", you may decide it as well."
	case slices.Contains(now, r.Brief.Requester):
		return bot.Mention(r.Brief.Requester) + ", I cannot go on without you."
	}
	return "Nobody has answered yet. " + bot.Mentions(now, "or") + " may decide it."
}
