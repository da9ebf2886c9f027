package main

// This file reads what `go test -json` tells, and tells it as go test does
// without, and what was skipped.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// event is one line of `go test -json`: see `go doc test2json`.
type event struct {
	Action  string `json:"Action"`
	Package string `json:"Package"`
	Test    string `json:"Test"`
	Output  string `json:"Output"`
}

// test names a test, or with an empty name its package.
type test struct{ pkg, name string }

// top is the test that a subtest belongs to.
func (t test) top() test {
	name, _, _ := strings.Cut(t.name, "/")
	return test{t.pkg, name}
}

// report collects what tests said.
type report struct {
	out     io.Writer
	said    map[test][]string // of tests with their subtests, until they end
	logged  map[test]string   // the last line
	skipped map[test]string   // why
	passed  map[test]bool
	bad     map[string]bool // packages that failed
}

func newReport(out io.Writer) *report {
	return &report{out: out, said: map[test][]string{}, logged: map[test]string{}, skipped: map[test]string{}, passed: map[test]bool{}, bad: map[string]bool{}}
}

// longestLine bounds a line of a test's output, in bytes.
const longestLine = 16 << 20

// read reads the events to their end.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(r.out, lines.Text()) // what is no event is for people
			continue
		}
		r.take(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("its output cannot be read: %w", err)
	}
	return nil
}

// progress begins lines that say no more than how far a test is.
var progress = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) |\s*--- (PASS|SKIP): )`)

func (r *report) take(e event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test == "":
		if e.Output != "PASS\n" {
			fmt.Fprint(r.out, e.Output)
		}
	case e.Action == "output":
		r.hear(t, e.Output)
	case e.Action == "skip" && e.Test != "":
		r.skipped[t] = r.reason(t)
		r.end(t, false)
	case e.Action == "pass":
		r.passed[t] = true
		r.end(t, false)
	case e.Action == "fail":
		r.end(t, true)
	}
}

// hear keeps what a test says; the last line that it logs may be why it is skipped.
func (r *report) hear(t test, line string) {
	if progress.MatchString(line) {
		return
	}
	if at := logLine.FindStringSubmatch(line); at != nil {
		r.logged[t] = at[1]
	}
	r.said[t.top()] = append(r.said[t.top()], line)
}

// logLine is a line that a test logged: its file, the line in it, the text.
var logLine = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

func (r *report) reason(t test) string {
	if why := strings.TrimSpace(r.logged[t]); why != "" {
		return why
	}
	return "no reason is given"
}

// end tells what a test said, where it failed.
func (r *report) end(t test, failed bool) {
	if r.passed[t] || failed {
		delete(r.skipped, t)
	}
	switch {
	case t.name == "" && failed: // what its tests said that did not end: a panic, a time-out
		for _, open := range slices.SortedFunc(maps.Keys(r.said), func(a, b test) int { return strings.Compare(a.name, b.name) }) {
			if open.pkg == t.pkg {
				r.tell(open)
			}
		}
	case t.name == t.top().name && failed:
		r.tell(t)
	case t.name == t.top().name:
		delete(r.said, t)
	}
}

func (r *report) tell(t test) {
	for _, line := range r.said[t] {
		fmt.Fprint(r.out, line)
	}
	delete(r.said, t)
}

// tellSkipped lists the tests that no run has run, by reason.
func (r *report) tellSkipped() {
	why := map[string][]string{}
	n := 0
	for t, reason := range r.skipped {
		if r.passed[t] {
			continue
		}
		n++
		_, short, _ := strings.Cut(t.pkg, "/deckhand/")
		why[reason] = append(why[reason], short+" "+t.name)
	}
	if n == 0 {
		fmt.Fprintln(r.out, "no test was skipped")
		return
	}
	fmt.Fprintf(r.out, "skipped: %d\n", n)
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		names := why[reason]
		slices.Sort(names)
		more := ""
		if len(names) > mostNamed {
			names, more = names[:mostNamed], ", …"
		}
		fmt.Fprintf(r.out, "  %d × %s: %s%s\n", len(why[reason]), reason, strings.Join(names, ", "), more)
	}
}

// mostNamed is how many tests are named beside a reason.
const mostNamed = 3
