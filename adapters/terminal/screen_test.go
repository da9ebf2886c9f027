package terminal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// screen is a terminal that knows what the live view uses: text, line feeds,
// carriage returns, cursor up, erase below, and colours, which it drops.
type screen struct {
	columns  int
	cells    [][]string
	row, col int
	unknown  []string
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func (s *screen) feed(text string) {
	for text != "" {
		if m := sequence.FindStringSubmatch(text); m != nil {
			s.control(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch {
		case r == '\n':
			s.row, s.col = s.row+1, 0
		case r == '\r':
			s.col = 0
		case r < ' ' || r == 0x7f:
			s.unknown = append(s.unknown, fmt.Sprintf("%U", r))
		default:
			s.put(r)
		}
	}
}

func (s *screen) put(r rune) {
	n := runeColumns(r)
	if n == 0 {
		return
	}
	if s.col+n > s.columns {
		s.row, s.col = s.row+1, 0
	}
	for len(s.cells) <= s.row {
		s.cells = append(s.cells, nil)
	}
	line := s.cells[s.row]
	for len(line) < s.col+n {
		line = append(line, " ")
	}
	line[s.col] = string(r)
	if n == 2 {
		line[s.col+1] = ""
	}
	s.cells[s.row], s.col = line, s.col+n
}

func (s *screen) control(parameter, letter string) {
	n, _ := strconv.Atoi(parameter)
	switch letter {
	case "A":
		s.row = max(0, s.row-max(n, 1))
	case "J":
		if s.row < len(s.cells) {
			s.cells[s.row] = s.cells[s.row][:min(s.col, len(s.cells[s.row]))]
			s.cells = s.cells[:s.row+1]
		}
	case "m":
	default:
		s.unknown = append(s.unknown, parameter+letter)
	}
}

func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.cells {
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// shown is what a terminal shows after the output.
func shown(t *testing.T, columns int, output string) string {
	t.Helper()
	s := &screen{columns: columns}
	s.feed(output)
	if len(s.unknown) > 0 {
		t.Errorf("the output has controls that the view never needs: %q", s.unknown)
	}
	return s.String()
}
