package bot

import (
	"strings"

	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Card is a message in platform-neutral form. A principal in its texts stands as
// the token of Mention: a platform shows a name in its place (Unmention). Texts are Markdown (CommonMark);
// a platform renders them so that nothing in them pings anybody.
type Card struct {
	Key Key
	// Text is the message in one line of plain text: for notifications and for
	// what cannot show parts.
	Text string
	// Mentions are the principals who are to be notified. Edits carry none.
	Mentions []string
	Parts    []Part
	// Final marks a card that stays as it is: where it is cut, the whole text comes
	// along with an edit as well.
	Final bool
}

// Reworded is the card with what word makes of each of its texts.
func (c Card) Reworded(word func(string) string) Card {
	c.Text = word(c.Text)
	parts := make([]Part, len(c.Parts))
	for i, p := range c.Parts {
		parts[i] = reworded(p, word)
	}
	c.Parts = parts
	return c
}

func reworded(part Part, word func(string) string) Part {
	switch p := part.(type) {
	case Heading:
		return Heading{word(p.Text)}
	case Prose:
		return Prose{Markdown: word(p.Markdown), Keep: p.Keep}
	case Small:
		return Small{word(p.Markdown)}
	case Code:
		return Code{Text: word(p.Text), Most: p.Most, First: p.First}
	case Facts:
		list := make([]Fact, len(p.List))
		for i, f := range p.List {
			list[i] = Fact{word(f.Name), word(f.Value)}
		}
		return Facts{list}
	case Tasks:
		items := slices.Clone(p.Items)
		for i := range items {
			items[i].Title, items[i].Note = word(items[i].Title), word(items[i].Note)
		}
		return Tasks{word(p.Title), items}
	case Buttons:
		list := slices.Clone(p.List)
		for i := range list {
			list[i].Label = word(list[i].Label)
		}
		return Buttons{list}
	case Rating:
	}
	return part
}

// Part is one piece of a card, from top to bottom. The set is closed.
//
//sumtype:decl
type Part interface{ part() }

// Heading is one line that stands out.
type Heading struct{ Text string } // plain text
// Prose is Markdown of any length; a platform shortens what it cannot show
// and attaches the whole as a file.
type Prose struct {
	Markdown string
	// Keep marks what people must not miss: it is shortened after everything else.
	Keep bool
}

// others is which share of the room is left to prose that is not to be kept.
const others = 4

// Rooms shares most characters among the card's prose, by part. What is to be kept
// comes first, and what is short before what is long.
func (c Card) Rooms(most int) []int {
	rooms, wants := make([]int, len(c.Parts)), map[bool][]int{}
	size := func(i int) int { p, _ := c.Parts[i].(Prose); return utf8.RuneCountInString(p.Markdown) }
	rest := 0
	for i, p := range c.Parts {
		if p, is := p.(Prose); is {
			wants[p.Keep] = append(wants[p.Keep], i)
			if !p.Keep {
				rest += size(i)
			}
		}
	}
	left := most - min(rest, most/others)
	for _, keep := range []bool{true, false} {
		list := wants[keep]
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(size(i), size(j)) })
		for n, i := range list {
			rooms[i] = min(size(i), left/(len(list)-n))
			left, most = left-rooms[i], most-rooms[i]
		}
		left = most
	}
	return rooms
}

// Tasks is a plan with the state of each task.
type Tasks struct {
	Title string // plain text
	Items []TaskItem
}

// TaskItem is one task as people see it, in plain text.
type TaskItem struct {
	ID    string
	Title string
	State agent.TaskState
	Note  string // why it failed, what came of it
	After []string
}

var taskMarks = map[agent.TaskState]string{
	agent.TaskPending: "⚪", agent.TaskRunning: "🔵", agent.TaskDone: "✅", agent.TaskFailed: "❌", agent.TaskSkipped: "➖",
}

