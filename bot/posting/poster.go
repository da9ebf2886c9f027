package posting

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// What a Poster is made of, and where a post goes.

// Paces hands out turns that all replicas share.
type Paces interface {
	Take(ctx context.Context, p agent.Pace) (wait time.Duration, err error)
}

// Residents says which run lives in a thread: agent.Names does.
type Residents interface {
	Value(ctx context.Context, name string) (string, error)
}

// Workspace is where runs keep their files. Paths are relative to the run's folder.
type Workspace interface {
	// Open opens a file for reading; none there: an error that is fs.ErrNotExist.
	Open(folder, path string) (content io.ReadCloser, size int64, err error)
	// Create makes a file of what fill writes. It is there once fill is done,
	// as a whole, and not at all if fill fails; a file that is there already is
	// fs.ErrExist, and fill may not have been called.
	Create(folder, path string, fill func(w io.Writer) error) error
}

// Config is what a Poster is made of.
type Config struct {
	Platforms   []bot.Platform
	Paces       Paces
	Residents   Residents
	Audience    authority.Audience
	Files       Workspace
	CardEvery   time.Duration // between two edits of one card, at least
	Heartbeat   time.Duration // between two edits while nothing changes but something executes
	PostTimeout time.Duration // of the request of a post
	Places      Places        // hears of places that take nothing; nil: nobody does
	Log         *slog.Logger
	// Redact takes secrets out of all that is posted; nil: nothing does.
	Redact func(text string) string
}

// Places hears of places that do not take what the bot posts or edits there,
// and of those that do again.
type Places interface {
	Away(ctx context.Context, at bot.Address, why error)
	Back(ctx context.Context, at bot.Address) error
}

// Poster shows runs to people: it makes the posts that a run's fold asks for,
// and keeps its card up to date.
type Poster struct {
	platforms bot.Platforms
	paces     Paces
	residents Residents
	audience  authority.Audience
	files     Workspace
	every     time.Duration
	heartbeat time.Duration
	timeout   time.Duration
	log       *slog.Logger
	began     time.Time
	outages   outages

	mu    sync.Mutex
	cards map[agent.RunID]*display
}

// New makes a Poster.
func New(c Config) *Poster {
	v := &Poster{paces: c.Paces, residents: c.Residents, audience: c.Audience, files: c.Files,
		every: c.CardEvery, heartbeat: c.Heartbeat, timeout: c.PostTimeout, log: c.Log, began: time.Now(), cards: map[agent.RunID]*display{}}
	v.outages.places, v.platforms.Redact = c.Places, c.Redact
	for _, p := range c.Platforms {
		v.Join(p)
	}
	return v
}

// Join adds a platform that got connected. Runs of a platform that is not (yet)
// are left alone for a while.
func (v *Poster) Join(p bot.Platform) { v.platforms.Join(p) }

// fileTimes is how many times longer than another post an upload may take. As
// long, a run waits for one whose answer was lost.
const fileTimes = 5

// sending is how long a post's requests may take together, its turns within the
// platform's limits counted in.
func (v *Poster) sending(p agent.Post) time.Duration {
	if p.Kind == agent.PostUpload {
		return fileTimes * v.timeout
	}
	return v.timeout
}

// settling is how long a platform may take to make a post whose sender has given
// up: a request that was sent at the last moment is looked for after that.
func (v *Poster) settling() time.Duration { return v.timeout / 2 }

// Deadline is how long after its intent a post stands where it was posted, or
// never will.
func (v *Poster) Deadline(p agent.Post) time.Duration { return v.sending(p) + v.settling() }

// elsewhere is how long a run is left to a process that is connected to its platform.
const elsewhere = 10 * time.Second

// connecting is how long a process that has begun may take to connect. Until
// then it keeps nobody's post for long: others may be connected already.
const connecting = 30 * time.Second

// connectWait is how long a post waits for a process that is connected.
func (v *Poster) connectWait() time.Duration {
	if len(v.platforms.Names()) == 0 && time.Since(v.began) < connecting {
		return lostPause
	}
	return elsewhere
}

// place is where a post of the run goes: its thread, for its card the place
// that the run answers in, for an edit the message.
func (v *Poster) place(r agent.Run, p agent.Post) (bot.Platform, bot.Address, error) {
	where := r.Thread()
	said, heard := p.HeardIn()
	switch {
	case p.To != "":
		where = p.To
	case p.Kind == agent.PostCard || where == "":
		where = r.Brief.ReplyTo
	case p.Kind == agent.PostClose && heard:
		where = r.Shown[agent.KeyHeard(said)].Message
	case p.Kind == agent.PostClose:
		where = r.Shown[agent.KeyAsk(agent.CheckpointID(p.About))].Message
	}
	return v.platformAt(where)
}

// placed is the place of a post, also of one that goes to a person alone.
func (v *Poster) placed(ctx context.Context, r agent.Run, p agent.Post) (bot.Platform, bot.Address, error) {
	if !p.Raises() {
		return v.place(r, p)
	}
	who := card.Informed(r, p)
	name, _, _ := strings.Cut(who, ":")
	platform := v.platforms.Named(name)
	if platform == nil {
		return nil, bot.Address{}, fmt.Errorf("%s: %w", who, errElsewhere)
	}
	director, can := platform.(bot.Director)
	if !can {
		return nil, bot.Address{}, fmt.Errorf("%s: %w", who, bot.ErrNoDirect)
	}
	to, err := director.Direct(ctx, who)
	return platform, to, err
}

// platformAt is the platform of an address.
func (v *Poster) platformAt(where string) (bot.Platform, bot.Address, error) {
	to, err := bot.ParseAddress(where)
	if err != nil {
		return nil, to, err
	}
	platform := v.platforms.Named(to.Platform)
	if platform == nil {
		return nil, to, fmt.Errorf("%s: %w", to, errElsewhere)
	}
	return platform, to, nil
}

// requesterOf is the address of the direct conversation with the requester.
func requesterOf(ctx context.Context, platform bot.Platform, r agent.Run) (bot.Address, error) {
	director, can := platform.(bot.Director)
	if !can || !strings.HasPrefix(r.Brief.Requester, platform.Name()+":") {
		return bot.Address{}, bot.ErrNoDirect
	}
	return director.Direct(ctx, r.Brief.Requester)
}

// shownBy is where a post went. A report takes no conversation over as its
// thread: another run may live in it.
func shownBy(p agent.Post, posted bot.Posted) agent.Shown {
	shown := shownAt(posted)
	if p.Kind == agent.PostScheduled && posted.Thread.ID == posted.Thread.Own() {
		shown.Thread = ""
	}
	return shown
}

func shownAt(p bot.Posted) agent.Shown {
	return agent.Shown{Message: p.Message.String(), Thread: p.Thread.String(), At: p.At}
}
