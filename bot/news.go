package bot

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Telling words a run for a surface that draws it itself while it follows the
// journal, such as the terminal. Platforms that post get their cards from
// posting instead. Every method is a function of its arguments alone.
type Telling interface {
	// Brief is what a run is about: goal, budget, folder.
	Brief(r agent.Run) Card
	// Live is where the run stands. It is one line once the run has ended.
	Live(r agent.Run, now time.Time) Card
	// Question is an open question with everything that decides it.
	Question(r agent.Run, c agent.Checkpoint, now time.Time) Card
	// Why is what else there is to know about a question: the task's words, what
	// was done so far.
	Why(r agent.Run, c agent.Checkpoint) Card
	// Report is the end of a run.
	Report(r agent.Run) Card
	// News is what an event means to people, nothing for most. Before and after
	// are the folds around the event.
	News(before, after agent.Run, e agent.Event) []News
}

// Reworded is a telling with what Word makes of each of its texts: secrets are
// taken out there.
type Reworded struct {
	Telling

	Word func(text string) string
}

// Brief is what a run is about.
func (t Reworded) Brief(r agent.Run) Card { return t.Telling.Brief(r).Reworded(t.Word) }

// Live is where the run stands.
func (t Reworded) Live(r agent.Run, now time.Time) Card {
	return t.Telling.Live(r, now).Reworded(t.Word)
}

// Question is an open question.
func (t Reworded) Question(r agent.Run, c agent.Checkpoint, now time.Time) Card {
	return t.Telling.Question(r, c, now).Reworded(t.Word)
}

// Why is what else there is to know about a question.
func (t Reworded) Why(r agent.Run, c agent.Checkpoint) Card {
	return t.Telling.Why(r, c).Reworded(t.Word)
}

// Report is the end of a run.
func (t Reworded) Report(r agent.Run) Card { return t.Telling.Report(r).Reworded(t.Word) }

// News is what an event means to people.
func (t Reworded) News(before, after agent.Run, e agent.Event) []News {
	list := t.Telling.News(before, after, e)
	for i := range list {
		list[i].About, list[i].Text = t.Word(list[i].About), t.Word(list[i].Text)
	}
	return list
}

// News is one thing that happened in a run, told in a line of plain text.
type News struct {
	Tone  Tone
	State agent.TaskState // of a task, where Tone is ToneTask
	About string          // what it is about, set off from the text; may be empty
	Text  string
	// Step says that it is a step of the work: a log shows it, and a surface
	// that shows the plan with what each task does leaves it out.
	Step bool
}

// Tone is how a surface sets a line of news off.
type Tone string

// The tones.
const (
	TonePlain    Tone = ""
	ToneQuiet    Tone = "quiet"    // a further line about the one before, or a small thing
	ToneTask     Tone = "task"     // a task reached State
	TonePerson   Tone = "person"   // somebody said or decided it
	ToneNotice   Tone = "notice"   // people should look
	ToneProblem  Tone = "problem"  // it went wrong
	ToneDeclined Tone = "declined" // it is not done: denied, expired
)
