package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// budget lays the flag --budget over a run's limits. What the flag does not
// name keeps its value.
func (r *reader) budget(to *limits, text string) {
	parts, err := splitBudget(text)
	if err != nil {
		r.problems = append(r.problems, problem{origin{name: "--budget"}, err.Error()})
		return
	}
	v := reflect.ValueOf(to).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if value, given := parts[f.key]; given {
			r.set(v.Field(f.index), "budget.run."+f.key, "--budget "+f.key, value, rulesOf(f.tag))
		}
	}
}

// parseBudget reads "usd=1,time=10m,tokens=20000,steps=50" over the limits
// that hold without it.
func parseBudget(text string, over agent.Limits) (agent.Limits, error) {
	r, l := &reader{origin: origins{}}, limits(over)
	r.budget(&l, text)
	if len(r.problems) > 0 {
		return over, &configError{r.problems}
	}
	return agent.Limits(l), nil
}

// splitBudget splits the flag into limits and values.
func splitBudget(text string) (map[string]string, error) {
	var known []string
	for _, f := range fieldsOf(reflect.TypeFor[limits]()) {
		known = append(known, f.key)
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		_, twice := parts[name]
		switch {
		case !ok || value == "":
			return nil, fmt.Errorf("%q is not LIMIT=VALUE, such as usd=1 or time=10m", part)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("unknown limit %q %s", name, didYouMean(name, known))
		case twice:
			return nil, fmt.Errorf("%q is there twice", name)
		}
		parts[name] = value
	}
	return parts, nil
}

// yesWords are the words of --yes-to, in the order in which they are kept.
var yesWords = []string{"plan", "reads", "writes", "deletes", "all"}

// parseYesTo reads "plan,reads,writes": what a run need not ask about. The
// empty text is nothing.
func parseYesTo(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	given := map[string]bool{}
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(yesWords, word) {
			return nil, fmt.Errorf("--yes-to: unknown word %q %s", word, didYouMean(word, yesWords))
		}
		given[word] = true
	}
	words := make([]string, 0, len(given))
	for _, w := range yesWords {
		if given[w] {
			words = append(words, w)
		}
	}
	return words, nil
}
