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
	if t.Schedule != nil { // it outlives the run, and so do its buttons
		c = Scheduling(*t.Schedule, ScheduleNow{})
		c.Key = heardKey(r, t)
		c.Parts = slices.Insert(c.Parts, 1, bot.Part(bot.Small{Markdown: "To " + quoted(t) + ". The run here goes on as it is."}))
		return c, true
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
		return heardAs(r, t, proposal(r, t)+" Nothing is decided until somebody who may decide it presses "+Label(t.Decision)+".")
	case t.Meaning == agent.MeansStop:
		return heardAs(r, t, "**Paused.** I read "+quoted(t)+" as a stop. Resume goes on where it was; Cancel ends the run and reports what there is.")
	case t.Meaning == agent.MeansSchedule:
		return heardAs(r, t, "**Nothing is planned for later yet.** I read "+quoted(t)+" as something for another time, so this run goes on as it is"+text.IfAny(t.Text, ", but "+text.Escape(t.Text))+
			". Say when and what: `schedule every monday 9:00: GOAL`. If you meant this run, say `steer:` in front of it.")
	}
	answer := t.Text
	if answer == "" {
		answer = "**Nothing that I have noted tells me that.** " + soFar(r)
	}
	c := heardAs(r, t, answer)
	c.Parts = append(c.Parts, bot.Small{Markdown: "To " + quoted(t)})
	return c
}

func heardAs(r agent.Run, t agent.Told, line string) bot.Card {
	return bot.Card{Key: heardKey(r, t),
		Text: text.InLine(text.Plain(line), maxNews), Parts: []bot.Part{bot.Prose{Markdown: line}}}
}

func heardKey(r agent.Run, t agent.Told) bot.Key {
	return bot.Key{Run: r.ID, Name: agent.KeyHeard(t.Said), Kind: agent.PostAnswer}
}

func quoted(t agent.Told) string { return "“" + text.Quoted(t.Words, maxHeardQuote) + "”" }

// proposal asks whether a decision is meant, and of what.
func proposal(r agent.Run, t agent.Told) string {
	about := " It would answer “" + text.Quoted(Title(r, r.Checks[t.Of]), maxHeardQuote) + "”."
	if more := agent.Raise(t.Decision); more > 0 {
		return "**Shall I take " + quoted(t) + " as " + strconv.Itoa(more) + " % more for this run to spend?**"
	}
	switch t.Decision {
	case agent.DecideApprove:
		return "**Shall I take " + quoted(t) + " as a yes?**" + about
	case agent.DecideDeny:
		return "**Shall I take " + quoted(t) + " as a no?**" + about
	}
	return "**Shall I take " + quoted(t) + " as “" + text.Escape(Label(t.Decision)) + "”?**" + about
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
	return "So far " + strconv.Itoa(done) + " of " + strconv.Itoa(total) + " tasks done."
}

// exactly is what somebody says who wants just this, by what their words may mean.
var exactly = []struct {
	means words.Meaning
	say   string
}{
	{words.Stop, "If you want me to stop, say `stop`."},
	{words.Cancel, "If you want the run to end for good, say `cancel`."},
	{words.GoOn, "If you want me to go on, say `resume`."},
	{words.Yes, "If you mean yes to my question, press its button or say `approve`."},
	{words.No, "If you mean no to my question, press its button or say `deny`."},
}

// unable says that no model could tell what somebody meant, and which words
// count without one.
func unable(t agent.Told) string {
	line := "I could not work out what " + quoted(t) + " means (" + text.Escape(t.Unable) + "), so I kept it as a note for the work."
	if t.Meaning == agent.MeansQuestion {
		line = "I cannot answer " + quoted(t) + " just now (" + text.Escape(t.Unable) + "). `status` says where the run stands."
	}
	hints := words.Hints(t.Words)
	known := false
	for _, e := range exactly {
		if slices.Contains(hints, e.means) {
			line, known = line+" "+e.say, true
		}
	}
	if known {
		return line
	}
	return line + " These words always count: `stop`, `resume`, `cancel`, `status`, and under a question `approve` or `deny`."
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
	lines := strings.Builder{}
	lines.WriteString(said)
	for i, p := range list {
		n := strconv.Itoa(i + 1)
		lines.WriteString("\n" + n + ". " + text.Escape(Title(r, p.Check)))
		b.List = append(b.List, pickButton(p, Label(p.Decision)+" "+n))
	}
	return lines.String(), b
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
