package main

// The platform of the picture: it has one channel with Ann in it, keeps what is
// posted, and never fails.

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// platform is the name that addresses and principals of the stage begin with.
const platform = "slack"

// ann asks for the run.
var ann = bot.Person{ID: platform + ":U1", Name: "Ann", Full: true}

// general is the channel.
var general = bot.Address{Platform: platform, Workspace: "T1", Channel: "C1"}

// message is what stands in the thread: words of Ann's, a card, or a file.
type message struct {
	said  string
	seen  bool // marked as seen
	card  bot.Card
	file  string
	image []byte // of a PNG
	size  int64
}

// stage implements bot.Platform and bot.Filer.
type stage struct {
	mu      sync.Mutex
	thread  []message
	hear    bot.Hear
	changed chan struct{} // closed at the next change
}

func newStage() *stage { return &stage{changed: make(chan struct{})} }

// change changes the thread and tells those who wait.
func (s *stage) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until returns the thread once it is as wanted.
func (s *stage) until(ctx context.Context, wanted func(thread []message) bool) ([]message, error) {
	for {
		s.mu.Lock()
		thread, changed := slices.Clone(s.thread), s.changed
		s.mu.Unlock()
		if wanted(thread) {
			return thread, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, errors.New("the thread did not come to its end")
		}
	}
}

// Name implements bot.Platform.
func (s *stage) Name() string { return platform }

// Listen implements bot.Platform: it hands out the way in.
func (s *stage) Listen(ctx context.Context, hear bot.Hear) error {
	s.change(func() { s.hear = hear })
	<-ctx.Done()
	return nil
}

// Ready implements bot.Platform.
func (s *stage) Ready() error { return nil }

func (s *stage) add(m message) (p bot.Posted) {
	s.change(func() {
		s.thread = append(s.thread, m)
		p = bot.Posted{Message: general.At(strconv.Itoa(len(s.thread))), Thread: general.At("1")}
	})
	return p
}

// Post implements bot.Platform.
func (s *stage) Post(_ context.Context, _ bot.Address, c bot.Card) (bot.Posted, error) {
	return s.add(message{card: c}), nil
}

// Find implements bot.Platform: no answer is ever lost here.
func (s *stage) Find(context.Context, bot.Address, bot.Key, time.Time) (bot.Posted, bool, error) {
	return bot.Posted{}, false, nil
}

// Edit implements bot.Platform.
func (s *stage) Edit(_ context.Context, at bot.Address, c bot.Card) error {
	n, err := strconv.Atoi(at.ID)
	if err != nil {
		return bot.ErrGone
	}
	s.change(func() { s.thread[n-1].card = c })
	return nil
}

// Paces implements bot.Platform: nobody waits.
func (s *stage) Paces(bot.Address) (post, edit agent.Pace) {
	return agent.Pace{Name: "post", Every: time.Microsecond, Burst: 1000}, agent.Pace{Name: "edit", Every: time.Microsecond, Burst: 1000}
}

// Fetch implements bot.Filer: nobody attaches anything.
func (s *stage) Fetch(context.Context, agent.Attachment, int64, io.Writer) error { return bot.ErrGone }

// Upload implements bot.Filer.
func (s *stage) Upload(_ context.Context, _ bot.Address, f bot.Upload) (bot.Posted, error) {
	content, err := io.ReadAll(f.Content)
	if err != nil {
		return bot.Posted{}, err
	}
	return s.add(message{file: f.Name, size: f.Size, image: content}), nil
}

// FindUpload implements bot.Filer.
func (s *stage) FindUpload(context.Context, bot.Address, string, time.Time) (bot.Posted, bool, error) {
	return bot.Posted{}, false, nil
}

// Largest implements bot.Filer, in bytes.
func (s *stage) Largest() int64 { return 1 << 20 }
