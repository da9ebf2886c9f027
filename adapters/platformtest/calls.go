package platformtest

import (
	"maps"
	"slices"
)

// Calls counts the calls of an API by their names.
type Calls struct {
	core    *Core
	made    map[string]int
	limited map[string]int
	unknown []string
}

// Made counts a call, which the platform may not know; the lock is held.
func (c *Calls) Made(name string, known bool) {
	c.made[name]++
	if !known && !slices.Contains(c.unknown, name) {
		c.unknown = append(c.unknown, name)
	}
}

// TooMany counts an answer 429; the lock is held.
func (c *Calls) TooMany(name string) { c.limited[name]++ }

// Count is how many calls of a name were made, however they ended.
func (c *Calls) Count(name string) int {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return c.made[name]
}

// Unknown are the calls that the server does not know.
func (c *Calls) Unknown() []string {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return slices.Clone(c.unknown)
}

// Limited is how often each call was answered 429.
func (c *Calls) Limited() map[string]int {
	c.core.Mu.Lock()
	defer c.core.Mu.Unlock()
	return maps.Clone(c.limited)
}
