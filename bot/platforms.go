package bot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Platforms are the platforms that are connected, by name. One may join while
// others are at work: a platform that cannot be reached yet holds up nobody.
type Platforms struct {
	// Redact takes secrets out of texts that are introduced; nil: nothing does. It
	// is set before the platforms are used.
	Redact func(text string) string

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

// nameWithin is how long a text waits for the names of people of other platforms.
const nameWithin = 500 * time.Millisecond

// Introduce names in a text for one platform the people of the others, as far as
// those know them: a platform itself knows only its own.
func (l *Platforms) Introduce(ctx context.Context, platform, text string) string {
	if l.Redact != nil {
		text = l.Redact(text)
	}
	return Refer(text, func(r Ref) string {
		of, _, is := strings.Cut(r.Person, ":")
		if !is || of == platform || of == refName {
			return r.Mark()
		}
		namer, can := l.Named(of).(Namer)
		if !can {
			return r.Mark()
		}
		ctx, cancel := context.WithTimeout(ctx, nameWithin)
		defer cancel()
		if name := namer.NameOf(ctx, r.Person); name != "" {
			return Mention(refName + ":" + name + " (" + PlatformName(of) + ")")
		}
		return r.Mark()
	})
}

// IntroduceIn does the same for every text of a card.
func (l *Platforms) IntroduceIn(ctx context.Context, platform string, c Card) Card {
	return c.Reworded(func(text string) string { return l.Introduce(ctx, platform, text) })
}

// ErrUnknowable says that nobody can tell now whether somebody is in a channel.
var ErrUnknowable = errors.New("nobody can tell whether they are in the channel")

// Member reports whether a person may still read what is said at a place,
// "platform:workspace:channel". An error says that nobody can tell: that counts
// as no.
func (l *Platforms) Member(ctx context.Context, principal, place string) (bool, error) {
	at, err := ParseAddress(place)
	if err != nil {
		return false, err
	}
	if principal == Terminal {
		return true, nil
	}
	if name, _, _ := strings.Cut(principal, ":"); name != at.Platform {
		return false, nil
	}
	knows, can := l.Named(at.Platform).(Membership)
	if !can {
		return false, fmt.Errorf("%w: %s is not connected", ErrUnknowable, PlatformName(at.Platform))
	}
	return knows.Member(ctx, principal, at)
}
