package moments

import (
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Moment is something that a person meets.
type Moment struct {
	Name  string // of its golden file: "approval-write"
	Title string // what happens, in a line
	Goal  string // of the run that it is about
	Steps []Step
}

// Step is one thing that is done or seen. The set is closed.
//
//sumtype:decl
type Step interface{ step() }

// Posted is a new message in the thread. Known says that another moment shows
// it: it only has to be there.
type Posted struct {
	Card  bot.Card
	Known bool
}

// Edited is a message as it was changed: the post of the same key.
type Edited struct{ Card bot.Card }

// Said is what somebody wrote, and how it was answered. Aloud says that it
// stood in the channel or thread without speaking to the bot.
type Said struct {
	By     bot.Person
	Text   string
	Aloud  bool
	Answer bot.Answer
}

// Pressed is a click on a button of a message in the thread.
type Pressed struct {
	By     bot.Person
	Label  string
	Answer bot.Answer
}

// Filled is the form that a click opened, sent in. Values are by field.
type Filled struct {
	By     bot.Person
	Values map[string]string
	Answer bot.Answer
}

// Visited is a look at the bot's own page.
type Visited struct {
	By     bot.Person
	Answer bot.Answer
}

// Told is what a terminal prints of a journal: the events after the entry, and
// the question that is open then.
type Told struct {
	Events []agent.Event
	After  uint64
	Now    time.Time
}

func (Posted) step()  {}
func (Edited) step()  {}
func (Said) step()    {}
func (Pressed) step() {}
func (Filled) step()  {}
func (Visited) step() {}
func (Told) step()    {}

// entry is a moment of the list.
type entry struct {
	name, title string
	play        func(s *scene)
}

// All plays every moment in a world, in the order of a run's life. A moment
// that the world has no place for is left out.
func All(w World) ([]Moment, error) {
	var list []Moment
	for _, e := range slices.Concat(starting(), working(), asking(), ending(), answering(), recurringGoals(), troubles()) {
		m, err := played(w, e)
		if err != nil {
			return nil, err
		}
		if len(m.Steps) > 0 {
			list = append(list, m)
		}
	}
	return list, nil
}
