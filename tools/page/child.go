package page

// This file reads documents in a child process: a parser of what strangers wrote
// may loop, run out of memory or stack, and no Go program survives the last two.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Bounds of a child.
const (
	childMemory = 512 << 20
	childTime   = 20 * time.Second
	childOutput = 8 << 20
	// childStack is where recursion ends: deeper documents are no documents.
	childStack = 64 << 20
)

// question is what a child is asked, in one line before the document's bytes.
type question struct {
	ContentType string `json:"content_type"`
	Address     string `json:"address"`
}

// answer is what it says.
type answer struct {
	Document Document `json:"document"`
	Error    string   `json:"error,omitempty"`
	NoText   bool     `json:"no_text,omitempty"`
}

// Main is the child's work: it reads the question and the document, writes the
// answer, and returns the exit code.
func Main(in io.Reader, out io.Writer) int {
	debug.SetMaxStack(childStack)
	all, err := io.ReadAll(in)
	if err != nil {
		return 1
	}
	line, data, _ := bytes.Cut(all, []byte("\n"))
	var q question
	if json.Unmarshal(line, &q) != nil {
		return 1
	}
	var a answer
	if a.Document, err = Read(data, q.ContentType, q.Address); err != nil {
		a.Error, a.NoText = err.Error(), errors.Is(err, ErrNoText)
	}
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return 1
	}
	return 0
}

// Reader reads documents in children. It may be used from many goroutines; two
// documents are read at once, others wait.
type Reader struct {
	sandbox *sandbox.Sandbox
	command []string
	slots   chan struct{}
}

// NewReader returns a reader. The command starts this program so that it calls
// Main; the sandbox runs it.
func NewReader(s *sandbox.Sandbox, command []string) *Reader {
	return &Reader{s, command, make(chan struct{}, 2)}
}

// Read is Read in a child. What a document did to its child is in the error.
func (r *Reader) Read(ctx context.Context, data []byte, contentType, address string) (Document, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return Document{}, ctx.Err()
	}
	line, err := json.Marshal(question{contentType, address})
	if err != nil {
		return Document{}, fmt.Errorf("the document cannot be handed over: %w", err)
	}
	result, err := r.sandbox.Run(ctx, sandbox.Spec{
		Command: r.command, Read: r.command[:1], Memory: childMemory, Wall: childTime, Output: childOutput,
		Stdin: slices.Concat(line, []byte("\n"), data),
	})
	if err != nil {
		return Document{}, fmt.Errorf("the document could not be read: %w", err)
	}
	if result.Limit != "" {
		return Document{}, fmt.Errorf("reading the document was stopped: %s", result.Limit)
	}
	var a answer
	if err := json.Unmarshal(result.Stdout, &a); result.Code != 0 || err != nil {
		return Document{}, fmt.Errorf("the document broke its reader (%s)", cutRunes(firstLine(result.Stderr), 200))
	}
	switch {
	case a.NoText:
		return a.Document, fmt.Errorf("%w%s", ErrNoText, strings.TrimPrefix(a.Error, ErrNoText.Error()))
	case a.Error != "":
		return a.Document, errors.New(a.Error)
	}
	return a.Document, nil
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
