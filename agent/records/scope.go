package records

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
)

// Scope is whom a record is for: "person:slack:U1", "channel:slack:T1:C1",
// "workspace:slack:T1". At the terminal the part behind the word is "terminal".
type Scope string

// The words that scopes begin with.
const (
	Person    = "person"
	Channel   = "channel"
	Workspace = "workspace"
)

// TerminalPlace stands in scopes for the command line, which is no place of a
// platform.
const TerminalPlace = "terminal"

// TerminalWorkspace is the scope of what everybody at the command line shares.
const TerminalWorkspace Scope = Workspace + ":" + TerminalPlace

// Everywhere is the scope of what this installation brings along: skills. Nobody
// writes records of it.
const Everywhere Scope = "everywhere:skills"

// ErrScope is wrapped by what is wrong with a scope.
var ErrScope = errors.New("not a scope")

// Check says what is wrong with a scope.
func (s Scope) Check() error {
	if what, of := s.Parts(); of != "" && (what == Person || what == Channel || what == Workspace) && len(s) <= MaxID &&
		!strings.ContainsFunc(string(s), func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == '/' }) {
		return nil
	}
	return fmt.Errorf("%w: %q; write person, channel or workspace, alone or with whom it is of: channel:slack:T1:C1", ErrScope, s)
}

// Parts are the word of a scope, and whom it is of.
func (s Scope) Parts() (what, of string) {
	what, of, _ = strings.Cut(string(s), ":")
	return what, of
}

// Viewer is who asks for memories, and where the answer is read.
type Viewer struct {
	Person string // principal; empty: nobody in particular
	// Place is "platform:workspace:channel"; empty: the terminal.
	Place string
	// All says that everything may be seen: the person who has the store itself
	// in hand.
	All bool
	// Own says that only what the person told, or what is about them alone, is
	// looked at, wherever that was: for their eyes alone.
	Own bool
	// Keeper says that the person may also correct and delete what others told
	// where it comes up.
	Keeper bool
}

// ViewerOf is the viewer on whose behalf a run remembers: its requester, where
// it lives. Shown says that the run is read at other places, too: then only what
// the workspace shares may come up.
func ViewerOf(b agent.RunStarted) Viewer { return Viewer{Person: b.Requester, Place: b.Scope()} }

// workspace is the part of a place that names the platform's workspace.
func workspace(place string) string {
	if place == "" {
		return TerminalPlace
	}
	parts := strings.SplitN(place, ":", 3)
	return strings.Join(parts[:min(len(parts), 2)], ":")
}

func (v Viewer) place() string {
	if v.Place == "" {
		return TerminalPlace
	}
	return v.Place
}

// Scope is the scope of a word for the viewer.
func (v Viewer) Scope(what string) (Scope, error) {
	switch what {
	case Person:
		if v.Person == "" {
			return "", fmt.Errorf("%w: nobody in particular asks, so there is no person to remember it for", ErrScope)
		}
		return Scope(Person + ":" + v.Person), nil
	case Channel:
		return Scope(Channel + ":" + v.place()), nil
	case Workspace:
		return Scope(Workspace + ":" + workspace(v.Place)), nil
	}
	return "", Scope(what).Check()
}

// Sees reports whether the record may come up for the viewer. What was told in a
// channel or a direct conversation comes up there alone; what a person told of
// themselves comes up for that person alone, where they told it; what a
// workspace shares comes up everywhere in it.
func (v Viewer) Sees(r Record) bool {
	if v.All {
		return true
	}
	if v.Own {
		return v.told(r)
	}
	what, of := r.Scope.Parts()
	switch what {
	case Person:
		return v.Person != "" && of == v.Person && (r.Source.Place == v.Place)
	case Channel:
		return of == v.place()
	case Workspace:
		return of == workspace(v.Place)
	}
	return r.Scope == Everywhere
}

// told reports whether the record is the person's own words, or about them alone.
// What came of their runs is none of that: others may have had a part in it.
func (v Viewer) told(r Record) bool {
	what, of := r.Scope.Parts()
	if what == Person {
		return v.Person != "" && of == v.Person
	}
	return v.Person != "" && r.Source.Person == v.Person && r.Label() == agent.Trusted
}

// Owns reports whether the person may correct and delete the record: it is
// about them, or they told it.
func (v Viewer) Owns(r Record) bool {
	what, of := r.Scope.Parts()
	return v.All || v.Keeper && v.Sees(r) || v.Person != "" && (what == Person && of == v.Person || r.Source.Person == v.Person)
}
