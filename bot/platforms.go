package bot

import (
	"maps"
	"slices"
	"sync"
)

// Platforms are the platforms that are connected, by name. One may join while
// others are at work: a platform that cannot be reached yet holds up nobody.
type Platforms struct {
	mu     sync.Mutex
	byName map[string]Platform
}

// Join adds a platform, in the place of one of the same name.
func (l *Platforms) Join(p Platform) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName == nil {
		l.byName = map[string]Platform{}
	}
	l.byName[p.Name()] = p
}

// Names are those of the platforms that are connected, sorted.
func (l *Platforms) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.byName))
}

// Named is the platform of the name, nil if none is connected.
func (l *Platforms) Named(name string) Platform {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byName[name]
}
