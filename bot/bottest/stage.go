package bottest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Stage is a platform that writes down what it is told to do. Errors are
// handed out in order, one a call.
type Stage struct {
	mu        sync.Mutex
	ID        string
	Posts     []Staged
	Edits     []Staged
	Found     map[string]bot.Posted // by place
	Asked     []time.Time           // since, of searches
	Uploads   []bot.Upload
	Status    []string      // sessions as they were shown
	Unshown   []error       // of the next sessions
	Fades     time.Duration // of a session that works
	Fails     []error
	Files     map[string]string
	DM        bot.Address
	NoDM      error
	Ends      []time.Time // deadlines of the posts' contexts
	Slow      time.Duration
	Unfetched error
}

// Staged is a message that was posted or edited.
type Staged struct {
	at   time.Time
	To   string
	Card bot.Card
}

// ErrNoReason is a refusal that no other attempt would change.
var ErrNoReason = errors.New("invalid_blocks")

func (s *Stage) fail() error {
	if len(s.Fails) == 0 {
		return nil
	}
	err := s.Fails[0]
	s.Fails = s.Fails[1:]
	return err
}

// Name is the ID.
func (s *Stage) Name() string { return s.ID }

// Listen hears nothing.
func (s *Stage) Listen(context.Context, bot.Hear) error { return nil }

// Ready is always nil.
func (s *Stage) Ready() error { return nil }

// Post keeps the card.
func (s *Stage) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, _ := ctx.Deadline()
	s.Ends = append(s.Ends, end)
	if s.Slow > 0 {
		select {
		case <-ctx.Done():
			return bot.Posted{}, ctx.Err()
		case <-time.After(s.Slow):
		}
	}
	if err := s.fail(); err != nil {
		return bot.Posted{}, err
	}
	s.Posts = append(s.Posts, Staged{time.Now(), to.String(), c})
	id := fmt.Sprintf("m%d", len(s.Posts))
	thread := to
	if to.ID == "" {
		thread = to.At(id)
	}
	return bot.Posted{Message: to.At(id), Thread: thread}, nil
}

// Find finds what the test has put there.
func (s *Stage) Find(_ context.Context, to bot.Address, _ bot.Key, since time.Time) (bot.Posted, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Asked = append(s.Asked, since)
	if err := s.fail(); err != nil {
		return bot.Posted{}, false, err
	}
	p, found := s.Found[to.String()]
	return p, found, nil
}

// Edit keeps the card.
func (s *Stage) Edit(_ context.Context, message bot.Address, c bot.Card) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail(); err != nil {
		return err
	}
	s.Edits = append(s.Edits, Staged{time.Now(), message.String(), c})
	return nil
}

// Paces are one post and ten edits a second.
func (s *Stage) Paces(to bot.Address) (post, edit agent.Pace) {
	return agent.Pace{Name: "post/" + to.Place(), Every: time.Second, Burst: 1}, agent.Pace{Name: "edit/" + to.Workspace, Every: time.Second, Burst: 10}
}

// Direct is the DM address with the id behind its channel.
func (s *Stage) Direct(_ context.Context, principal string) (bot.Address, error) {
	if s.NoDM != nil {
		return bot.Address{}, s.NoDM
	}
	a := s.DM
	a.Channel += strings.TrimPrefix(principal, s.ID+":")
	return a, nil
}

// Fetch writes the file in two pieces, as networks do.
func (s *Stage) Fetch(_ context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	content, is := s.Files[f.ID]
	if s.Unfetched != nil {
		return s.Unfetched
	}
	if !is {
		return bot.ErrGone
	}
	if int64(len(content)) > limit {
		return errors.New("too large")
	}
	for half := range 2 { // in pieces, as networks do
		n := len(content) / 2
		if _, err := io.WriteString(w, []string{content[:n], content[n:]}[half]); err != nil {
			return err
		}
	}
	return nil
}

// Upload keeps the file.
func (s *Stage) Upload(_ context.Context, to bot.Address, f bot.Upload) (bot.Posted, error) {
	if err := s.fail(); err != nil {
		return bot.Posted{}, err
	}
	content, err := io.ReadAll(f.Content)
	f.Content = bytes.NewReader(content)
	s.Uploads = append(s.Uploads, f)
	return bot.Posted{Message: to.At("file"), Thread: to}, err
}

// FindUpload finds what the test has put there.
func (s *Stage) FindUpload(_ context.Context, to bot.Address, name string, _ time.Time) (bot.Posted, bool, error) {
	p, found := s.Found[to.String()+"/"+name]
	return p, found, s.fail()
}

// Largest is 20 bytes.
func (s *Stage) Largest() int64 { return 20 }

// ShowSession keeps the session, unless the test has it fail.
func (s *Stage) ShowSession(_ context.Context, thread bot.Address, shown, before bot.Session) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := thread.ID + "=" + string(shown.Status)
	if shown.Title != before.Title {
		line += " " + shown.Title
	}
	s.Status = append(s.Status, line)
	if len(s.Unshown) > 0 {
		err := s.Unshown[0]
		s.Unshown = s.Unshown[1:]
		return 0, err
	}
	if shown.Status != bot.SessionWorking {
		return 0, nil
	}
	return s.Fades, nil
}

// Mute is a platform that can do nothing but post.
type Mute struct{ bot.Platform }

// Paces hands out the waits in order and then no more.
type Paces struct {
	mu    sync.Mutex
	Waits []time.Duration
	Taken []agent.Pace
	Err   error
}

// Take hands out the next wait.
func (p *Paces) Take(_ context.Context, pace agent.Pace) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Taken = append(p.Taken, pace)
	if len(p.Waits) == 0 || p.Err != nil {
		return 0, p.Err
	}
	wait := p.Waits[0]
	p.Waits = p.Waits[1:]
	return wait, nil
}

// Shelf is a workspace in memory.
type Shelf map[string]string

// Open reads a file.
func (s Shelf) Open(folder, path string) (io.ReadCloser, int64, error) {
	content, is := s[folder+"/"+path]
	if !is {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

// Create makes a file.
func (s Shelf) Create(folder, path string, fill func(io.Writer) error) error {
	if _, is := s[folder+"/"+path]; is {
		return fs.ErrExist
	}
	var b strings.Builder
	if err := fill(&b); err != nil {
		return err
	}
	s[folder+"/"+path] = b.String()
	return nil
}

// Persons is a stage where groups cannot be talked to.
type Persons struct{ *Stage }

// Direct refuses groups.
func (p *Persons) Direct(ctx context.Context, who string) (bot.Address, error) {
	if strings.HasPrefix(who, "slack:S") {
		return bot.Address{}, fmt.Errorf("%s is no person: %w", who, bot.ErrGone)
	}
	return p.Stage.Direct(ctx, who)
}
