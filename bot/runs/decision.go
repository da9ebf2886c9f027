package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// What counts as an answer to a question: words, numbers, JSON; and what it
// comes to, with a quorum.

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
// or its number. Free text answers a clarifying question, and lets a run that is
// stuck try again. The error wraps
// ErrNotAnAnswer and says what would be one.
func ReadDecision(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return readJSON(r, line, by)
	}
	check := r.OpenCheckpoint()
	if check == nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: nothing is being asked", bot.ErrNotAnAnswer)
	}
	d, err := ReadWord(*check, line, by)
	if hint, no := ReadHint(*check, line, by); err != nil && no == nil {
		return hint, nil
	}
	return d, err
}

func readJSON(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	var a reply
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: %w", bot.ErrNotAnAnswer, err)
	}
	check := r.OpenCheckpoint()
	if a.Checkpoint != "" {
		c, known := r.Checks[a.Checkpoint]
		if !known {
			return agent.CheckpointDecided{}, fmt.Errorf("%w: %w: %s", bot.ErrNotAnAnswer, ErrNoCheckpoint, a.Checkpoint)
		}
		check = &c
	}
	if check == nil {
		return agent.CheckpointDecided{}, fmt.Errorf("%w: nothing is being asked", bot.ErrNotAnAnswer)
	}
	if a.Decision == "" && (len(a.Answers) > 0 || a.Text != "") {
		a.Decision = agent.DecideAnswer
		if TakesHint(*check) {
			a.Decision = agent.DecideRetry
		}
	}
	d, err := ReadWord(*check, a.Decision, by)
	if err != nil {
		return d, err
	}
	if a.Text != "" {
		d.Text = a.Text // else the word itself may be the answer
	}
	d.Answers, d.Arguments, d.Plan = a.Answers, a.Arguments, a.Plan
	return d, complete(*check, d)
}

