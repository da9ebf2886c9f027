package file

import (
	"fmt"
	"slices"
	"strings"
)

// Lines shown around a change, and the largest table that is searched for
// the longest common subsequence.
const (
	around     = 2
	tableCells = 1 << 22
)

// edit is one line of a comparison: ' ' kept, '-' removed, '+' added.
type edit struct {
	op   byte
	line string
}

// unified compares two texts and returns the changes with lines around them,
// in the manner of diff -u.
func unified(before, after string) []string {
	edits := compare(split(before), split(after))
	show := make([]bool, len(edits))
	for i, e := range edits {
		if e.op == ' ' {
			continue
		}
		for j := max(0, i-around); j <= min(len(edits)-1, i+around); j++ {
			show[j] = true
		}
	}
	var out []string
	oldLine, newLine := 1, 1
	for i, e := range edits {
		if show[i] && (i == 0 || !show[i-1]) {
			out = append(out, fmt.Sprintf("@@ -%d +%d @@", oldLine, newLine))
		}
		if show[i] {
			out = append(out, string(e.op)+e.line)
		}
		if e.op != '+' {
			oldLine++
		}
		if e.op != '-' {
			newLine++
		}
	}
	return out
}

// split cuts a text into lines; a missing last line feed is said, for it is
// a difference too.
func split(s string) []string {
	if s == "" {
		return nil
	}
	l := strings.Split(s, "\n")
	if l[len(l)-1] == "" {
		return l[:len(l)-1]
	}
	l[len(l)-1] += " ⟨no line feed at the end⟩"
	return l
}

func compare(a, b []string) []edit {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var out []edit
	for _, l := range a[:start] {
		out = append(out, edit{' ', l})
	}
	out = append(out, middle(a[start:len(a)-end], b[start:len(b)-end])...)
	for _, l := range a[len(a)-end:] {
		out = append(out, edit{' ', l})
	}
	return out
}

// middle finds the longest common subsequence; where the table would be too
// large everything is removed and added.
func middle(a, b []string) []edit {
	var out []edit
	if len(a)*len(b) > tableCells {
		for _, l := range a {
			out = append(out, edit{'-', l})
		}
		for _, l := range b {
			out = append(out, edit{'+', l})
		}
		return out
	}
	width := len(b) + 1
	table := make([]int32, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				table[i*width+j] = table[(i+1)*width+j+1] + 1
			} else {
				table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && table[(i+1)*width+j] >= table[i*width+j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return out
}
