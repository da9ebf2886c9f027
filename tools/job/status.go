package job

// This file is the tool job_status, which may wait a while for a job to end,
// and the words in which a job is told to the model.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
)

// longestWait is how long job_status may wait, in seconds, and tail how many
// bytes of each output it shows.
const (
	longestWait = 60
	tail        = 4 << 10
)

// status is the tool job_status.
type status struct{ j *Jobs }

// Spec describes the tool.
func (status) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "job_status",
		Description: "Says how a job is (running, exited with its code, killed, lost), how long it ran, and the last " + byteSize(tail) +
			" of its stdout and of its stderr. With wait it answers when the job is over, or after so many seconds: use 30 or 60 rather than asking often.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{
			"id":{"type":"string","description":"As start_job returned it"},
			"wait":{"type":"integer","minimum":0,"maximum":` + strconv.Itoa(longestWait) + `,"description":"Seconds, default 0"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// pauses are the seconds between the looks of one call; they add up to longestWait.
var pauses = [...]int{1, 2, 4, 8, 15, 30}

// nextPause is how long a call rests that has rested so often; 0: its wait is over.
func nextPause(wait, deferred int) time.Duration {
	for i, p := range pauses {
		if i == deferred {
			return time.Duration(max(0, min(p, wait))) * time.Second
		}
		wait -= p
	}
	return 0
}

// Run looks at the job, and asks to be called again while it runs and there is
// time to wait.
func (t status) Run(_ context.Context, c agent.Call) agent.Result {
	var args struct {
		ID   string
		Wait tools.Whole
	}
	err := readArguments(c, &args)
	if err == nil && (args.Wait < 0 || args.Wait > longestWait) {
		err = fmt.Errorf("wait must be between 0 and %d seconds; wait again where more is needed", longestWait)
	}
	if err != nil {
		return agent.Failed("job_status: " + err.Error())
	}
	dir, err := t.j.find(c.Run, args.ID)
	if err != nil {
		return agent.Failed("job_status: " + err.Error())
	}
	r, err := readReport(dir)
	if err != nil {
		return agent.Failed("job_status: " + err.Error())
	}
	if again := nextPause(int(args.Wait), c.Deferred); again > 0 && !r.over() {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Again: again}
	}
	text, err := r.fullText(dir)
	if err != nil {
		return agent.Failed("job_status: " + err.Error())
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: text}
}

// summary is a job in one line. Times and ids in it are written so that the
// detectors for loops leave them out.
func (r report) summary() string {
	var b strings.Builder
	b.WriteString("job " + r.ID)
	if r.Name != "" {
		fmt.Fprintf(&b, " (%s)", format.Line(r.Name, 60))
	}
	b.WriteString(": " + string(r.state()))
	if r.end != nil {
		if r.end.State == Exited {
			fmt.Fprintf(&b, " %d", r.end.Code)
		}
		if r.end.Signal != "" {
			fmt.Fprintf(&b, " (%s)", r.end.Signal)
		}
		if r.end.Reason != "" {
			b.WriteString(": " + format.Line(r.end.Reason, 500))
		}
		if r.end.Left > 0 {
			fmt.Fprintf(&b, "; %d processes that it left in the background were ended", r.end.Left)
		}
	}
	if r.begun != nil {
		until := time.Now()
		if r.end != nil {
			until = r.end.At
		}
		fmt.Fprintf(&b, ", runtime %s", max(0, until.Sub(r.begun.At)).Round(time.Second))
	}
	return b.String()
}

// fullText is the line with what was put out.
func (r report) fullText(dir string) (string, error) {
	parts := []string{r.summary()}
	for _, name := range []string{outFile, errFile} {
		shown, size, err := tailOf(filepath.Join(dir, name))
		switch {
		case err != nil:
			return "", fmt.Errorf("%s of %s cannot be read: %w", name, r.ID, err)
		case size == 0:
			parts = append(parts, name+": empty")
		case int64(len(shown)) < size:
			parts = append(parts, fmt.Sprintf("%s: %d bytes, cut to the last %d:", name, size, len(shown)), outputText(shown))
		default:
			parts = append(parts, fmt.Sprintf("%s: %d bytes:", name, size), outputText(shown))
		}
	}
	return strings.Join(parts, "\n"), nil
}

// tailOf is the end of a file, from a whole character on, and the file's size.
func tailOf(name string) (shown []byte, size int64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	from := max(0, size-tail)
	shown = make([]byte, size-from)
	n, err := f.ReadAt(shown, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	shown = shown[:n]
	if from > 0 {
		for len(shown) > 0 && !utf8.RuneStart(shown[0]) {
			shown = shown[1:]
		}
	}
	return shown, size, nil
}

// outputText is output as text: without the bytes that are none, and without the
// line feeds at its end.
func outputText(b []byte) string {
	return strings.TrimRight(strings.ReplaceAll(strings.ToValidUTF8(string(b), "�"), "\x00", "�"), "\n")
}

// byteSize is "4 KiB", "16 MiB" or "100 bytes".
func byteSize(n int64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
