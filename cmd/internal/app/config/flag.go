package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// budget lays the flag --budget over a run's limits: "usd=1,time=10m,steps=50".
// What the flag does not name keeps its value.
func (r *reader) budget(to *Limits, text string) {
	parts, err := splitBudget(text)
	if err != nil {
		r.problem(origin{name: "--budget"}, err.Error())
		return
	}
	walk(reflect.ValueOf(to).Elem(), "", func(name string, f reflect.StructField, v reflect.Value) {
		r.set(v, "budget.run."+name, "--budget "+name, parts[name], f.Tag)
	})
}

// splitBudget splits the flag into limits and values.
func splitBudget(text string) (map[string]string, error) {
	known, parts := []string{"usd", "tokens", "time", "steps"}, map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case !ok || value == "":
			return nil, fmt.Errorf("%q is not LIMIT=VALUE, such as usd=1 or time=10m", part)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("unknown limit %q %s", name, didYouMean(name, known))
		case parts[name] != "":
			return nil, fmt.Errorf("%q is there twice", name)
		}
		parts[name] = value
	}
	return parts, nil
}

// yesWords are the words of --yes-to, in the order in which they are kept.
var yesWords = []string{"plan", "reads", "writes", "deletes", "all"}

// ParseYesTo reads "plan,reads,writes": what a run need not ask about. The
// empty text is nothing.
func ParseYesTo(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	given := strings.Split(text, ",")
	for i, word := range given {
		given[i] = strings.TrimSpace(word)
		if !slices.Contains(yesWords, given[i]) {
			return nil, fmt.Errorf("--yes-to: unknown word %q %s", given[i], didYouMean(given[i], yesWords))
		}
	}
	return slices.DeleteFunc(slices.Clone(yesWords), func(w string) bool { return !slices.Contains(given, w) }), nil
}
