package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Streamed answers: server-sent events of which only the data counts. This
// reader stands in for go-openai's, which tells neither [DONE] from the end of
// the bytes nor finds an error behind a comment or an event line, and needs a
// third more time and memory for each event (BenchmarkStream).

const (
	// maxAfter bounds what is read behind a complete answer, in bytes.
	maxAfter = 8 << 10
	// afterFinish is how long a stream may stay open after the answer is complete:
	// only the usage and [DONE] can still come.
	afterFinish = 5 * time.Second
	// maxEvents is how many times larger than an answer its events may be together:
	// each has a frame of its own around a few characters.
	maxEvents = 32
	// drainFor is how long the end of a stream is waited for, which lets its
	// connection be used again.
	drainFor = 100 * time.Millisecond
	// finishCut is the finish of an answer that its watcher had enough of.
	finishCut = "cut"
	// finishLength is the finish of an answer that was longer than it may be.
	finishLength = "length"
)

// errDone is the end that [DONE] announces.
var errDone = errors.New("[DONE]")

// watch begins to watch a try. In JSON mode the text holds arguments, which may
// say the same thing as often as they like.
func (c *Client) watch(r llm.Request) func(piece string) bool {
	if r.Watch == nil || c.cfg.Mode == JSON {
		return func(string) bool { return false }
	}
	return r.Watch()
}

// receive reads events until the answer is complete. A stream that ends with
// neither a finish_reason nor [DONE] was cut.
func (c *Client) receive(in *bufio.Reader, tokens int, timer *time.Timer, enough func(piece string) bool) (answer, error) {
	var a answer
	for heard := 0; ; {
		known := len(a.content)
		data, err := nextEvent(in, maxText(tokens))
		if heard += len(data); heard > maxEvents*maxText(tokens) {
			err = errLong
		}
		if err == nil {
			timer.Reset(c.cfg.Timeout)
			err = a.add(data)
		}
		switch {
		case errors.Is(err, errDone) && a.answered(), err != nil && a.finish != "":
			timer.Reset(drainFor)
			_, _ = io.CopyN(io.Discard, in, maxAfter)
			return a, nil
		case errors.Is(err, errDone):
			return a, errCut
		case a.answered() && (a.size() > bounds.Answer(tokens) || errors.Is(err, errLong)):
			a.finish = finishLength
			return a, nil
		case err != nil:
			return a, err // with what was heard: it is paid
		case len(a.content) > known && enough(string(a.content[known:])):
			a.finish, a.calls = finishCut, calls{}
			return a, nil
		case a.finish != "":
			timer.Reset(min(c.cfg.Timeout, afterFinish))
		}
	}
}

// nextEvent returns the data of the next event, errDone for the last one, errCut
// where the bytes end before that, and errLong for one of more than so many bytes.
func nextEvent(in *bufio.Reader, most int) ([]byte, error) {
	for {
		line, err := readLine(in, most)
		line = bytes.TrimSpace(line)
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case isData && string(data) == "[DONE]":
			return nil, errDone
		case isData && len(data) > 0 && (err == nil || json.Valid(data)):
			return data, nil
		case len(line) > 0 && line[0] == '{':
			return nil, bareError(line, in)
		case errors.Is(err, errLong):
			return nil, err
		case errors.Is(err, io.EOF):
			return nil, errCut
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errCut, err)
		}
	}
}

// readLine reads a line of at most so many bytes.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// bareError reads an error object that stands in a stream as it is, on as many
// lines as it likes.
func bareError(line []byte, in io.Reader) error {
	rest := io.LimitReader(io.MultiReader(bytes.NewReader(line), in), maxRefused)
	var object struct {
		Error json.RawMessage `json:"error"`
	}
	var body json.RawMessage
	if json.NewDecoder(rest).Decode(&body) != nil || json.Unmarshal(body, &object) != nil || object.Error == nil {
		return errCut
	}
	return &rejection{status: http.StatusOK, header: http.Header{}, body: body}
}
