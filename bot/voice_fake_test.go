package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// stage is a platform that writes down what it is told to do. Errors are
// handed out in order, one a call.
type stage struct {
	mu        sync.Mutex
	name      string
	posts     []staged
	edits     []staged
	found     map[string]Posted // by place
	asked     []time.Time       // since, of searches
	uploads   []Upload
	status    []string
	fails     []error
	files     map[string]string
	direct    Address
	noDM      error
	ends      []time.Time // deadlines of the posts' contexts
	slow      time.Duration
	unfetched error
}

type staged struct {
	at   time.Time
	to   string
	card Card
}

var errNoReason = errors.New("invalid_blocks")

func (s *stage) fail() error {
	if len(s.fails) == 0 {
		return nil
	}
	err := s.fails[0]
	s.fails = s.fails[1:]
	return err
}

func (s *stage) Name() string                       { return s.name }
func (s *stage) Listen(context.Context, Hear) error { return nil }
func (s *stage) Ready() error                       { return nil }

func (s *stage) Post(ctx context.Context, to Address, c Card) (Posted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, _ := ctx.Deadline()
	s.ends = append(s.ends, end)
	if s.slow > 0 {
		select {
		case <-ctx.Done():
			return Posted{}, ctx.Err()
		case <-time.After(s.slow):
		}
	}
	if err := s.fail(); err != nil {
		return Posted{}, err
	}
	s.posts = append(s.posts, staged{time.Now(), to.String(), c})
	id := fmt.Sprintf("m%d", len(s.posts))
	thread := to
	if to.ID == "" {
		thread = to.At(id)
	}
	return Posted{Message: to.At(id), Thread: thread}, nil
}

func (s *stage) Find(_ context.Context, to Address, _ Key, since time.Time) (Posted, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, since)
	if err := s.fail(); err != nil {
		return Posted{}, false, err
	}
	p, found := s.found[to.String()]
	return p, found, nil
}

func (s *stage) Edit(_ context.Context, message Address, c Card) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail(); err != nil {
		return err
	}
	s.edits = append(s.edits, staged{time.Now(), message.String(), c})
	return nil
}

func (s *stage) Paces(to Address) (post, edit agent.Pace) {
	return agent.Pace{Name: "post/" + to.Place(), Every: time.Second, Burst: 1}, agent.Pace{Name: "edit/" + to.Workspace, Every: time.Second, Burst: 10}
}

func (s *stage) Direct(_ context.Context, principal string) (Address, error) {
	if s.noDM != nil {
		return Address{}, s.noDM
	}
	a := s.direct
	a.Channel += strings.TrimPrefix(principal, s.name+":")
	return a, nil
}

func (s *stage) Fetch(_ context.Context, f agent.Attachment, limit int64, w io.Writer) error {
	content, is := s.files[f.ID]
	if s.unfetched != nil {
		return s.unfetched
	}
	if !is {
		return ErrGone
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

func (s *stage) Upload(_ context.Context, to Address, f Upload) (Posted, error) {
	if err := s.fail(); err != nil {
		return Posted{}, err
	}
	content, err := io.ReadAll(f.Content)
	f.Content = bytes.NewReader(content)
	s.uploads = append(s.uploads, f)
	return Posted{Message: to.At("file"), Thread: to}, err
}

func (s *stage) FindUpload(_ context.Context, to Address, name string, _ time.Time) (Posted, bool, error) {
	p, found := s.found[to.String()+"/"+name]
	return p, found, s.fail()
}

func (s *stage) Largest() int64 { return 20 }

func (s *stage) Working(_ context.Context, thread Address, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = append(s.status, thread.ID+"="+text)
	return nil
}

// mute is a platform that can do nothing but post.
type mute struct{ Platform }

// turns hands out the waits in order and then no more.
type turns struct {
	mu    sync.Mutex
	waits []time.Duration
	taken []agent.Pace
	err   error
}

func (p *turns) Take(_ context.Context, pace agent.Pace) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, pace)
	if len(p.waits) == 0 || p.err != nil {
		return 0, p.err
	}
	wait := p.waits[0]
	p.waits = p.waits[1:]
	return wait, nil
}

// shelf is a workspace in memory.
type shelf map[string]string

func (s shelf) Open(folder, path string) (io.ReadCloser, int64, error) {
	content, is := s[folder+"/"+path]
	if !is {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
}

func (s shelf) Create(folder, path string, fill func(io.Writer) error) error {
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

// heard is a voice on a stage.
type heard struct {
	*Voice
	stage *stage
	turns *turns
	files shelf
	log   *bytes.Buffer
}

const (
	cardEvery   = 3 * time.Second
	heartbeat   = time.Minute
	postTimeout = 3 * time.Second
)

// stageApprovers are who decides in these tests.
var stageApprovers = Authority{Operators: []string{"slack:U7"}, Approvers: []string{"U5", "discord:6", "slack:S2"}}

func onStage(t *testing.T) *heard {
	t.Helper()
	h := &heard{stage: &stage{name: "slack", direct: Address{"slack", "T1", "D", ""}, found: map[string]Posted{}, files: map[string]string{}},
		turns: &turns{}, files: shelf{}, log: &bytes.Buffer{}}
	h.open(t, h.stage)
	return h
}

// open gives the voice other platforms.
func (h *heard) open(t *testing.T, platforms ...Platform) {
	t.Helper()
	h.Voice = NewVoice(VoiceConfig{Platforms: platforms, Paces: h.turns, Audience: stageApprovers.Audience, Files: h.files,
		CardEvery: cardEvery, Heartbeat: heartbeat, PostTimeout: postTimeout, Log: slog.New(slog.NewTextHandler(h.log, nil))})
}

// call is how the loop calls a post: with its deadline, and a context that ends there.
func (h *heard) call(t *testing.T, r agent.Run, p agent.Post) agent.Result {
	t.Helper()
	end := time.Now().Add(h.Deadline(p))
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	return h.Post(ctx, r, p, agent.Call{Deadline: end})
}
