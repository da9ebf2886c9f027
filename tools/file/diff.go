package file

// Two texts compared line by line.

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// unified compares two texts and returns the changes with so many lines around
// each of them, in the manner of diff -u.
func unified(before, after string, around int) []string {
	before, after = withLastLineEnd(before), withLastLineEnd(after)
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), around)
	if err != nil { // never: the edits are of these texts
		return []string{err.Error()}
	}
	var out []string
	added := 0 // lines so far; the library's own count of the new lines forgets those between two edits
	for _, h := range diff.Hunks {
		out = append(out, fmt.Sprintf("@@ -%d +%d @@", h.FromLine, h.FromLine+added))
		for _, l := range h.Lines {
			sign := " "
			switch l.Kind {
			case udiff.Insert:
				sign, added = "+", added+1
			case udiff.Delete:
				sign, added = "-", added-1
			case udiff.Equal:
			}
			out = append(out, sign+strings.TrimSuffix(l.Content, "\n"))
		}
	}
	return out
}

// withLastLineEnd is a text with a line feed at its end; where there was none, that is
// said, for it is a difference too.
func withLastLineEnd(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + " ⟨no line feed at the end⟩\n"
}
