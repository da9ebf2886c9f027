package chat

// This file declares what a platform's test brings to the suite: how to
// connect, what its people can do and see, and what can go wrong on the way.

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Who is somebody on the platform.
type Who string

// The people of every platform.
const (
	Ann   Who = "ann"   // a full member, who asks
	Ben   Who = "ben"   // a full member, who approves
	Cleo  Who = "cleo"  // a full member, nobody in particular
	Gus   Who = "gus"   // a guest
	Eve   Who = "eve"   // of another workspace in a shared channel, or with rights that mean nothing to Deckhand
	Robot Who = "robot" // another bot
)

// Adapter is a platform under test.
type Adapter struct {
	// Server opens a platform of its own, which ends with the test.
	Server func(t *testing.T) Server
	// Open connects to the platform of the ticket, perhaps from another process.
	Open func(ctx context.Context, ticket string, w Wiring) (bot.Platform, error)
	// Sends reports whether a request posts a message or a file.
	Sends func(r *http.Request) bool
	// Lacks are the abilities that the platform does not have by its nature, or
	// by the way in that is under test, with the reason. What needs them is not
	// played.
	Lacks map[Ability]string
	// Plays chooses scenarios by name; nil: every one.
	Plays func(scenario string) bool
}

// Ability is something that not every platform has.
type Ability string

// The abilities.
const (
	// Listening: what people and other bots write to the bot reaches it, with
	// files, perhaps late or in another order, and can be read back after
	// downtime. Without it everything comes as a command, a click or a form that
	// somebody waits for: what is not acknowledged at once did not happen.
	Listening Ability = "listening"
	// Overhearing: what people write to each other can be read, too.
	Overhearing Ability = "overhearing"
)

// Wiring is what a connection is given.
type Wiring struct {
	Names  agent.Names
	Client *http.Client // makes every request of the Web API
	Log    *slog.Logger
	Robots []string // principals of bots that may speak
}

// Server is the other side of a platform: a server with people in it.
type Server interface {
	People
	Screen
	Faults
	Links
	Place
	// Ticket is how Adapter.Open reaches it.
	Ticket() string
	// Pass lets time pass: what is written from now on is stamped so much later.
	Pass(d time.Duration)
}

// Place is where people are, and what the platform makes of them.
type Place interface {
	// Channel is where Ann, Ben, Cleo, Gus, Eve, the robot and Deckhand are.
	Channel() bot.Address
	// Hidden is a place that Ann and Deckhand see, and nobody else: a private channel,
	// or a private thread of the channel.
	Hidden() bot.Address
	// Principal is who a person is to the desk.
	Principal(w Who) string
	// Crew are the principals of groups or roles that may start runs, where the
	// platform itself does not tell guests from members; none: it does.
	Crew() []string
	// Loud is text in the platform's own markup that notifies everybody, and
	// other people than Ann.
	Loud() string
	// Longest is how many characters a message to the bot may have.
	Longest() int
}

// Links are the connections over which the other side hands events over.
type Links interface {
	// Greet returns when so many are ready for events.
	Greet(ctx context.Context, connections int) error
	// Part returns when no more than so many are left.
	Part(ctx context.Context, connections int) error
}

// People is what people do. Texts are as people type them; "#general" is the
// channel, chosen from the list that opens after the sign.
type People interface {
	Controls

	// Mention speaks to the bot, in the channel or in a thread. Where nothing that
	// is written reaches the bot (see Listening), it gives the command that means
	// the same: a goal, a word of control, else steering.
	Mention(w Who, in bot.Address, text string, files ...File) bot.Address
	// Say speaks without a mention (where the platform hands over only what is
	// said to the bot: as a reply to it).
	Say(w Who, in bot.Address, text string, files ...File) bot.Address
	// Direct speaks to the bot alone.
	Direct(w Who, text string) bot.Address
	// Begin gives a goal to the bot alone, also where another run is at work in
	// that conversation.
	Begin(w Who, goal string)
}

