package discordtest

import (
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"time"
)

// bucket is a window with so many calls in it.
type bucket struct {
	until time.Time
	used  int
}

// take takes one of n calls, or says how long to wait.
func (b *bucket) take(now time.Time, rate Rate) time.Duration {
	if !now.Before(b.until) {
		b.until, b.used = now.Add(rate.Per), 0
	}
	if b.used >= rate.N {
		return b.until.Sub(now)
	}
	b.used++
	return 0
}

// limit refuses a call that comes too soon and sets the headers that say how
// soon the next may come; the lock is held.
func (s *Server) limit(h http.Header, rt route, c *call) error {
	if s.limits.Off {
		return nil
	}
	now := time.Now()
	if !rt.open {
		if wait := s.bucket("global").take(now, Rate{s.limits.Global, time.Second}); wait > 0 {
			return tooMany(wait, true)
		}
	}
	rate := rt.rate
	if own, ok := s.limits.Routes[rt.name]; ok {
		rate = own
	}
	if rate.N == 0 {
		return nil
	}
	major := c.path("guild") + "/" + c.path("channel") + "/" + c.path("token")
	b := s.bucket(rt.name + " " + major)
	wait := b.take(now, rate)
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(rt.name)) // a hash takes everything
	h.Set("X-Ratelimit-Limit", strconv.Itoa(rate.N))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(rate.N-b.used))
	h.Set("X-Ratelimit-Reset", fmt.Sprintf("%.3f", float64(b.until.UnixMilli())/1000))
	h.Set("X-Ratelimit-Reset-After", fmt.Sprintf("%.3f", math.Ceil(b.until.Sub(now).Seconds()*1000)/1000))
	h.Set("X-Ratelimit-Bucket", fmt.Sprintf("%016x", sum.Sum64()))
	if wait > 0 {
		return tooMany(wait, false)
	}
	return nil
}

// within is a limit inside a route, which has no headers of its own.
func (s *Server) within(name, major string, rate Rate) error {
	if s.limits.Off {
		return nil
	}
	if own, ok := s.limits.Routes[name]; ok {
		rate = own
	}
	if wait := s.bucket(name+" "+major).take(time.Now(), rate); wait > 0 {
		return tooMany(wait, false)
	}
	return nil
}

func tooMany(wait time.Duration, global bool) error {
	e := &apiError{status: http.StatusTooManyRequests, message: "You are being rate limited.", wait: wait}
	if global {
		e.code = 1
	}
	return e
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
