package slack

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// marks are how far the channels were read. A mark never passes a message that
// is still being written down or could not be.
type marks struct {
	mu       sync.Mutex
	channels map[string]*mark
	whole    bool // nothing is left to catch up
}

// mark is the state of one channel, in microseconds.
type mark struct {
	newest int64
	open   map[int64]int  // being written down
	failed map[int64]bool // could not be
	saved  int64
}

func (m *marks) open() { m.channels = map[string]*mark{} }

func (m *marks) of(channel string) *mark {
	c := m.channels[channel]
	if c == nil {
		c = &mark{open: map[int64]int{}, failed: map[int64]bool{}}
		m.channels[channel] = c
	}
	return c
}

// begin notes that a message arrived.
func (m *marks) begin(channel, ts string) {
	at := timeOf(ts)
	if channel == "" || at.IsZero() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(channel).open[at.UnixMicro()]++
}

// end notes that it is written down, or is not.
func (m *marks) end(channel, ts string, ok bool) {
	at := timeOf(ts)
	if channel == "" || at.IsZero() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, us := m.of(channel), at.UnixMicro()
	if c.open[us]--; c.open[us] <= 0 {
		delete(c.open, us)
	}
	if !ok {
		c.failed[us] = true
		return
	}
	delete(c.failed, us)
	c.newest = max(c.newest, us)
}

// caughtUp notes that everything of the channel up to a time was heard.
func (m *marks) caughtUp(channel string, upTo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.of(channel)
	c.newest = max(c.newest, upTo)
	maps.DeleteFunc(c.failed, func(us int64, _ bool) bool { return us <= upTo })
}

// unheard is the time right before the first message of the channel that could
// not be written down here, zero if there is none.
func (m *marks) unheard(channel string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.channels[channel]
	if c == nil || len(c.failed) == 0 {
		return time.Time{}
	}
	return time.UnixMicro(slices.Min(slices.Collect(maps.Keys(c.failed))) - 1).UTC()
}

// value is how far the channel is read for certain.
func (c *mark) value() int64 {
	v := c.newest
	for us := range c.open {
		v = min(v, us-1)
	}
	for us := range c.failed {
		v = min(v, us-1)
	}
	return max(v, 0)
}

func (m *marks) setWhole(whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.whole = whole
}

// sound reports whether everything that arrived was written down.
func (m *marks) sound() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.soundLocked()
}

func (m *marks) soundLocked() bool {
	if !m.whole {
		return false
	}
	for _, c := range m.channels {
		if len(c.failed) > 0 {
			return false
		}
	}
	return true
}

// changed are the marks that moved since they were saved, as timestamps.
func (m *marks) changed() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := map[string]string{}
	for channel, c := range m.channels {
		if v := c.value(); v > 0 && v != c.saved {
			c.saved = v
			list[channel] = stampOf(time.UnixMicro(v))
		}
	}
	return list
}

// unsaved marks a channel as not saved.
func (m *marks) unsaved(channel string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(channel).saved = 0
}

// seenName is the name under which a store keeps how far a channel was read,
// and without a channel, until when the bot was connected.
func (s *Slack) seenName(channel string) string {
	name := "seen/" + Platform + ":" + s.team
	if channel != "" {
		name += ":" + channel
	}
	return name
}

// keepMarks saves the marks every few seconds.
func (s *Slack) keepMarks(ctx context.Context) {
	for pass(ctx, s.in.times.save) {
		s.saveMarks(ctx, s.connected())
	}
}

// saveMarks writes down how far was read, and when all was well.
func (s *Slack) saveMarks(ctx context.Context, connected bool) {
	at := time.Now()
	for channel, ts := range s.in.marks.changed() {
		if err := s.cfg.Names.SetValue(ctx, s.seenName(channel), ts); err != nil {
			s.in.marks.unsaved(channel)
			s.in.quiet.warn(s.log, "how far a channel was read could not be saved", "error", err)
		}
	}
	if !connected || !s.in.marks.sound() {
		return
	}
	if err := s.cfg.Names.SetValue(ctx, s.seenName(""), stampOf(at)); err != nil {
		s.in.quiet.warn(s.log, "the time of the connection could not be saved", "error", err)
	}
}