// Controls are what people press, fill in and command by the platform's own means.
type Controls interface {
	// Click presses the button that has the label, perhaps after an emoji.
	Click(w Who, message bot.Address, label string) error
	// Rate clicks on good or bad under a report.
	Rate(w Who, message bot.Address, good bool) error
	// Fill sends the form that the person has before them, with values by the
	// fields' ids; what is not given keeps its value.
	Fill(w Who, values map[string]string) error
	// Retry sends the form with a value that cannot be taken. It returns what the
	// person reads about that, and what the form shows then by the fields' ids: it
	// is still open, or was opened again.
	Retry(w Who, values map[string]string) (said string, typed map[string]string, err error)
	// Press presses a button below the newest thing that only the person sees.
	Press(w Who, label string) error
	// Slash gives the command "/deckhand TEXT" in the channel. A command whose
	// options are shown as fields may become the form that the person has before
	// them.
	Slash(w Who, text string) error
	// Stop presses the platform's own stop button in a thread, or gives its own
	// command for that.
	Stop(w Who, thread bot.Address) error
}

// Screen is what can be seen.
type Screen interface {
	// Posts are the bot's messages everywhere, the oldest first, without those
	// that were deleted and without whispers.
	Posts() []Post
	// Whispers are what only the person saw, the oldest first. Where a platform
	// cannot answer a message to one person alone, they are its short replies to
	// that person.
	Whispers(w Who) []string
	// Form are the field ids of the form that the person has before them.
	Form(w Who) (fields []string, open bool)
	// Marks are the bot's reactions to a message. What came as a command has no
	// reactions: the words that it is answered with count as the mark.
	Marks(message bot.Address) []string
	// Works reports whether the thread says that the bot works in it, until the
	// bot says otherwise. Where that ends by itself it is never so.
	Works(thread bot.Address) bool
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
	// Unacknowledged lets the next n acknowledgements be lost: where events are
	// not acknowledged one by one, the connection with them; where nothing is
	// delivered again, nothing is lost.
	Unacknowledged(n int)
	// Hold keeps events back until Release gives them, perhaps the newest first.
	Hold()
	Release(reversed bool)
	// Drop cuts every connection without a word. From then on it counts no more.
	Drop()
	// Unruly lets answers be late and lost at random from now on.
	Unruly(seed uint64)
}

// Breaker is a Server whose places can go away.
type Breaker interface {
	// Delete removes the message that a thread began at, and with it the thread
	// where that is a place of its own.
	Delete(message bot.Address) error
	// Archive closes the channel for good.
	Archive()
	// Expel takes the bot out of the channel, and Readmit lets it in again.
	Expel()
	Readmit()
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

// Front is where a platform's signed deliveries arrive: it hands them to the
// replicas that listen, in turn, as a load balancer does.
type Front struct {
	server  *httptest.Server
	mu      sync.Mutex
	behind  []http.Handler
	turn    int
	changed chan struct{}
}

// OpenFront opens a front, which ends with the test.
func OpenFront(t *testing.T) *Front {
	t.Helper()
	f := &Front{changed: make(chan struct{})}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

// URL is where to deliver.
func (f *Front) URL() string { return f.server.URL }

// ServeHTTP answers 503 while nobody listens.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	var h http.Handler
	if n := len(f.behind); n > 0 {
		f.turn++
		h = f.behind[f.turn%n]
	}
	f.mu.Unlock()
	if h == nil {
		http.Error(w, "nobody listens", http.StatusServiceUnavailable)
		return
	}
	h.ServeHTTP(w, r)
}

// Add puts a replica behind the front.
func (f *Front) Add(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = append(f.behind, h)
	close(f.changed)
	f.changed = make(chan struct{})
}

// Remove takes a replica away.
func (f *Front) Remove(h http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, o := range f.behind {
		if o == h {
			f.behind = append(f.behind[:i:i], f.behind[i+1:]...)
			break
		}
	}
}

// Await returns when so many replicas listen.
func (f *Front) Await(ctx context.Context, n int) error {
	for {
		f.mu.Lock()
		have, changed := len(f.behind), f.changed
		f.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
