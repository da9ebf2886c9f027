package terminal

import (
	"fmt"
	"io"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// stream prints each event as one line of JSON, and little for people.
type stream struct {
	out, err io.Writer
	failed   error
}

func (*stream) begin(agent.Run) {}

func (s *stream) event(_, _ agent.Run, e agent.Event) {
	line, err := e.MarshalJSON()
	if err == nil {
		_, err = s.out.Write(append(line, '\n'))
	}
	if err != nil && s.failed == nil {
		s.failed = err
		s.notice(fmt.Sprintf("event %d of run %s could not be written: %v", e.Seq, e.Run, err))
	}
	if b, asks := e.Body.(agent.CheckpointOpened); asks {
		s.notice("waiting for an answer: " + b.Title)
	}
}

func (s *stream) notice(text string) { fmt.Fprintln(s.err, say(oneLine(text)).paint(false)) }

func (s *stream) show(rows []row) {
	for _, r := range rows {
		fmt.Fprintln(s.err, r.paint(false))
	}
}

func (*stream) typed(string)                                         {}
func (*stream) suspend()                                             {}
func (*stream) close(agent.Run)                                      {}
func (*stream) refresh(agent.Run, dialogue, time.Time) time.Duration { return 0 }
