package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
	"github.com/deckhand-bot/deckhand/bot/words"
)

// What a person is told about their words: what they were taken for, with a
// button where that is only a guess, or the answer to their question.

// maxHeardQuote is how much of a person's words stands in a card, in characters.
const maxHeardQuote = 150

// Heard is the message about a person's words; false: nothing is known of them.
func Heard(r agent.Run, said uint64) (c bot.Card, known bool) {
	t, known := r.Heard(said)
	if !known {
		return c, false
	}
	c = heardCard(r, t)
	var list []bot.Button
	switch {
	case !t.Open(r):
	case t.Decision != "":
		list = []bot.Button{{Label: Label(t.Decision), Style: bot.StylePrimary, Act: bot.ActConfirm, ID: string(r.ID), Word: strconv.FormatUint(said, 10)}}
	default:
		list = []bot.Button{
			{Label: "Resume", Style: bot.StylePrimary, Act: bot.ActControl, ID: string(r.ID), Word: string(agent.WordResume)},
			{Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: string(r.ID), Word: string(agent.WordCancel)},
		}
	}
	return with(c, list), true
}

// HeardClosed is what stays of the message once there is nothing left to press.
func HeardClosed(r agent.Run, said uint64) (c bot.Card, known bool) {
	t, known := r.Heard(said)
	if !known {
		return c, false
	}
	line := "I had paused, as " + bot.Mention(t.By) + "’s words " + quoted(t) + " read like a stop."
	if check, asked := r.Checks[t.Of]; asked {
		line = quoted(t) + " read like “" + Label(t.Decision) + "” to “" + text.Quoted(Title(r, check), maxHeardQuote) + "”. " + verdict(r, check)
	}
	return heardAs(r, t, line), true
}

// heardCard is the message without its buttons.
func heardCard(r agent.Run, t agent.Told) bot.Card {
	switch {
	case t.Unable != "":
		return heardAs(r, t, unable(t))
	case t.Decision != "":
		return heardAs(r, t, "**"+proposal(r, t)+"** I read "+quoted(t)+" that way. Nothing is decided until somebody who may presses "+Label(t.Decision)+".")
	case t.Meaning == agent.MeansStop:
		return heardAs(r, t, "**Paused.** I read "+quoted(t)+" as a stop. Resume goes on where it was; Cancel ends the run and reports what there is.")
	}
	answer := t.Text
	if answer == "" {
		answer = "**I cannot tell that from what has happened so far.** " + soFar(r)
	}
	c := heardAs(r, t, answer)
	c.Parts = append(c.Parts, bot.Small{Markdown: "To " + quoted(t)})
	return c
}

func heardAs(r agent.Run, t agent.Told, line string) bot.Card {
	return bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyHeard(t.Said), Kind: agent.PostAnswer},
		Text: text.InLine(text.Plain(line), maxNews), Parts: []bot.Part{bot.Prose{Markdown: line}}}
}

func quoted(t agent.Told) string { return "“" + text.Quoted(t.Words, maxHeardQuote) + "”" }

// proposal asks whether a decision is meant.
func proposal(r agent.Run, t agent.Told) string {
	about := "“" + text.Quoted(Title(r, r.Checks[t.Of]), maxHeardQuote) + "”"
	if more := agent.Raise(t.Decision); more > 0 {
		return "Add " + strconv.Itoa(more) + " % to what this run may spend?"
	}
	switch t.Decision {
	case agent.DecideApprove:
		return "Do you mean yes to " + about + "?"
	case agent.DecideDeny:
		return "Do you mean no to " + about + "?"
	}
	return "Do you mean “" + text.Escape(Label(t.Decision)) + "” for " + about + "?"
}

// soFar is how far a run is, in one sentence.
func soFar(r agent.Run) string {
	done, total := r.Progress()
	switch {
	case total == 0:
		return "There is no plan yet."
	case done == total:
		return "All tasks are done."
	}
	return strconv.Itoa(done) + " of " + strconv.Itoa(total) + " tasks are done."
}

// exactly is what somebody says who wants just this, by what their words may mean.
var exactly = []struct {
	means words.Meaning
	as    string
	say   string
}{
	{words.Stop, "a stop", "`stop`"},
	{words.Cancel, "the end of the run", "`cancel`"},
	{words.GoOn, "going on", "`resume`"},
	{words.Yes, "a yes", "`approve`"},
	{words.No, "a no", "`deny`"},
}

