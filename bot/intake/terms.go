package intake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// terms are what a person asks of a run beyond its goal. Zero values ask nothing.
type terms struct {
	limits    agent.Limits
	approvers []string
	autonomy  agent.Autonomy
	timed     string // the field that bounds the working time
}

// none reports whether nothing is asked beyond the goal.
func (t terms) none() bool {
	return t.limits == (agent.Limits{}) && len(t.approvers) == 0 && t.autonomy == ""
}

// readTerms reads the fields of the form for a new goal.
func readTerms(values map[string]string) (t terms, err error) {
	t.timed = bot.FieldBudget
	if t.limits, err = readBudget(values[bot.FieldBudget]); err != nil {
		return t, err
	}
	if line := strings.TrimSpace(values[bot.FieldDeadline]); line != "" {
		d, err := time.ParseDuration(strings.ReplaceAll(line, " ", ""))
		if err != nil || d <= 0 {
			return t, &form.FieldError{Field: bot.FieldDeadline, Why: "The deadline “" + text.InLine(line, 40) + "” is not understood: write a time of work as 90m or 2h."}
		}
		t.limits.Time, t.timed = d, bot.FieldDeadline
	}
	t.approvers = strings.Fields(values[bot.FieldApprovers])
	t.autonomy = agent.Autonomy(strings.TrimSpace(values[bot.FieldAutonomy]))
	if t.autonomy != "" && !slices.Contains(autonomies, t.autonomy) {
		return t, &form.FieldError{Field: bot.FieldAutonomy, Why: "The autonomy “" + text.InLine(string(t.autonomy), 40) + "” is not known: say suggest, ask-each, ask-risky or within-budget."}
	}
	return t, nil
}

// autonomies from the one that allows least.
var autonomies = []agent.Autonomy{agent.Suggest, agent.AskEach, agent.AskRisky, agent.WithinBudget}

// autonomyWords are the autonomies as people choose among them.
func autonomyWords() []string {
	words := make([]string, len(autonomies))
	for i, a := range autonomies {
		words[i] = string(a)
	}
	return words
}

// readBudget reads dollars, or limits by name.
func readBudget(line string) (l agent.Limits, err error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return l, nil
	}
	if !strings.Contains(line, "=") {
		line = agent.BudgetUSD + "=" + line
	}
	for part := range strings.SplitSeq(line, ",") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		var n int64
		switch name {
		case agent.BudgetUSD:
			l.USD, err = agent.ParseDollars(strings.TrimSpace(strings.TrimPrefix(value, "$")))
			n = int64(l.USD)
		case agent.BudgetTokens:
			l.Tokens, err = strconv.ParseInt(value, 10, 64)
			n = l.Tokens
		case agent.BudgetTime:
			l.Time, err = time.ParseDuration(value)
			n = int64(l.Time)
		case agent.BudgetSteps:
			l.Steps, err = strconv.ParseInt(value, 10, 64)
			n = l.Steps
		}
		if err != nil || n <= 0 {
			return agent.Limits{}, &form.FieldError{Field: bot.FieldBudget, Why: "The budget “" + text.InLine(part, 40) + "” is not understood: write dollars, or usd=2,tokens=100000,time=1h,steps=50."}
		}
	}
	return l, nil
}

// apply makes the terms part of a brief. A person may only ask for less than
// the place allows, and name approvers only among those who are; an operator
// may ask for more.
func (t terms) apply(b *agent.RunStarted, a authority.Authority, by bot.Person) error {
	free := by.AtTerminal() || authority.Includes(a.Operators, by)
	for _, l := range []struct {
		name, field  string
		asked, limit int64
		show         func(int64) string
	}{
		{"money", bot.FieldBudget, int64(t.limits.USD), int64(b.Limits.USD), func(n int64) string { return "$" + agent.Nano(n).String() }},
		{"tokens", bot.FieldBudget, t.limits.Tokens, b.Limits.Tokens, format.Thousands[int64]},
		{"working time", t.timed, int64(t.limits.Time), int64(b.Limits.Time), func(n int64) string { return format.Duration(time.Duration(n)) }},
		{"model calls", bot.FieldBudget, t.limits.Steps, b.Limits.Steps, format.Thousands[int64]},
	} {
		if l.asked > l.limit && l.limit > 0 && !free {
			return &form.FieldError{Field: l.field, Why: fmt.Sprintf("A run here may have %s of %s at most; an operator may allow more.", l.show(l.limit), l.name)}
		}
	}
	set(&b.Limits.USD, t.limits.USD)
	set(&b.Limits.Tokens, t.limits.Tokens)
	set(&b.Limits.Time, t.limits.Time)
	set(&b.Limits.Steps, t.limits.Steps)
	if t.autonomy != "" && !free && slices.Index(autonomies, t.autonomy) > slices.Index(autonomies, b.Autonomy) {
		return &form.FieldError{Field: bot.FieldAutonomy, Why: "Runs here have the autonomy " + string(b.Autonomy) + " at most; an operator may allow more."}
	}
	set(&b.Autonomy, t.autonomy)
	if len(t.approvers) == 0 {
		return nil
	}
	for _, who := range t.approvers {
		if !free && !nameable(*b, a, who) {
			return &form.FieldError{Field: bot.FieldApprovers, Why: "You may not name " + bot.Mention(who) + " as an approver here."}
		}
	}
	b.Approvers = t.approvers
	return nil
}

// set replaces what is there by what is asked, if anything is.
func set[T comparable](there *T, asked T) {
	var nothing T
	if asked != nothing {
		*there = asked
	}
}

// nameable reports whether a requester may make somebody the approver: one of
// the approvers that are set; where none are, one of the operators if two
// people must look, and anybody if the requester could approve alone.
func nameable(b agent.RunStarted, a authority.Authority, who string) bool {
	list := b.Approvers
	if len(list) == 0 {
		list = a.Approvers
	}
	if len(list) == 0 {
		if a.RequesterMayApprove {
			return true
		}
		list = a.Operators
	}
	return authority.Includes(list, bot.Person{ID: who})
}
