package adaptertest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Who is somebody on the far side.
type Who string

// The people of every far side.
const (
	Ann   Who = "ann"   // a full member, who asks
	Ben   Who = "ben"   // a full member, who approves
	Cleo  Who = "cleo"  // a full member, nobody in particular
	Gus   Who = "gus"   // a guest
	Eve   Who = "eve"   // of another workspace, in a shared channel
	Robot Who = "robot" // another bot
)

// Adapter is a platform under test.
type Adapter struct {
	// Far opens a far side of its own, which ends with the test.
	Far func(t *testing.T) Far
	// Open connects to the far side of the ticket, perhaps from another process.
	Open func(ctx context.Context, ticket string, w Wiring) (bot.Platform, error)
	// Sends reports whether a request posts a message or a file.
	Sends func(r *http.Request) bool
}

// Wiring is what a connection is given.
type Wiring struct {
	Names  Names
	Client *http.Client // makes every request of the Web API
	Log    *slog.Logger
	Robots []string // principals of bots that may speak
}

// Names is the part of a store that adapters use.
type Names interface {
	Value(ctx context.Context, name string) (string, error)
	Values(ctx context.Context, prefix string) (map[string]string, error)
	SetValue(ctx context.Context, name, value string) error
}

// Far is the other side of a platform: a server with people in it.
type Far interface {
	People
	Sight
	Faults
	// Ticket is how Adapter.Open reaches it.
	Ticket() string
	// Channel is where Ann, Ben, Cleo, Gus, Eve, the robot and Deckhand are.
	Channel() bot.Address
	// Principal is who a person is to the desk.
	Principal(w Who) string
	// Greet returns when so many connections are ready for events.
	Greet(ctx context.Context, connections int) error
}

// People is what people do. Texts are as people type them.
type People interface {
	// Mention speaks to the bot, in the channel or in a thread.
	Mention(w Who, in bot.Address, text string, files ...File) bot.Address
	// Say speaks without a mention (where the platform hands over only what is
	// said to the bot: as a reply to it).
	Say(w Who, in bot.Address, text string, files ...File) bot.Address
	// Direct speaks to the bot alone.
	Direct(w Who, text string) bot.Address
	// Click presses the button that has the label, perhaps after an emoji.
	Click(w Who, message bot.Address, label string) error
	// Rate clicks on good or bad under a report.
	Rate(w Who, message bot.Address, good bool) error
	// Fill sends the form that the person has before them, with values by the
	// fields' ids; what is not given keeps its value.
	Fill(w Who, values map[string]string) error
	// Slash gives the command "/deckhand TEXT" in the channel.
	Slash(w Who, text string) error
	// Stop presses the platform's own stop button in a thread.
	Stop(w Who, thread bot.Address) error
}

// Sight is what can be seen.
type Sight interface {
	// Posts are the bot's messages everywhere, the oldest first, without those
	// that were deleted.
	Posts() []Post
	// Whispers are what only the person saw, the oldest first.
	Whispers(w Who) []string
	// Form are the field ids of the form that the person has before them.
	Form(w Who) (fields []string, open bool)
	// Marks are the bot's reactions to a message.
	Marks(message bot.Address) []string
	// Owed is how many events were not acknowledged yet.
	Owed() int
	// Unknown are calls that the server does not know: always a defect.
	Unknown() []string
	// Wait returns when cond holds; it is asked after every change.
	Wait(ctx context.Context, cond func() bool) error
}

// Faults is what goes wrong on the way.
type Faults interface {
	// LoseAnswers lets the next n posts, and the next n uploads, happen without
	// an answer.
	LoseAnswers(n int)
	// LoseRequests lets the next n of them not happen, without an answer.
	LoseRequests(n int)
	// Busy refuses the next n posts and edits, to be tried again after that.
	Busy(n int, after time.Duration)
	// Double lets the next n events come twice.
	Double(n int)
	// Unacknowledged lets the next n acknowledgements be lost.
	Unacknowledged(n int)
	// Hold keeps events back until Release gives them, perhaps the newest first.
	Hold()
	Release(reversed bool)
	// Drop cuts every connection without a word.
	Drop()
	// Unruly lets answers be late and lost at random from now on.
	Unruly(seed uint64)
}

// Wrecker is a Far whose places can go away.
type Wrecker interface {
	// Delete removes a person's message, and with it the parent of a thread.
	Delete(message bot.Address) error
	// Archive closes the channel for good.
	Archive()
	// Expel takes the bot out of the channel.
	Expel()
}

// Post is a message of the bot as it stands now.
type Post struct {
	Message bot.Address
	Thread  bot.Address    // where it stands; without an id: at the top level
	Private bool           // in a direct conversation
	Key     string         // its identity as the platform keeps it; empty: none
	Kind    agent.PostKind // of the key
	Text    string         // everything that can be read
	Buttons []string       // labels
	Pings   []string       // principals whom it notified, and "everybody"
	Files   []File
	Edits   int
	At      time.Time
}

// File is a file with its content.
type File struct {
	Name string
	Data []byte
}