// unable says that no model could tell what somebody meant, and which words
// count without one.
func unable(t agent.Told) string {
	line := "I cannot look up what " + quoted(t) + " means: " + text.Escape(t.Unable) + ". So it is kept as a note for the work."
	if t.Meaning == agent.MeansQuestion {
		line = "I cannot answer " + quoted(t) + " now: " + text.Escape(t.Unable) + ". `status` says where the run stands."
	}
	hints := words.Hints(t.Words)
	var may []string
	for _, e := range exactly {
		if slices.Contains(hints, e.means) {
			may = append(may, e.as+" (then say "+e.say+")")
		}
	}
	if len(may) > 0 {
		return line + " It might have been understood as " + strings.Join(may, " or as ") + "."
	}
	return line + " Single words always count: `stop`, `resume`, `cancel`, `status`, and under a question `approve` or `deny`."
}

// PickWhy is why a typed word decided nothing.
type PickWhy string

// The reasons.
const (
	PickSeveral PickWhy = "several questions take it"
	PickLate    PickWhy = "the question came after it"
	PickEdited  PickWhy = "it was edited"
	PickWeighty PickWhy = "it needs a button"
)

// Pick is a question that a typed word may have been meant for, and as what.
type Pick struct {
	Check    agent.Checkpoint
	Decision string
}

// PickOne tells somebody that their word decided nothing, and offers a button for
// each question that they may have meant.
func PickOne(r agent.Run, typed string, list []Pick, why PickWhy) (said string, b bot.Buttons) {
	word := "“" + text.Quoted(typed, maxHeardQuote) + "”"
	first := list[0]
	about := "“" + text.Quoted(Title(r, first.Check), maxTitle) + "”"
	press := "**" + text.Escape(Label(first.Decision)) + "**"
	switch why {
	case PickSeveral:
		said = "**Which one do you mean?** More than one question is open, so " + word + " has decided nothing yet."
	case PickLate:
		said = "**Nothing is decided yet.** You wrote " + word + " before you can have read " + about + ". Press " + press + " if you mean it."
	case PickEdited:
		said = "**Nothing is decided yet.** A message that was changed decides nothing. Press " + press + " if you mean " + about + "."
	case PickWeighty:
		said = "**Please press a button for this one.** A word is not enough for " + weight(first.Check) + ": " + about
	}
	if len(list) == 1 && why != PickSeveral {
		return said, bot.Buttons{List: []bot.Button{pickButton(first, Label(first.Decision))}}
	}
	for i, p := range list {
		n := strconv.Itoa(i + 1)
		said += "\n" + n + ". " + text.Escape(Title(r, p.Check))
		b.List = append(b.List, pickButton(p, Label(p.Decision)+" "+n))
	}
	return said, b
}

func pickButton(p Pick, label string) bot.Button {
	word := p.Decision
	if i := slices.Index(p.Check.Choices, word); i >= 0 {
		word = strconv.Itoa(i + 1) // a choice may be longer than a button can carry
	}
	return bot.Button{Label: label, Style: styles[p.Decision], Act: bot.ActPick, ID: string(p.Check.ID), Word: word}
}

// PickedWord is the decision that such a button stands for.
func PickedWord(c agent.Checkpoint, word string) string {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(c.Choices) {
		return c.Choices[n-1]
	}
	return word
}

// Picked is what stays of the offer once a question was chosen.
func Picked(r agent.Run, c agent.Checkpoint) bot.Card {
	line := "“" + text.Quoted(Title(r, c), maxTitle) + "”: " + verdict(r, c)
	return bot.Card{Key: bot.Key{Run: r.ID, Kind: agent.PostAnswer}, Text: text.InLine(text.Plain(line), maxNews), Parts: []bot.Part{bot.Prose{Markdown: line}}}
}

// weight is what a question is about for which one word is not enough.
func weight(c agent.Checkpoint) string {
	switch {
	case c.Ask == agent.CheckUncertain:
		return "doing something twice"
	case c.Class == agent.ClassDelete:
		return "a delete"
	case c.Class == agent.ClassSend:
		return "something that others will see"
	case c.Class == agent.ClassCommand:
		return "a command"
	}
	return "this"
}
