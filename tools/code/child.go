package code

// What runs in the child, from its first frame to its last.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Bounds in bytes: the Go stack of the interpreter and its parser, and the
// text of an error.
const (
	deepestStack   = 64 << 20
	longestProblem = 2000
)

// Child is the main function of the child process: it reads one request from
// stdin, gives up everything that it does not need, runs the program and
// writes frames to stdout. It returns the exit code. It changes the limits of
// the whole process, so call it only in a process started for it. When stdin
// ends before the program does, the process exits: its parent is gone.
func Child(stdin io.Reader, stdout io.Writer) int {
	sandbox.CloseInherited()
	r := bufio.NewReader(stdin)
	line, err := r.ReadBytes('\n')
	if err != nil {
		fmt.Fprintln(os.Stderr, "the request could not be read:", err)
		return 2
	}
	var q request
	if err := json.Unmarshal(line, &q); err != nil {
		fmt.Fprintln(os.Stderr, "the request could not be read:", err)
		return 2
	}
	w := &wire{out: stdout, room: q.Output}
	s := newScript(q, w)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		os.Exit(3)
	}()
	go w.limit(q, s)
	debug.SetMaxStack(deepestStack)
	debug.SetMemoryLimit(q.Memory / 4 * 3)
	// The thread that cannot gain privileges is the one that runs the program.
	runtime.LockOSThread()
	if err := confine(q); err != nil {
		fmt.Fprintln(os.Stderr, "the limits could not be set:", err)
		return 2
	}
	s.run()
	return 0
}

// wire writes frames, at most room bytes of text.
type wire struct {
	mu   sync.Mutex
	out  io.Writer
	room int
	cut  bool
	last bool
}

// log sends a line as far as there is room.
func (w *wire) log(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text, ok := w.fit(text); ok {
		w.send(frame{Log: &text})
	}
}

// end sends the value as the last frame; later ones are dropped.
func (w *wire) end(value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	value, _ = w.fit(value)
	w.send(frame{Value: &value})
	w.last = true
}

// fail sends a problem as the last frame; later ones are dropped.
func (w *wire) fail(problem string, limit bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(problem) > longestProblem {
		problem = strings.ToValidUTF8(problem[:longestProblem], "") + "…"
	}
	w.send(frame{Error: &problem, Limit: limit})
	w.last = true
}

// fit shortens a text to the room that is left and says once that it did.
func (w *wire) fit(text string) (string, bool) {
	if len(text) < w.room {
		w.room -= len(text) + 1
		return text, true
	}
	if w.cut {
		return "", false
	}
	text = strings.ToValidUTF8(text[:max(0, w.room)], "")
	w.room, w.cut = 0, true
	w.send(frame{Cut: true})
	return text, text != ""
}

func (w *wire) send(f frame) {
	if w.last {
		return
	}
	b, err := json.Marshal(f)
	if err == nil {
		_, err = w.out.Write(append(b, '\n'))
	}
	if err != nil {
		os.Exit(3) // nobody is left to tell
	}
}

// limit interrupts the program when its time is over, and ends the process
// where it cannot be interrupted (a regular expression).
func (w *wire) limit(q request, s *script) {
	start := time.Now()
	tick := time.NewTicker(10 * time.Millisecond) // until the process ends
	var over time.Time
	var why string
	for now := range tick.C {
		switch {
		case !over.IsZero() && now.Sub(over) > 200*time.Millisecond:
			w.fail(why, true)
			os.Exit(4) // the program does not return
		case !over.IsZero():
		case processorTime() > q.CPU:
			over, why = now, tooMuchCPU(q.CPU)
			s.interrupt(why)
		case now.Sub(start) > q.Wall:
			over, why = now, tooLong(q.Wall)
			s.interrupt(why)
		}
	}
}
