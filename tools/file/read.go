package file

// The tool read_file: lines of a text, a description of anything else.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Bounds of one read: lines when no limit is given, bytes of text, and the
// bytes that decide whether a file is binary.
const (
	readLines = 2000
	readBytes = 128 << 10
	sniff     = 8 << 10
)

type read struct{ c Config }

// Spec describes read_file.
func (read) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "read_file",
		Description: "Reads a text file of the workspace. The first line of the answer says which lines follow and how many there are; " +
			"long files are read in pieces with offset and limit. Binary files are described.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{` + pathProperty + `,
			"offset":{"type":"integer","minimum":1,"description":"First line, counted from 1; default 1"},
			"limit":{"type":"integer","minimum":1,"description":"Number of lines; default 2000"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// Run reads the lines asked for.
func (t read) Run(ctx context.Context, call agent.Call) agent.Result {
	args := struct {
		Path          string
		Offset, Limit tools.Whole
	}{Offset: 1, Limit: readLines}
	return inFolder(ctx, t.c, call, &args, func(ctx context.Context, f *workspace.Folder) (agent.Result, error) {
		p, err := workspace.Clean(args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		file, info, err := f.Read(p)
		if err != nil {
			return agent.Result{}, err
		}
		defer func() { _ = file.Close() }()
		r := bufio.NewReaderSize(workspace.Bound(ctx, file), 64<<10)
		start, err := r.Peek(sniff)
		if err != nil && !errors.Is(err, io.EOF) {
			return agent.Result{}, fmt.Errorf("%s: reading: %w", p, err)
		}
		if binary(start) {
			text, err := describeBinary(p, start, r)
			return succeeded(text, agent.Trusted), err
		}
		part, err := readPiece(r, int(args.Offset), int(args.Limit))
		if err != nil {
			return agent.Result{}, fmt.Errorf("%s: reading: %w", p, err)
		}
		text, err := part.render(p, info.Size(), int(args.Offset))
		return succeeded(text, t.c.Trust), err
	})
}

// piece is some lines of a text and how many there are in all.
type piece struct {
	text  strings.Builder
	room  int // bytes that may still be added
	full  bool
	lines int // in text
	total int
	short int // number of the line that was shortened, 0: none
}

// readPiece reads the whole text and keeps limit lines from offset on, as far as
// they fit.
func readPiece(r *bufio.Reader, offset, limit int) (*piece, error) {
	p := &piece{room: readBytes}
	fresh := true
	for {
		b, err := r.ReadSlice('\n')
		if len(b) > 0 {
			if fresh {
				p.total++
			}
			if p.total >= offset && p.total-offset < limit {
				p.keep(b, fresh)
			}
			fresh = b[len(b)-1] == '\n'
		}
		switch {
		case errors.Is(err, io.EOF):
			return p, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// keep adds a part of the line number p.total; fresh is its first part.
func (p *piece) keep(b []byte, fresh bool) {
	if fresh && p.lines > 0 && len(b) > p.room {
		p.full = true
	}
	if p.full {
		return
	}
	if fresh {
		p.lines++
	}
	if len(b) > p.room {
		p.text.Write(b[:p.room])
		p.text.WriteByte('\n')
		p.short, p.full = p.total, true
		return
	}
	p.room -= len(b)
	p.text.Write(b)
}

func (p *piece) render(path string, size int64, offset int) (string, error) {
	if p.total == 0 {
		return path + ": empty, 0 lines", nil
	}
	if offset > p.total {
		return "", fmt.Errorf("%s has only %s, offset %d is behind its end", path, format.Count(p.total, "line"), offset)
	}
	last := offset + p.lines - 1
	h := fmt.Sprintf("%s: lines %d-%d of %d, %s", path, offset, last, p.total, format.Count(size, "byte"))
	if last < p.total {
		h += fmt.Sprintf("; go on with offset %d", last+1)
	}
	if p.short > 0 {
		h += fmt.Sprintf("; line %d is shortened", p.short)
	}
	return h + "\n" + strings.ToValidUTF8(p.text.String(), "\uFFFD"), nil
}

// binary reports whether the start of a file is no text: it has a NUL, or
// more than a tenth of it is not UTF-8.
func binary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(start); {
		r, n := utf8.DecodeRune(start[i:])
		if r == utf8.RuneError && n == 1 && i < len(start)-utf8.UTFMax {
			bad++
		}
		i += n
	}
	return bad*10 > len(start)
}

// describeBinary says what a binary file is instead of showing it.
func describeBinary(path string, start []byte, r io.Reader) (string, error) {
	kind := http.DetectContentType(start)
	h := sha256.New()
	n, err := io.Copy(h, r)
	if err != nil {
		return "", fmt.Errorf("%s: reading: %w", path, err)
	}
	return fmt.Sprintf("%s: binary, %s, %s, sha256 %s", path, kind, format.Count(n, "byte"), hex.EncodeToString(h.Sum(nil))), nil
}
