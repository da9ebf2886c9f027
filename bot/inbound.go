package bot

import (
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Terminal is the principal of whoever has the store itself in hand: the
// person at the command line. It may do everything but review, unless it is
// named for that.
const Terminal = "terminal"

// ErrNotAnAnswer is wrapped by the error about words that decide nothing.
var ErrNotAnAnswer = errors.New("not an answer")

// Principals are the person's principal and those of their groups and roles.
func (p Person) Principals() []string { return append([]string{p.ID}, p.Also...) }

// AtTerminal is the person at the command line.
func (p Person) AtTerminal() bool { return p.ID == Terminal }

// Inbound is one thing that a person did on a platform.
type Inbound struct {
	// Keys identify it for deduplication: the event's id, and for a message its
	// (workspace, channel, id), since one message may come as two events.
	Keys []string
	// At is the platform's stamp.
	At time.Time
	By Person
	// Where is the thread that it happened in; without an id it happened at the
	// channel's top level.
	Where Address
	// Begins says that the thread begins with this event and not at Message:
	// at the answer to a command.
	Begins bool
	// Message is what a mark (a reaction) goes to; zero: there is none.
	Message Address
	// Edited says that the words are those of a message as it was changed: they
	// decide nothing, as others may have read it as it was.
	Edited bool
	// Missed is set for what was caught up after downtime.
	Missed bool
	// InVain is why it could not be taken in, however often that was tried: it is
	// answered in words, and nothing else comes of it. Nil: it is taken in.
	InVain error
	// Channels are the channels that the text names, by the words that stand
	// for them there ("#general"), nil if there are none.
	Channels map[string]Address
	Act      Act
}

// Person is who did something.
type Person struct {
	ID   string   // principal: "slack:U1"
	Also []string // principals of groups and roles: "slack:S1", "discord:&5"
	Name string   // as people see it
	// Full is set for full members of the workspace; guests and people of
	// connected workspaces are not.
	Full bool
	Bot  bool
	Zone string // IANA name of the person's time zone, empty where it is not known
}

// Act is what a person did. The set is closed.
//
//sumtype:decl
type Act interface{ act() }

// Correction begins the text of a message that somebody edited.
const Correction = "Correction of an earlier message: "

// Said is a message. To says that it speaks to the bot: a mention, a reply to
// it, a direct conversation. The mention itself is not part of Text.
type Said struct {
	Text   string             `json:"Text"`
	To     bool               `json:"To"`
	Direct bool               `json:"Direct"` // in a direct conversation with the bot
	Files  []agent.Attachment `json:"Files"`
	// Quote is set where the text is somebody else's message that the person
	// made a goal: its author's principal.
	Quote string `json:"Quote"`
	// Viewing are the channels and messages that the person had open beside the
	// direct conversation, the most relevant first, as far as the platform shares
	// that: other people's words, which only this person is known to see.
	Viewing []Address `json:"Viewing"`
}

// Commanded is a command of the platform's own kind: "/deckhand TEXT".
type Commanded struct {
	Text   string `json:"Text"`
	Direct bool   `json:"Direct"` // in a direct conversation with the bot
	// Quote is set where the command is about somebody's message: its author's
	// principal. The text of the message stands behind the command's word.
	Quote string `json:"Quote,omitempty"`
	// Only says that commands are all that the platform brings: words to a run are
	// read as a message's would be.
	Only bool `json:"Only,omitempty"`
}

// Pressed is a click on a button of a card.
type Pressed struct{ Button Button }

// Filled is a form that was sent in. Values are by field.
type Filled struct {
	Form   string // the form's id
	Values map[string]string
	Direct bool // in a direct conversation with the bot
}

// Stopped is the platform's own stop button in a thread.
type Stopped struct{}

// Visited is a look at the bot's own page.
type Visited struct{}

// Opened is a look at the direct conversation with the bot, perhaps with a
// channel beside it. Viewing is that channel; zero: none is known.
type Opened struct{ Viewing Address }

// PlaceBack says that the bot may post at Where again, as far as the platform
// tells: it was let in, given a right, a channel was opened again. Where may
// name a workspace alone. Nobody is By.
type PlaceBack struct{}

// PlaceGone says that Where was deleted, or where it is set Message, which stood
// there. Nobody is By.
type PlaceGone struct{}

// Unsaid is the deletion of Inbound.Message. Who said it may not be known, nor who
// deleted it.
type Unsaid struct{}

func (Said) act()      {}
func (Unsaid) act()    {}
func (Commanded) act() {}
func (Pressed) act()   {}
func (Filled) act()    {}
func (Stopped) act()   {}
func (Visited) act()   {}
func (Opened) act()    {}
func (PlaceBack) act() {}
func (PlaceGone) act() {}

// Mark is a reaction to a person's message.
type Mark string

// The marks. They are a contract: nothing else is used.
const (
	MarkSeen  Mark = "eyes"
	MarkNoted Mark = "memo"
)

// Answer is what the platform does at once, after the event was written down.
// Everything else is posted by the run itself (bot/posting).
type Answer struct {
	Mark Mark // on Inbound.Message
	// Private is shown to the person alone (Markdown), in the thread if there is one.
	Private string
	// Confidential says that Private is for nobody else's eyes: where the platform
	// cannot show it to the person alone in place, it goes to their direct
	// conversation.
	Confidential bool
	// Buttons are shown below Private; nil: none.
	Buttons *Buttons
	// Instead replaces the bot's message whose button was pressed, also one that
	// only the person saw.
	Instead *Card
	// Public is posted to Where, once; its key is set.
	Public *Card
	// Form is opened for the person. Where a form was sent in with a value that
	// cannot be taken, it is that form once more, with what was typed and what is
	// wrong (Field.Problem): the platform keeps the person's form open, or, where
	// it cannot, shows Private with Buttons, which open it again.
	Form *Form
	// Home is shown on the bot's own page.
	Home *Card
	// Prompts are offered where the person is about to write; nil: nothing is
	// said about them.
	Prompts *Prompts
	// Run is the run that the event belongs to, if any, and Started says that
	// the event began it.
	Run     agent.RunID
	Started bool
}

// maxPrompts is how many prompts a platform shows.
const maxPrompts = 4

// Prompts are messages that a person may send by one click.
type Prompts struct {
	Title string // plain text
	List  []Prompt
}

// Prompt is one of them.
type Prompt struct {
	Title string // plain text, a few words
	Text  string // the message
}

// Shown are the prompts that there is room for.
func (p Prompts) Shown() []Prompt { return p.List[:min(len(p.List), maxPrompts)] }

// Form asks a person for more than a click can say.
type Form struct {
	ID     string // opaque: it comes back with Filled
	Title  string // at most 24 characters
	Submit string
	Intro  string // Markdown, may be empty
	Fields []Field
}

// FieldKind is what a field takes.
type FieldKind string

// The kinds of fields.
const (
	FieldText   FieldKind = "text"   // one line
	FieldLong   FieldKind = "long"   // many lines
	FieldChoice FieldKind = "choice" // one of Choices
	FieldPeople FieldKind = "people" // principals, separated by spaces
)

// Field is one field of a form.
type Field struct {
	ID       string
	Label    string
	Hint     string
	Kind     FieldKind
	Value    string // what it shows at first
	Problem  string // why that value cannot be taken, plain text; empty: nothing is wrong
	Choices  []string
	Optional bool
	Max      int // characters, 0: the platform's own limit
}
