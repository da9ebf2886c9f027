package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Platform is one chat platform, connected to one bot account. Everything may
// be called from many goroutines.
type Platform interface {
	// Name is the first part of the platform's addresses: "slack", "discord".
	Name() string
	// Listen connects and gives hear every event that concerns the bot: what
	// is said in one thread in its order, an event of the platform possibly
	// twice. An event is acknowledged once hear has returned without an error,
	// in under a second. Listen returns nil when ctx ends; it retries broken
	// connections itself, and returns an error only for what a retry cannot
	// mend at the start (a refused token).
	Listen(ctx context.Context, hear Hear) error
	// Ready is nil while the platform is connected, else it says why not.
	Ready() error
	// Post makes one message, marked with the card's key so that Find finds it.
	// An address without a thread opens one: Posted says which. Post stops
	// sending before ctx's deadline.
	Post(ctx context.Context, to Address, c Card) (Posted, error)
	// Find looks for a post of the key that was made after the time (or a
	// little before, clocks differ).
	Find(ctx context.Context, to Address, key Key, since time.Time) (p Posted, found bool, err error)
	// Edit replaces what a message shows. Equal content is no error.
	Edit(ctx context.Context, message Address, c Card) error
	// Paces are how often one may post to the address, and edit messages of
	// its workspace. Both are shared by all replicas.
	Paces(to Address) (post, edit agent.Pace)
}

// Hear takes in one event. An error means that it is not written down: the
// platform shall deliver it again.
type Hear func(ctx context.Context, in Inbound) (Answer, error)

// Posted is where a post went: the message, and the thread that it is in or opened.
type Posted struct {
	Message Address
	Thread  Address
	// At is the platform's stamp of the message: words that are stamped before it
	// were not said to it. Without one no typed word decides a question.
	At time.Time
}

// Key is the identity of a post. It is sent with the post and read back by Find.
type Key struct {
	Run  agent.RunID
	Name string // unique within the run
	Kind agent.PostKind
}

// The errors of a platform, as far as it matters what happened. Any other error
// means: refused for good, nothing was posted.
var (
	// ErrGone says that the place is certainly no more: deleted, or never one in
	// which the bot could post.
	ErrGone = errors.New("the channel, thread or message is gone")
	// ErrBarred says that the bot may not post there now, and may be let in again:
	// not a member, no right to, archived, locked. Nothing was posted.
	ErrBarred = errors.New("the bot may not post there now")
	// ErrLost says that the answer did not arrive: it may have happened or may yet happen.
	ErrLost = errors.New("no answer: it may have happened")
	// ErrRefused says that the platform refuses the bot itself: token, scope, permission.
	ErrRefused = errors.New("the platform refuses the bot")
)

// BusyError says that nothing happened and when to try again.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string { return fmt.Sprintf("the platform is busy: again in %s", e.After) }

// Director is a Platform that can talk to one person alone.
type Director interface {
	// Direct is the address of the direct conversation with a principal.
	Direct(ctx context.Context, principal string) (Address, error)
}

// Historian is a Platform whose threads can be read.
type Historian interface {
	// History is what was said in the thread, the oldest first, at most limit
	// messages (the first one and the newest), without the bot's own.
	History(ctx context.Context, thread Address, limit int) ([]Line, error)
}

// Line is one message of somebody in a thread.
type Line struct {
	By   string // principal
	Name string // as people see it
	At   time.Time
	Text string
}

// Filer is a Platform that takes and gives files.
type Filer interface {
	// Fetch writes an attached file's content, at most limit bytes.
	Fetch(ctx context.Context, f agent.Attachment, limit int64, w io.Writer) error
	// Upload posts a file to the thread.
	Upload(ctx context.Context, to Address, f Upload) (Posted, error)
	// FindUpload looks for an upload of the name to the thread since the time.
	FindUpload(ctx context.Context, to Address, name string, since time.Time) (p Posted, found bool, err error)
	// Largest is the size of the largest file that can be uploaded, in bytes.
	Largest() int64
}

// Upload is a file on its way to a thread.
type Upload struct {
	Name    string // with its extension
	Title   string
	Size    int64
	Content io.Reader
}

// Namer is a Platform that knows people by name.
type Namer interface {
	// NameOf is how people see a principal of the platform, empty where that is
	// not known. It answers from what it remembers, or within ctx.
	NameOf(ctx context.Context, principal string) string
}

// Describer is a Platform whose channels say what they are for.
type Describer interface {
	// Describe is a channel's name and its topic or purpose, of a channel that the
	// bot may see.
	Describe(ctx context.Context, channel Address) (name, about string, err error)
}

// Membership is a Platform that knows who is in a channel.
type Membership interface {
	// Member reports whether a principal may read what is said in the channel now.
	// The answer is at most a minute old; an error says that nobody can tell.
	Member(ctx context.Context, principal string, channel Address) (bool, error)
}

// Linker is a Platform whose messages have addresses for browsers.
type Linker interface {
	Link(message Address) string // empty: none
}

// ErrNoDirect says that the requester cannot be talked to alone.
var ErrNoDirect = errors.New("the requester cannot be reached directly either")
