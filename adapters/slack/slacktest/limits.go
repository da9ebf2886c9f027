package slacktest

import (
	"maps"
	"math"
	"time"
)

// bucket is a leaky bucket: so many at once, then one each so often.
type bucket struct {
	tokens float64
	at     time.Time
}

// take takes one, or says how long to wait.
func (b *bucket) take(now time.Time, burst int, every time.Duration) time.Duration {
	if b.at.IsZero() {
		b.tokens = float64(burst)
	} else {
		b.tokens = min(float64(burst), b.tokens+float64(now.Sub(b.at))/float64(every))
	}
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return 0
	}
	return time.Duration((1 - b.tokens) * float64(every))
}

// limit says how long the call has to wait; the lock is held.
func (s *Server) limit(name string, m method, c *call) time.Duration {
	if s.limits.Off {
		return 0
	}
	now := time.Now()
	if name == "chat.postMessage" {
		return s.bucket(name+" "+c.str("channel")).take(now, s.limits.PostBurst, s.limits.PostEvery)
	}
	perMinute := m.perMinute
	if n, ok := s.limits.PerMinute[name]; ok {
		perMinute = n
	}
	if perMinute == 0 {
		return 0
	}
	return s.bucket(name).take(now, perMinute, time.Minute/time.Duration(perMinute))
}

func (s *Server) bucket(key string) *bucket {
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	return b
}

// SetLimits changes the rate limits and empties what was counted.
func (s *Server) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l.withDefaults()
	s.buckets = map[string]*bucket{}
}

// Limited is how often each method was answered 429.
func (s *Server) Limited() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.limited)
}

func retryAfter(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
