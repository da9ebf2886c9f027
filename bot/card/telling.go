package card

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Telling words runs for a surface that one person looks at, as bot.Telling
// asks for: what tasks do is told with its arguments.
type Telling struct{}

var _ bot.Telling = Telling{}

// maxGoal is how many characters of a goal a brief shows: its writer knows it.
const maxGoal = 1200

// Brief is what a run is about.
func (Telling) Brief(r agent.Run) bot.Card {
	goal := format.Visible(strings.TrimSpace(r.Brief.Goal))
	if more := utf8.RuneCountInString(goal) - maxGoal; more > 100 {
		goal = format.First(goal, maxGoal) + fmt.Sprintf(" … (%s)", format.Count(more, "more character"))
	}
	facts := []bot.Fact{{Name: "Goal", Value: goal}}
	if l := limits(r.Brief.Limits); l != "" {
		facts = append(facts, bot.Fact{Name: "Budget", Value: l})
	}
	if r.Brief.Folder != "" {
		facts = append(facts, bot.Fact{Name: "Folder", Value: format.Visible(r.Brief.Folder)})
	}
	return bot.Card{Text: text.InLine(r.Brief.Goal, 150), Parts: []bot.Part{bot.Facts{List: facts}}}
}

// limits is a budget in words, "" for none.
func limits(l agent.Limits) string {
	var list []string
	if l.USD > 0 {
		list = append(list, format.Money(l.USD))
	}
	if l.Tokens > 0 {
		list = append(list, format.Count(l.Tokens, "token"))
	}
	if l.Time > 0 {
		list = append(list, format.Duration(l.Time)+" of work")
	}
	if l.Steps > 0 {
		list = append(list, format.Count(l.Steps, "step"))
	}
	return strings.Join(list, " · ")
}

// Live is the run's card. What each task does is told with its arguments.
func (Telling) Live(r agent.Run, now time.Time) bot.Card {
	c := Live(r, now)
	for i, p := range c.Parts {
		list, is := p.(bot.Tasks)
		if !is {
			continue
		}
		for j, t := range list.Items {
			if t.State == agent.TaskRunning {
				list.Items[j].Note = step(r, agent.TaskStrand(agent.TaskID(t.ID)))
			}
		}
		c.Parts[i] = list
	}
	return c
}

// step is what a strand does, with the arguments of its first call.
func step(r agent.Run, id agent.StrandID) string {
	var calls []string
	for _, c := range OpenCalls(r.Strands.Of(id)) {
		if c.Intent != nil {
			calls = append(calls, Phrase(c.Intent.Tool, c.Intent.Arguments))
		}
	}
	if now := doing(r, id); len(calls) == 0 || strings.HasPrefix(now, "waits ") {
		return now
	}
	if len(calls) == 1 {
		return calls[0]
	}
	return fmt.Sprintf("%s and %d more", calls[0], len(calls)-1)
}

// Question is the question as the person at the surface sees it: nobody else is
// asked there.
func (Telling) Question(r agent.Run, c agent.Checkpoint, now time.Time) bot.Card {
	return Question(r, c, now, func(agent.Run, agent.CheckpointKind) []string { return nil })
}

// Report is the end of the run.
func (Telling) Report(r agent.Run) bot.Card { return Report(r) }

// News is what an event means to people.
func (Telling) News(before, after agent.Run, e agent.Event) []bot.News { return News(before, after, e) }

// maxCalls is how many of the latest calls an explanation lists.
const maxCalls = 8

// Why is what there is to know about a question beside the question itself.
func (Telling) Why(r agent.Run, c agent.Checkpoint) bot.Card {
	card := bot.Card{Text: "Why this is asked", Parts: []bot.Part{bot.Heading{Text: "Why this is asked"}}}
	facts := []bot.Fact{{Name: "Goal", Value: text.InLine(r.Brief.Goal, maxNews)}}
	if id, is := c.Strand.Task(); is {
		t, _ := r.Plan.Task(id)
		instructions := r.Tasks[id].Instructions
		if instructions == "" {
			instructions = t.Instructions
		}
		facts = []bot.Fact{{Name: "Task", Value: text.InLine(taskTitle(t), 120)}}
		if instructions != "" {
			facts = append(facts, bot.Fact{Name: "Instructions", Value: format.Visible(instructions)})
		}
		if t.Acceptance != "" {
			facts = append(facts, bot.Fact{Name: "Done when", Value: text.InLine(t.Acceptance, maxNews)})
		}
	}
	for _, q := range c.Questions {
		if q.Why != "" {
			facts = append(facts, bot.Fact{Name: text.InLine(q.Question, 200), Value: text.InLine(q.Why, maxNews)})
		}
	}
	facts = append(facts, past(r, c)...)
	card.Parts = append(card.Parts, bot.Facts{List: facts})
	return bot.Card{Text: card.Text, Parts: append(card.Parts, detail(c)...)}
}

// past is what the question's strand said and called before, and the tasks that
// are done.
func past(r agent.Run, c agent.Checkpoint) []bot.Fact {
	var words string
	var calls []string
	for _, e := range r.Talk(c.Strand).Entries.All() {
		if e.Answer == nil {
			continue
		}
		if e.Answer.Content != "" {
			words = e.Answer.Content
		}
		for _, call := range e.Answer.Calls {
			calls = append(calls, Phrase(call.Name, []byte(call.Arguments)))
		}
	}
	var facts []bot.Fact
	if words != "" {
		facts = append(facts, bot.Fact{Name: "The model's words", Value: text.InLine(words, maxNews)})
	}
	if n := len(calls); n > 0 {
		facts = append(facts, bot.Fact{Name: "Its calls so far, this one included", Value: strings.Join(calls[max(0, n-maxCalls):], ", ")})
	}
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State == agent.TaskDone {
			facts = append(facts, bot.Fact{Name: "Done", Value: text.InLine(taskTitle(t), 120) + ": " + text.InLine(s.Summary, 200)})
		}
	}
	return facts
}