// complete checks that a decision brings what it needs.
func complete(c agent.Checkpoint, d agent.CheckpointDecided) error {
	if d.Decision != agent.DecideEdit {
		return nil
	}
	if c.Ask == agent.CheckPlan && d.Plan == nil {
		return fmt.Errorf(`%w: "edit" of a plan needs "plan"`, bot.ErrNotAnAnswer)
	}
	if c.Ask == agent.CheckApproval {
		var object map[string]json.RawMessage
		if json.Unmarshal(d.Arguments, &object) != nil || object == nil {
			return fmt.Errorf(`%w: "edit" needs "arguments": the JSON object to call %s with`, bot.ErrNotAnAnswer, c.Tool)
		}
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

// ReadWord reads a word as a decision of the question.
func ReadWord(c agent.Checkpoint, word, by string) (agent.CheckpointDecided, error) {
	d := agent.CheckpointDecided{ID: c.ID, By: by, Decision: strings.ToLower(word)}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(c.Choices) {
		d.Decision = c.Choices[n-1]
		return d, nil
	}
	if meant, is := words[d.Decision]; is && (slices.Contains(c.Choices, meant) || (meant == agent.DecideDeny && !TakesAnswer(c))) {
		d.Decision = meant
	}
	if meant, is := ChoiceOf(c, d.Decision); is {
		d.Decision = meant
		return d, nil
	}
	if TakesAnswer(c) && word != "" {
		d.Decision, d.Text = agent.DecideAnswer, word
		return d, nil
	}
	return d, notOffered(c, word)
}

// ChoiceOf is what the word decides: a choice of the question in any case, another
// share of a budget ("+50 %") than those offered, or a denial, which every question but one about facts understands.
func ChoiceOf(c agent.Checkpoint, word string) (string, bool) {
	for _, choice := range c.Choices {
		if strings.EqualFold(choice, word) {
			return choice, true
		}
	}
	if c.Ask == agent.CheckBudget && agent.Raise(word) > 0 && slices.Contains(c.Choices, agent.DecideMore25) {
		return word, true
	}
	if word != agent.DecideDeny {
		return "", false
	}
	switch c.Ask {
	case agent.CheckPlan, agent.CheckApproval:
		return agent.DecideDeny, true
	case agent.CheckBudget, agent.CheckStuck:
		return agent.DecideCancel, true
	case agent.CheckClarify:
		return agent.DecideCancel, !TakesAnswer(c) && slices.Contains(c.Choices, agent.DecideCancel)
	case agent.CheckUncertain:
	}
	return "", false
}

// TakesAnswer reports whether the question takes an answer in a person's own words.
func TakesAnswer(c agent.Checkpoint) bool {
	return c.Ask == agent.CheckClarify && slices.Contains(c.Choices, agent.DecideAnswer)
}

// matchChoice makes sure that the decision answers the question: with one of its
// words, and with everything that the word needs.
func matchChoice(c agent.Checkpoint, d agent.CheckpointDecided) (agent.CheckpointDecided, error) {
	meant, is := ChoiceOf(c, d.Decision)
	if !is && TakesAnswer(c) && (d.Decision == agent.DecideAnswer || d.Decision == agent.DecideDeny) {
		meant, is = d.Decision, true
	}
	if !is {
		return d, notOffered(c, d.Decision)
	}
	d.Decision, d.Covers = meant, nil
	if c.Ask == agent.CheckPlan && meant == agent.DecideApprove {
		d.Covers = c.Writes // which the question named
	}
	return d, complete(c, d)
}

// decisionEvent is what a decision comes to: it closes the question, or is one of
// the approvals that are needed, with how many more.
func decisionEvent(r agent.Run, c agent.Checkpoint, d agent.CheckpointDecided, by bot.Person) (b agent.Body, more int, err error) {
	if err := complete(c, d); err != nil {
		return nil, 0, err
	}
	d, err = matchChoice(c, d)
	if err != nil {
		return nil, 0, fmt.Errorf("checkpoint %s: %w", c.ID, err)
	}
	quorum := r.Asking(c).Brief.Quorum
	if quorum < 2 || by.AtTerminal() || (c.Ask != agent.CheckPlan && c.Ask != agent.CheckApproval) {
		return d, 0, nil
	}
	switch d.Decision {
	case agent.DecideApprove, agent.DecideAlways:
	case agent.DecideEdit:
		if c.Ask == agent.CheckPlan { // it would be accepted at once
			return nil, 0, fmt.Errorf("%w: this plan needs %d approvals, so nobody changes it alone; deny it and say what should change", bot.ErrNotAnAnswer, quorum)
		}
		return d, 0, nil
	default:
		return d, 0, nil
	}
	more = quorum - len(c.Votes) - 1
	if c.Voted(by.ID) {
		return nil, 0, fmt.Errorf("checkpoint %s: %w; %d more needed", c.ID, ErrVoted, more+1)
	}
	if more > 0 {
		return agent.CheckpointVoted{ID: d.ID, Decision: d.Decision, By: d.By, Text: d.Text}, more, nil
	}
	for _, v := range c.Votes {
		if v.Decision != d.Decision { // not everybody meant more than this call
			d.Decision = agent.DecideApprove
		}
	}
	return d, 0, nil
}

// Labels are the words that buttons show for a decision (CONTRACT.md, "Chat").
var Labels = map[string]string{
	agent.DecideApprove: "Approve", agent.DecideDeny: "Deny", agent.DecideEdit: "Edit", agent.DecideAlways: "Always in this run",
	agent.DecideCancel: "Cancel", agent.DecideForMe: "Decide for me", agent.DecideMore25: "+25 %", agent.DecideMore100: "+100 %",
	agent.DecideFinish: "Finish with what you have", agent.DecideRetry: "Try again", agent.DecideRepeat: "Repeat",
	agent.DecideSkip: "Skip", agent.DecideDone: "Done",
}
