package ingest

import (
	"sync"
	"time"
)

// Cache remembers what a platform said, each for a while: what was known is
// better than nothing where the platform does not answer later.
type Cache[V any] struct {
	life  time.Duration
	limit int

	mu      sync.Mutex
	entries map[string]entry[V]
}

type entry[V any] struct {
	value V
	until time.Time
}

// NewCache keeps at most so many values, each fresh for life.
func NewCache[V any](life time.Duration, limit int) *Cache[V] {
	return &Cache[V]{life: life, limit: limit, entries: map[string]entry[V]{}}
}

// Get is a value, and whether it is fresh, or known at all.
func (c *Cache[V]) Get(key string) (value V, fresh, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, known := c.entries[key]
	return e.value, known && time.Now().Before(e.until), known
}

// Put remembers a value, and forgets the one that was put first when there are
// too many.
func (c *Cache[V]) Put(key string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.entries[key]; !known && len(c.entries) >= c.limit {
		oldest := ""
		for other, e := range c.entries {
			if oldest == "" || e.until.Before(c.entries[oldest].until) {
				oldest = other
			}
		}
		delete(c.entries, oldest)
	}
	c.entries[key] = entry[V]{value, time.Now().Add(c.life)}
}

// Expire makes a value stale: it is asked for again, and until then it is still
// better than nothing.
func (c *Cache[V]) Expire(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, known := c.entries[key]; known {
		c.entries[key] = entry[V]{value: e.value}
	}
}
