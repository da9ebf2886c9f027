package bot

import (
	"context"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a platform shows about the run of a thread beside its messages: whether
// it works, whether a person is asked, what it is about.

// SessionStatus is how the run of a thread stands, seen by whoever looks at the
// thread.
type SessionStatus string

// The statuses of a session.
const (
	SessionWorking SessionStatus = "working" // it works; nobody has to do anything
	SessionAsking  SessionStatus = "asking"  // it needs a person to go on
	SessionIdle    SessionStatus = "idle"    // a person's next word sets it going
	SessionOver    SessionStatus = "over"    // the run has ended with a report
)

// Session is what a thread says of the run that lives in it.
type Session struct {
	Status SessionStatus
	// Title says in a few words of plain text what the run is about: what its
	// plan is called, and before there is one the goal.
	Title string
}

// maxSessionTitle is how many characters a session's title has at most.
const maxSessionTitle = 80

// SessionOf is how a run stands. A question to people comes before work that
// goes on beside it: they would not look for it otherwise. A pause that a person
// made ends by a person's word; one that Deckhand made needs somebody to mend
// what is wrong.
func SessionOf(r agent.Run) Session {
	about := r.Plan.Name
	if strings.TrimSpace(about) == "" {
		about = r.Brief.Goal
	}
	s := Session{Status: SessionWorking, Title: text.InLine(about, maxSessionTitle)}
	switch {
	case r.Replied():
		s.Status = SessionIdle
	case r.Ended != nil:
		s.Status = SessionOver
	case r.Refused != "" || strings.HasPrefix(r.Paused, agent.Deckhand):
		s.Status = SessionAsking
	case r.Paused != "":
		s.Status = SessionIdle
	case r.OpenCheckpoint() != nil:
		s.Status = SessionAsking
	}
	return s
}

// Sessions is a Platform that shows in a thread how its run stands.
type Sessions interface {
	// ShowSession makes the thread show the session. Before is what it was made
	// to show last, zero where that is not known: only what differs has to be
	// sent, and all of it where nothing does. The platform forgets it after
	// fades; zero: it stays until the next.
	ShowSession(ctx context.Context, thread Address, s, before Session) (fades time.Duration, err error)
}
