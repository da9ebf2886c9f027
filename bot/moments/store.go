package moments

// This file holds the store behind a scene: journals and names in memory, with
// a clock that stands still until the scene moves it.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// noon is when every scene begins.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// store is the journals and names of one scene, which has one goroutine.
type store struct {
	now      time.Time
	journals map[agent.RunID][]agent.Event
	order    []agent.RunID
	once     map[string]bool
	names    map[string]string
	down     error // what reading a journal says, where one is damaged
}

func newStore() *store {
	return &store{now: noon, journals: map[agent.RunID][]agent.Event{}, once: map[string]bool{}, names: map[string]string{}}
}

// Commit implements runs.Journals.
func (s *store) Commit(_ context.Context, c agent.Commit) (agent.Receipt, error) {
	for _, key := range c.Once {
		if s.once[key] {
			return agent.Receipt{}, agent.ErrSeen
		}
	}
	for _, key := range c.Once {
		s.once[key] = true
	}
	for name, value := range c.Set {
		s.set(name, value)
	}
	j, known := s.journals[c.Run]
	for _, e := range c.Events {
		e.Run, e.Seq, e.At = c.Run, uint64(len(j))+1, s.now
		j = append(j, e)
	}
	if len(c.Events) > 0 {
		s.journals[c.Run] = j
		if !known {
			s.order = append(s.order, c.Run)
		}
	}
	return agent.Receipt{Seq: uint64(len(j)), At: s.now}, nil
}

// Read implements runs.Journals.
func (s *store) Read(_ context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	j, known := s.journals[run]
	switch {
	case !known:
		return nil, agent.ErrNoRun
	case s.down != nil:
		return nil, &agent.EntryError{Run: run, Seq: 7, Err: s.down}
	}
	return slices.Clone(j[min(after, uint64(len(j))):]), nil
}

// Runs implements runs.Journals.
func (s *store) Runs(_ context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	var list []agent.RunInfo
	for _, run := range slices.Backward(s.order) {
		j := s.journals[run]
		info := agent.RunInfo{Run: run, Length: uint64(len(j)), Started: j[0].At}
		for _, e := range j {
			if _, ended := e.Body.(agent.RunEnded); ended {
				info.Ended = e.At
			}
		}
		if f.Holds(info) && (f.Most == 0 || len(list) < f.Most) {
			list = append(list, info)
		}
	}
	return list, nil
}

// CountRuns implements runs.Journals.
func (s *store) CountRuns(ctx context.Context, f agent.RunFilter) (int, error) {
	f.Most = 0
	list, err := s.Runs(ctx, f)
	return len(list), err
}

// errAwait says that a scene has nothing to wait for.
var errAwait = errors.New("a scene stands still")

// Await implements runs.Journals.
func (s *store) Await(context.Context, agent.RunID, uint64) error { return errAwait }

// NewRun implements runs.Journals: ids are the same in every play.
func (s *store) NewRun(string) agent.RunID {
	return agent.RunID(fmt.Sprintf("moment%c%s", 'a'+len(s.order), "aaaaaaaaa"))
}

// Now implements bot.Records.
func (s *store) Now(context.Context) (time.Time, error) { return s.now, nil }

// Value implements bot.Records.
func (s *store) Value(_ context.Context, name string) (string, error) { return s.names[name], nil }

// Values implements bot.Records.
func (s *store) Values(_ context.Context, prefix string) (map[string]string, error) {
	found := maps.Clone(s.names)
	maps.DeleteFunc(found, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return found, nil
}

// SetValue implements bot.Records.
func (s *store) SetValue(_ context.Context, name, value string) error {
	s.set(name, value)
	return nil
}

func (s *store) set(name, value string) {
	if value == "" {
		delete(s.names, name)
		return
	}
	s.names[name] = value
}

// Spent implements bot.Records: everybody spent the same.
func (s *store) Spent(context.Context, string) (int64, error) {
	return int64(agent.Dollar * 12 / 10), nil
}
