package terminal

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// pty opens a pseudo terminal: what is written to person arrives as keys.
func pty(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, terminal
}

// TestARealTerminal types half a line, lets the view be redrawn, and finishes
// the line; afterwards the terminal is as it was.
func TestARealTerminal(t *testing.T) {
	person, terminal := pty(t)
	defer person.Close()
	before, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	output := &buffer{}
	echoed := make(chan struct{})
	go func() {
		defer close(echoed)
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			if err != nil {
				return
			}
			_, _ = output.Write(buf[:n])
		}
	}()
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain for %s; the screen:\n%s", what, shown(t, 80, output.String()))
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	log := newJournal()
	asking(t, log)
	done := make(chan End, 1)
	go func() {
		end, _ := Watch(t.Context(), Config{
			Runs: &runs.Client{Journals: log}, Journal: log, Telling: card.Telling{}, Answer: runs.ReadDecision, Hint: runs.ReadHint, Run: theRun, In: terminal, Out: terminal, Err: terminal, TTY: true, By: bot.Terminal,
		})
		done <- end
	}()
	screen := func() string { return shown(t, 80, output.String()) }
	until("the question", func() bool { return strings.Contains(screen(), "[y] approve") })
	_, _ = person.WriteString("n because of x\x7f")
	until("what is typed", func() bool { return strings.HasSuffix(screen(), "> n because of\n") })
	put(t, log, agent.Main, agent.Finding{Message: "meanwhile"})
	until("the redraw", func() bool {
		return strings.Contains(screen(), "! meanwhile\n") && strings.HasSuffix(screen(), "> n because of\n")
	})
	_, _ = person.WriteString("it\n")
	until("the decision", func() bool { return strings.Contains(screen(), "› Denied by terminal: because of it") })
	rest(t, log)
	if end := <-done; end.Run.Ended == nil {
		t.Errorf("end %+v", end)
	}
	if strings.Count(output.String(), "because of it") != 1 {
		t.Errorf("the terminal echoed as well:\n%s", output)
	}
	after, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil || after.Lflag != before.Lflag {
		t.Errorf("the terminal is left in mode %o, was %o (%v)", after.Lflag, before.Lflag, err)
	}
	_, _ = person.WriteString("\n") // lets the read that is under way return
	_ = terminal.Close()
	_ = person.Close()
	<-echoed
}
