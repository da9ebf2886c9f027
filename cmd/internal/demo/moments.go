package demo

// This file prints every moment that a person can meet (bot/moments) as it
// looks on a platform: the real adapter draws and posts it on the local
// stand-in, whose people say and click what the moment says.

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/adapters/terminal"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/moments"
)

// Stage is where moments are shown.
type Stage interface {
	// Close ends it.
	Close()

	// world is who takes part there.
	world() moments.World
	// connect is the real adapter, connected to the stand-in.
	connect(ctx context.Context) (bot.Platform, error)
	// wait returns once cond holds.
	wait(ctx context.Context, cond func() bool) error
	// begin opens a thread for a moment.
	begin(t *theatre, name string)
	// show does a step and returns what is then seen of it.
	show(ctx context.Context, t *theatre, step moments.Step) (string, error)
}

// theatre is the adapter on its stand-in while moments are shown.
type theatre struct {
	platform bot.Platform
	thread   bot.Address
	posts    map[bot.Key]bot.Address
	newest   bot.Address // of the message whose buttons are pressed

	mu     sync.Mutex
	answer *bot.Answer               // for the next act that is meant
	meant  func(in bot.Inbound) bool // reports whether it is that one
}

// heard answers what somebody did as the moment says, once.
func (t *theatre) heard(_ context.Context, in bot.Inbound) (bot.Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answer == nil || !t.meant(in) {
		return bot.Answer{}, nil
	}
	a := *t.answer
	t.answer = nil
	return a, nil
}

// next is how the person's next act that is meant is answered: others may be
// heard late, and platforms tell of themselves.
func (t *theatre) next(by bot.Person, meant func(bot.Act) bool, a bot.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answer, t.meant = &a, func(in bot.Inbound) bool { return in.By.ID == by.ID && meant(in.Act) }
}

// kind reports whether an act is of the kind A.
func kind[A bot.Act](a bot.Act) bool {
	_, is := a.(A)
	return is
}

// words reports whether an act says the text.
func words(text string) func(bot.Act) bool {
	return func(a bot.Act) bool {
		said, is := a.(bot.Said)
		return is && said.Text == text
	}
}

// openingWords begin the thread of a moment.
const openingWords = "a thread"

// post posts a card, or edits the post of its key.
func (t *theatre) post(ctx context.Context, c bot.Card, edit bool) (message bot.Address, err error) {
	if at, posted := t.posts[c.Key]; edit && posted {
		return at, t.platform.Edit(ctx, at, c)
	}
	p, err := t.platform.Post(ctx, t.thread, c)
	if err != nil {
		return bot.Address{}, err
	}
	t.posts[c.Key], t.thread = p.Message, p.Thread
	if !edit {
		t.newest = p.Message
	}
	return p.Message, nil
}

// Moments writes every moment as it looks on the stage.
func Moments(ctx context.Context, w io.Writer, s Stage) error {
	return eachMoment(ctx, s, func(m moments.Moment, text string) error {
		_, err := fmt.Fprintf(w, "\n%s\n%s · %s\n%s\n\n%s", strings.Repeat("═", 72), m.Name, m.Title, strings.Repeat("═", 72), text)
		return err
	})
}

// eachMoment shows every moment and hands over what was seen.
func eachMoment(ctx context.Context, s Stage, each func(m moments.Moment, text string) error) error {
	list, err := moments.All(s.world()) //nolint:contextcheck // scenes are played without waiting for anything
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	t := &theatre{}
	if t.platform, err = s.connect(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	listening, stop := context.WithCancel(ctx)
	group.Go(func() error { return t.platform.Listen(listening, t.heard) })
	group.Go(func() error {
		defer stop()
		if err := s.wait(ctx, func() bool { return t.platform.Ready() == nil }); err != nil {
			return fmt.Errorf("no connection to the local stand-in: %w", err)
		}
		for _, m := range list {
			text, err := played(ctx, s, t, m)
			if err != nil {
				return fmt.Errorf("moment %s: %w", m.Name, err)
			}
			if err := each(m, text); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// played is a moment as it is seen.
func played(ctx context.Context, s Stage, t *theatre, m moments.Moment) (string, error) {
	t.posts = map[bot.Key]bot.Address{}
	s.begin(t, m.Name)
	var b strings.Builder
	for _, step := range m.Steps {
		text, err := s.show(ctx, t, step)
		if err != nil {
			return "", err
		}
		if text = strings.TrimLeft(unstamped.ReplaceAllString(text, "$1"), "\n"); text != "" {
			b.WriteString(text + "\n")
		}
	}
	return b.String(), nil
}

// unstamped takes the time away that stands before each name.
var unstamped = regexp.MustCompile(`(?m)^( *)\d\d:\d\d:\d\d  `)

// answersWithin bounds the wait for what an act is answered with.
const answersWithin = 10 * time.Second

// onceMore is what an edit begins with.
const onceMore = "(edited)\n"

// TerminalMoments writes every moment as a terminal prints it.
func TerminalMoments(w io.Writer) error {
	list, err := moments.All(moments.Terminal())
	if err != nil {
		return err
	}
	for _, m := range list {
		if _, err := fmt.Fprintf(w, "\n%s\n%s · %s\n%s\n\n%s", strings.Repeat("═", 72), m.Name, m.Title, strings.Repeat("═", 72), printed(m)); err != nil {
			return err
		}
	}
	return nil
}

// printed is a moment as a terminal prints it.
func printed(m moments.Moment) string {
	var b strings.Builder
	for _, step := range m.Steps {
		if told, is := step.(moments.Told); is {
			terminal.Play(&b, card.Telling{}, told.Events, told.After, told.Now)
		}
	}
	return strings.TrimLeft(b.String(), "\n")
}
