package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// keyboard reads the input in a goroutine, one read at a time and only when it
// is wanted: while an editor runs, it must not take the editor's keys.
type keyboard struct {
	in     io.Reader
	wanted chan struct{}
	asked  bool // a read is under way; only for the loop of Watch
	reads  chan read
}

// read is what one Read gave.
type read struct {
	data []byte
	err  error
}

func newKeyboard(in io.Reader) *keyboard {
	if in == nil {
		in = strings.NewReader("")
	}
	return &keyboard{in: in, wanted: make(chan struct{}, 1), reads: make(chan read)}
}

// want asks for one more read, unless one is under way.
func (k *keyboard) want() {
	if !k.asked {
		k.asked = true
		k.wanted <- struct{}{}
	}
}

func (k *keyboard) start(done <-chan struct{}) {
	go func() {
		for {
			select {
			case <-done:
				return
			case <-k.wanted:
			}
			buf := make([]byte, 4096)
			n, err := k.in.Read(buf)
			select {
			case k.reads <- read{buf[:n], err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
}

// typing turns what was read into lines.
type typing interface {
	// feed returns the lines that are complete now, and whether the person
	// ended the input by a key.
	feed(data []byte) (lines []string, over bool)
	// rest is the line that was begun.
	rest() string
}

// maxLine bounds a line of input, in bytes.
const maxLine = 1 << 20

// splitter is typing where somebody else edits and echoes, or nobody.
type splitter struct{ part []byte }

func (s *splitter) feed(data []byte) ([]string, bool) {
	var all []string
	s.part = append(s.part, data...)
	for {
		line, rest, found := bytes.Cut(s.part, []byte("\n"))
		if !found {
			break
		}
		all = append(all, strings.TrimSuffix(string(line), "\r"))
		s.part = bytes.Clone(rest)
	}
	if len(s.part) > maxLine { // nobody answers with a megabyte: an unusable line
		all, s.part = append(all, string(s.part)), nil
	}
	return all, false
}

func (s *splitter) rest() string { return string(s.part) }

// quiet takes the editing of the input over from the terminal where it is one,
// so that a redraw does not tear what is being typed.
func (w *watcher) quiet() {
	w.restore = func() {}
	f, isFile := w.In.(*os.File)
	if w.typing == nil {
		w.typing = &splitter{}
	}
	if !isFile || !w.TTY || w.JSON {
		return
	}
	restore, err := silence(int(f.Fd()))
	if err != nil { // the terminal goes on editing: the view works, a redraw may hide what was typed
		return
	}
	w.restore = restore
	if _, already := w.typing.(*editor); !already {
		w.typing = &editor{}
	}
}

// entered is a line, and the question that stood there when it was entered; none: "".
type entered struct {
	line  string
	about agent.CheckpointID
}

// read takes what came from the input.
func (w *watcher) read(r read) {
	w.keys.asked = false
	all, over := w.typing.feed(r.data)
	if over || r.err != nil {
		w.over = true
		if rest := strings.TrimSpace(w.typing.rest()); rest != "" {
			all = append(all, rest)
		}
	}
	if _, own := w.typing.(*editor); !own {
		for _, line := range all {
			w.face.typed(line)
		}
	}
	about := agent.CheckpointID("")
	if c := current(w.run); c != nil {
		about = c.ID
	}
	for _, line := range all {
		w.queue = append(w.queue, entered{line, about})
	}
	w.talk.typed = ""
	if _, own := w.typing.(*editor); own {
		w.talk.typed = w.typing.rest()
	}
}
