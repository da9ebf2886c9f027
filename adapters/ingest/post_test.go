package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// scripted is a platform whose calls end as a script says.
type scripted struct {
	bot.Platform

	finds, posts []error // nil: found, posted
	calls        []string
}

func (s *scripted) Find(context.Context, bot.Address, bot.Key, time.Time) (bot.Posted, bool, error) {
	s.calls = append(s.calls, "find")
	err := s.finds[0]
	s.finds = s.finds[1:]
	if errors.Is(err, errAbsent) {
		return bot.Posted{}, false, nil
	}
	return bot.Posted{}, err == nil, err
}

func (s *scripted) Post(context.Context, bot.Address, bot.Card) (bot.Posted, error) {
	s.calls = append(s.calls, "post")
	err := s.posts[0]
	s.posts = s.posts[1:]
	return bot.Posted{}, err
}

var errAbsent = errors.New("the post is not there")

func TestPostOnce(t *testing.T) {
	t.Parallel()
	busy := &bot.BusyError{After: time.Minute}
	lost := fmt.Errorf("cut off: %w", bot.ErrLost)
	for name, c := range map[string]struct {
		again        bool
		finds, posts []error
		calls        []string
		took         time.Duration
		err          error
	}{
		"at once":              {false, nil, []error{nil}, []string{"post"}, 0, nil},
		"busy":                 {false, nil, []error{busy, nil}, []string{"post", "post"}, time.Minute, nil},
		"lost, and arrived":    {false, []error{nil}, []error{lost}, []string{"post", "find"}, time.Second, nil},
		"lost for good":        {false, []error{errAbsent}, []error{lost, nil}, []string{"post", "find", "post"}, time.Second, nil},
		"again, and was there": {true, []error{nil}, nil, []string{"find"}, 0, nil},
		"again, and was not":   {true, []error{errAbsent}, []error{nil}, []string{"find", "post"}, 0, nil},
		"cannot be looked for": {true, []error{busy, nil}, nil, []string{"find", "find"}, time.Minute, nil},
		"refused":              {false, nil, []error{io.EOF}, []string{"post"}, 0, io.EOF},
		"busy for long": {false, nil, []error{busy, busy, busy, busy, busy}, []string{"post", "post", "post", "post", "post"},
			5 * time.Minute, busy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &scripted{finds: c.finds, posts: c.posts}
				began := time.Now()
				err := PostOnce(t.Context(), p, bot.Inbound{}, c.again, bot.Card{}, time.Second)
				if !errors.Is(err, c.err) || !slices.Equal(p.calls, c.calls) || time.Since(began) != c.took {
					t.Errorf("%v after %s: %v", p.calls, time.Since(began), err)
				}
			})
		})
	}
}