// Mark is a sign for the task's state, empty for one that is not known.
func (t TaskItem) Mark() string { return taskMarks[t.State] }

// WaitsFor are the titles of the tasks that a task waits for which has not begun.
func (p Tasks) WaitsFor(t TaskItem) []string {
	var titles []string
	for _, id := range t.After {
		for _, other := range p.Items {
			if other.ID == id && other.State != agent.TaskDone {
				titles = append(titles, other.Title)
			}
		}
	}
	return titles
}

// Facts are short names with short values, in plain text.
type Facts struct{ List []Fact }

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Code is text that stands as it is, in a fixed font. Most is how many of its
// lines are shown, where that is not all: 0 is as many as fit, less is none; First
// likewise how many of its characters. A platform attaches the whole as a file
// where it is cut.
type Code struct {
	Text  string
	Most  int
	First int
}

// Head is what is shown of the text, and whether that is not all of it.
func (c Code) Head() (text string, cut bool) {
	if c.Most < 0 {
		return "", true
	}
	if c.First > 0 && utf8.RuneCountInString(c.Text) > c.First {
		return format.First(c.Text, c.First), true
	}
	lines := strings.SplitAfterN(c.Text, "\n", c.Most+1)
	if c.Most == 0 || len(lines) <= c.Most || strings.TrimSpace(lines[c.Most]) == "" {
		return c.Text, false
	}
	return strings.Join(lines[:c.Most], ""), true
}

// Small is a line of lesser weight (Markdown).
type Small struct{ Markdown string }

// Buttons are what can be clicked.
type Buttons struct{ List []Button }

// Rating asks whether the card was good: a button each for +1 and -1.
type Rating struct{ Run agent.RunID }

func (Heading) part() {}
func (Prose) part()   {}
func (Tasks) part()   {}
func (Facts) part()   {}
func (Code) part()    {}
func (Small) part()   {}
func (Buttons) part() {}
func (Rating) part()  {}

// Style is how a button looks.
type Style string

// The styles.
const (
	StylePlain   Style = ""
	StylePrimary Style = "primary"
	StyleDanger  Style = "danger"
)

// ButtonAct is what a click means.
type ButtonAct string

// The meanings of a click. ID is the checkpoint of a decision, else the run.
const (
	ActDecide  ButtonAct = "decide"  // Word is the decision, or the number of a choice
	ActControl ButtonAct = "control" // Word is pause, resume or cancel; of a schedule undo or change
	ActRate    ButtonAct = "rate"    // Word is +1 or -1
	ActShow    ButtonAct = "show"    // Word is what to show privately: status, plan
	ActStart   ButtonAct = "start"   // opens the form for a new goal
	// ActSteer opens the form for a word to the run. A platform on which the bot
	// reads what is said in a thread leaves such a button out.
	ActSteer ButtonAct = "steer"
	// ActForm opens a form again whose values could not be taken; ID is what they
	// are kept under.
	ActForm ButtonAct = "form"
	// ActWhich says which run words were meant for: Word is the run, ID what the
	// words are kept under.
	ActWhich ButtonAct = "which"
	// ActUse gives a colleague's words to the run (ID) as steering; Word is the
	// words' digest.
	ActUse ButtonAct = "use"
	// ActPick decides what a typed word did not, as it may be meant for another
	// question: ID is the question, Word the decision.
	ActPick ButtonAct = "pick"
	// ActConfirm confirms what a person's words were taken for: Word is the number
	// of their event.
	ActConfirm ButtonAct = "confirm"
)

// The words of ActControl whose ID is a schedule's name.
const (
	WordUndo   = "undo"
	WordChange = "change"
)

// Button is a click waiting to happen. It carries ids and words only, never
// arguments: those are in the store.
type Button struct {
	Label string // plain text, fixed words (CONTRACT.md, "Chat")
	Style Style
	Act   ButtonAct
	ID    string
	Word  string
}
