package source

// This file says what a Source is, and holds the one whose tools are always
// there.

import (
	"context"

	"github.com/deckhand-bot/deckhand/agent"
)

// Source gives tools at run time. Its tools have bare names: the Registry puts
// the source's name before them, and calls them by their bare names again.
// Everything may be called from many goroutines.
type Source interface {
	// Name is the source's name; empty for what is built in, whose tools keep
	// their names.
	Name() string
	// Tools lists what there is now, in any order. An error means that it cannot
	// be said now: what was listed before stays.
	Tools(ctx context.Context) ([]agent.Tool, error)
	// Changed has a value when the list may have become another. Nil: it never does.
	Changed() <-chan struct{}
	// Close ends what the source started. Tools is not called afterwards.
	Close() error
}

// Declared is a Source whose effect classes are the team's own word, reviewed
// and pinned with it, and therefore count.
type Declared interface {
	Source
	// Declares reports whether the tools' own classes and trust count.
	Declares() bool
}

// Faulty is a Source that says what is wrong with parts of it; the rest is given.
type Faulty interface {
	Source
	// Faults are of what Tools listed last.
	Faults() []string
}

// fixed is a list of tools that is always there.
type fixed []agent.Tool

// BuiltIn is the source of tools that are part of the program.
func BuiltIn(list ...agent.Tool) Source { return fixed(list) }

func (fixed) Name() string                                  { return "" }
func (f fixed) Tools(context.Context) ([]agent.Tool, error) { return f, nil }
func (fixed) Changed() <-chan struct{}                      { return nil }
func (fixed) Close() error                                  { return nil }
