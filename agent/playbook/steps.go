package playbook

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// ErrSteps is the cause where a text is no list of steps.
var ErrSteps = errors.New("no list of steps: write one step a line, each beginning with its number: 1. …")

// step begins a line with a number: "1. ", "2) ", "Step 3: ".
var step = regexp.MustCompile(`(?i)^\s*(?:step\s+)?(\d{1,3})\s*[.):]\s+(\S.*)$`)

// maxTitle is where the title of a step ends that is longer, in characters.
const maxTitle = 80

// Steps makes a plan of a person's own list, "1. … 2. … 3. …": each step is a task
// that comes after the one before it, in the person's words. Lines before the first
// number are what they say about all of it, lines behind a step belong to it. On one
// line the numbers count up from 1.
func Steps(text string) (agent.Plan, error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if numbered(lines) < 2 {
		lines = apart(text)
	}
	var p agent.Plan
	var about []string
	for n, line := range lines {
		m := step.FindStringSubmatch(line)
		want := len(p.Tasks) + 1
		switch {
		case m != nil && m[1] == strconv.Itoa(want):
			t := agent.Task{ID: agent.TaskID("s" + m[1]), Instructions: strings.TrimSpace(m[2]), Effort: 5, Value: 5,
				Acceptance: "what the step says is done", Outputs: []agent.OutputSpec{{Name: "s" + m[1] + "_result", Description: "what came of the step"}}}
			if want > 1 {
				t.DependsOn, t.Inputs = []agent.TaskID{p.Tasks[want-2].ID}, []string{p.Tasks[want-2].Outputs[0].Name}
			}
			p.Tasks = append(p.Tasks, t)
		case m != nil && len(p.Tasks) > 0 && line[0] != ' ' && line[0] != '\t':
			return p, fmt.Errorf("line %d is step %s, and step %d is missing: %w", n+1, m[1], want, ErrSteps)
		case len(p.Tasks) > 0:
			last := &p.Tasks[len(p.Tasks)-1]
			last.Instructions = strings.TrimSpace(last.Instructions + "\n" + strings.TrimRight(line, " \t"))
		case strings.TrimSpace(line) != "":
			about = append(about, strings.TrimSpace(line))
		}
	}
	if len(p.Tasks) < 2 {
		return p, fmt.Errorf("the text has %s: %w", format.Count(len(p.Tasks), "step"), ErrSteps)
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Title = format.LineStart(t.Instructions, maxTitle)
		t.Instructions = strings.ReplaceAll(t.Instructions, "${", "$${") // a person's words are no placeholders
	}
	p.Tasks[len(p.Tasks)-1].Deliverable = true
	p.Name = format.LineStart(strings.Join(append(about, p.Tasks[0].Title), " "), maxTitle)
	p.Description = strings.Join(about, "\n")
	return p, nil
}

// numbered is how many of the lines begin with a number.
func numbered(lines []string) int {
	n := 0
	for _, line := range lines {
		if step.MatchString(line) {
			n++
		}
	}
	return n
}

// mark is a number within a line.
var mark = regexp.MustCompile(`(?:^|\s)(\d{1,3})[.)]\s+`)

// apart puts the steps of one line on lines of their own: the numbers that count up.
func apart(text string) []string {
	var lines []string
	from, want := 0, 1
	for _, m := range mark.FindAllStringSubmatchIndex(text, -1) {
		if text[m[2]:m[3]] == strconv.Itoa(want) {
			lines = append(lines, strings.TrimSpace(text[from:m[2]]))
			from, want = m[2], want+1
		}
	}
	return append(lines, strings.TrimSpace(text[from:]))
}
