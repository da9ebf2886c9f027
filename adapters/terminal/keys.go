package terminal

import (
	"unicode/utf8"
)

// The keys that the editor of a line knows.
const (
	keyEnd   = 0x04 // Ctrl-D
	keyBack  = 0x08
	keyEnter = '\n'
	keyKill  = 0x15 // Ctrl-U
	keyWord  = 0x17 // Ctrl-W
	keyEsc   = 0x1b
	keyDel   = 0x7f
)

// editor edits one line of input at its end, as a terminal's own line
// discipline would. Keys that send escape sequences are ignored.
type editor struct {
	line   []rune
	part   []byte // of a character or an escape sequence
	escape int    // 0 none, 1 after ESC, 2 inside a sequence
}

func (e *editor) rest() string { return string(e.line) }

func (e *editor) feed(data []byte) (all []string, over bool) {
	for _, b := range data {
		if e.escaped(b) {
			continue
		}
		switch {
		case b == keyEnter || b == '\r':
			all = append(all, string(e.line))
			e.line, e.part = nil, nil
		case b == keyEnd && len(e.line) == 0:
			return all, true
		case b == keyBack || b == keyDel:
			e.line = e.line[:max(0, len(e.line)-1)]
		case b == keyKill:
			e.line = nil
		case b == keyWord:
			e.line = withoutWord(e.line)
		case b == '\t':
			e.line = append(e.line, ' ')
		case b >= ' ':
			e.letter(b)
		}
	}
	return all, false
}

// escaped swallows escape sequences: ESC x, ESC [ … final, ESC O x.
func (e *editor) escaped(b byte) bool {
	switch {
	case b == keyEsc:
		e.escape, e.part = 1, nil
	case e.escape == 1 && (b == '[' || b == 'O'):
		e.escape = 2
	case e.escape == 1:
		e.escape = 0
	case e.escape == 2:
		if b >= '@' && b <= '~' {
			e.escape = 0
		}
	default:
		return false
	}
	return true
}

// letter adds a byte of UTF-8; a character is added when it is whole.
func (e *editor) letter(b byte) {
	e.part = append(e.part, b)
	if !utf8.FullRune(e.part) {
		return
	}
	for len(e.part) > 0 {
		r, n := utf8.DecodeRune(e.part)
		if len(e.line) < maxLine/4 {
			e.line = append(e.line, r)
		}
		e.part = e.part[n:]
	}
}

func withoutWord(line []rune) []rune {
	n := len(line)
	for n > 0 && line[n-1] == ' ' {
		n--
	}
	for n > 0 && line[n-1] != ' ' {
		n--
	}
	return line[:n]
}
