package job

// What ends a command: time, output, a request, a signal.

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// watching is what a supervisor knows while its command runs.
type watching struct {
	why  string    // it is being ended; empty: it is not
	over bool      // the command itself has ended
	left int       // processes that outlived it
	hard time.Time // from then on SIGKILL; zero: nothing is being ended
}

// watch waits until the command and what descends from it are gone, and ends
// them where their time is over, their output too large or somebody asks.
func (s *supervisor) watch(signals <-chan os.Signal) end {
	var w watching
	wall := time.NewTimer(s.order.Wall)
	defer wall.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	exited := s.exited
	for {
		select {
		case <-s.gone:
			return s.verdict(w)
		case <-exited:
			exited = nil
			s.endLeftovers(&w)
		case <-wall.C:
			s.stop(&w, fmt.Sprintf("it ran longer than %s", s.order.Wall))
		case why := <-s.full:
			s.stop(&w, why)
		case sig := <-signals:
			if sig != syscall.SIGPIPE {
				s.stop(&w, fmt.Sprintf("its supervisor was asked to end (%s), as at a shutdown", sig))
			}
		case now := <-tick.C:
			if why, is := s.killRequest(); is {
				s.stop(&w, why)
			}
			if !w.hard.IsZero() && now.After(w.hard) {
				s.signal(syscall.SIGKILL, w.over)
			}
		}
	}
}

// stop begins to end the command; the first reason counts.
func (s *supervisor) stop(w *watching, why string) {
	if w.why != "" || w.over {
		return
	}
	w.why = why
	w.hard = time.Now().Add(s.order.Grace)
	s.signal(syscall.SIGTERM, w.over)
}

// endLeftovers ends what the command left in the background.
func (s *supervisor) endLeftovers(w *watching) {
	w.over = true
	w.left = s.signal(syscall.SIGTERM, true)
	if w.hard.IsZero() {
		w.hard = time.Now().Add(s.order.Grace)
	}
}

// signal sends a signal to all that descends from this process, and to the
// command's group: its number is the command's own as long as that is not
// waited for.
func (s *supervisor) signal(sig syscall.Signal, over bool) (reached int) {
	if s.order.Sandbox != nil && sig != syscall.SIGKILL && !over {
		_ = syscall.Kill(s.pid, sig) // the sandbox's supervisor hands it to the command
		return 1
	}
	if !over || !findsDescendants {
		_ = syscall.Kill(-s.pid, sig) // gone in this moment: no matter
	}
	for _, pid := range descendants() {
		if syscall.Kill(pid, sig) == nil {
			reached++
		}
	}
	return reached
}

// verdict says how it ended.
func (s *supervisor) verdict(w watching) end {
	if !findsDescendants {
		_ = syscall.Kill(-s.pid, syscall.SIGKILL)
	}
	e := end{State: Exited, Code: s.status.ExitStatus(), Left: w.left}
	if s.status.Signaled() {
		e.Code, e.Signal = 128+int(s.status.Signal()), s.status.Signal().String()
	}
	if w.why != "" {
		e.State, e.Reason = Killed, w.why
	}
	return e
}
