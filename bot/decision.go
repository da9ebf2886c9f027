package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrNotAnAnswer is returned for a line that decides nothing.
var ErrNotAnAnswer = errors.New("not an answer")

// reply is one line of input as JSON (CONTRACT.md, "--json and journal").
type reply struct {
	Checkpoint agent.CheckpointID `json:"checkpoint"`
	Decision   string             `json:"decision"`
	Text       string             `json:"text"`
	Answers    map[string]string  `json:"answers"`
	Arguments  json.RawMessage    `json:"arguments"`
	Plan       *agent.Plan        `json:"plan"`
}

// ReadDecision reads one line as the answer to an open checkpoint of the run:
// a JSON object, or for the oldest open one `y`, `n`, `always`, a choice's text
// or its number. Free text answers a clarifying question. The error wraps
// ErrNotAnAnswer and says what would be one.
func ReadDecision(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return readJSON(r, line, by)
	}
	check := r.OpenCheckpoint()
	if check == nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: nothing is being asked", ErrNotAnAnswer)
	}
	return readWord(*check, line, by)
}

func readJSON(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	var a reply
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: %w", ErrNotAnAnswer, err)
	}
	check := r.OpenCheckpoint()
	if a.Checkpoint != "" {
		c, known := r.Checks[a.Checkpoint]
		if !known {
			return agent.CheckpointDecided{}, fmt.Errorf("%w: %w: %s", ErrNotAnAnswer, ErrNoCheckpoint, a.Checkpoint)
		}
		check = &c
	}
	if check == nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: nothing is being asked", ErrNotAnAnswer)
	}
	if a.Decision == "" && (len(a.Answers) > 0 || a.Text != "") {
		a.Decision = agent.DecideAnswer
	}
	d, err := readWord(*check, a.Decision, by)
	if err != nil {
		return d, err
	}
	d.Text, d.Answers, d.Arguments, d.Plan = a.Text, a.Answers, a.Arguments, a.Plan
	return d, whole(*check, d)
}

// whole checks that a decision brings what it needs.
func whole(c agent.Checkpoint, d agent.CheckpointDecided) error {
	if d.Decision != agent.DecideEdit {
		return nil
	}
	if c.Ask == agent.CheckPlan && d.Plan == nil {
		return fmt.Errorf(`%w: "edit" of a plan needs "plan"`, ErrNotAnAnswer)
	}
	if c.Ask == agent.CheckApproval && len(d.Arguments) == 0 {
		return fmt.Errorf(`%w: "edit" needs "arguments"`, ErrNotAnAnswer)
	}
	return nil
}

// words that stand for a choice.
var words = map[string]string{
	"y": agent.DecideApprove, "yes": agent.DecideApprove, "ok": agent.DecideApprove,
	"n": agent.DecideDeny, "no": agent.DecideDeny,
	"a": agent.DecideAlways, "e": agent.DecideEdit,
	"always in this run": agent.DecideAlways,
}

func readWord(c agent.Checkpoint, word, by string) (agent.CheckpointDecided, error) {
	d := agent.CheckpointDecided{ID: c.ID, By: by, Decision: strings.ToLower(word)}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(c.Choices) {
		d.Decision = c.Choices[n-1]
		return d, nil
	}
	if meant, is := words[d.Decision]; is && (slices.Contains(c.Choices, meant) || (meant == agent.DecideDeny && c.Ask != agent.CheckClarify)) {
		d.Decision = meant
	}
	for _, choice := range c.Choices {
		if strings.EqualFold(choice, d.Decision) {
			d.Decision = choice
			return d, nil
		}
	}
	switch {
	case d.Decision == agent.DecideDeny && (c.Ask == agent.CheckPlan || c.Ask == agent.CheckApproval):
		return d, nil
	case d.Decision == agent.DecideDeny && (c.Ask == agent.CheckBudget || c.Ask == agent.CheckStuck):
		d.Decision = agent.DecideCancel
		return d, nil
	case c.Ask == agent.CheckClarify && word != "":
		d.Decision, d.Text = agent.DecideAnswer, word
		return d, nil
	}
	return d, fmt.Errorf("%w: %q; say one of: %s", ErrNotAnAnswer, word, strings.Join(c.Choices, ", "))
}
