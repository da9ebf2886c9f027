package estimate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Range is a figure with what it is at best and at worst: the first and the last
// tenth of what was seen lie outside of it.
type Range struct {
	Low    float64 `json:"low"`
	Likely float64 `json:"likely"`
	High   float64 `json:"high"`
}

func (r Range) times(f float64) Range { return Range{r.Low * f, r.Likely * f, r.High * f} }

func (r Range) plus(o Range) Range { return Range{r.Low + o.Low, r.Likely + o.Likely, r.High + o.High} }

func (r Range) by(o Range) Range { return Range{r.Low * o.Low, r.Likely * o.Likely, r.High * o.High} }

// Basis is what estimates multiply by.
type Basis struct {
	// Runs is how many ended runs it was learnt from, Similar how many of them
	// have a goal like this one (then it was learnt from those alone). Both 0: the
	// figures are the usual ones.
	Runs, Similar int
	// Tasks is how many tasks a run has, for goals without a plan.
	Tasks Range
	// Calls, Prompt and Completion are model calls of a task, the judge's
	// included, and tokens of a call. Cached is the share of Prompt that providers
	// had in their cache.
	Calls, Prompt, Completion Range
	Cached                    float64
	// Model is the seconds of a call, Compute the tools' of a task.
	Model, Compute Range
	// Pace is the seconds that a task takes for each minute of its effort.
	Pace Range
	// Around is the model calls that are no task's: planning and the report.
	Around Range
}

// usual is what is reckoned with where no run has ended yet: a task with three
// tool calls and a judge, at the pace of its effort.
var usual = Basis{
	Tasks: Range{2, 4, 8}, Calls: Range{2, 4, 10},
	Prompt: Range{1500, 3000, 8000}, Completion: Range{80, 200, 800},
	Model: Range{1, 4, 12}, Compute: Range{0, 2, 60}, Pace: Range{15, 60, 120}, Around: Range{2, 2, 4},
}

// fewest is how many runs with a like goal are enough to leave the others out;
// like is the share of common words from which goals are alike.
const (
	fewest = 3
	like   = 0.3
)

// Learn makes a basis from ended runs, from those with a goal like this one where
// there are enough of them. An empty goal is like none.
func Learn(goal string, samples []Sample) Basis {
	var near []Sample
	words := wordsOf(goal)
	for _, s := range samples {
		if len(words) > 0 && jaccard(words, wordsOf(s.Goal)) >= like {
			near = append(near, s)
		}
	}
	b := Basis{Runs: len(samples)}
	if len(near) >= fewest {
		samples, b.Similar = near, len(near)
	}
	if len(samples) == 0 {
		return usual
	}
	var all Use
	var tasks, calls, prompt, completion, model, compute, pace, around []float64
	each := func(u Use) {
		all.add(u)
		if n := float64(u.Calls); n > 0 {
			prompt, completion = append(prompt, float64(u.Prompt)/n), append(completion, float64(u.Completion)/n)
			model = append(model, u.Model.Seconds()/n)
		}
	}
	for _, s := range samples {
		tasks, around = append(tasks, float64(len(s.Tasks))), append(around, float64(s.Around.Calls))
		each(s.Around)
		for _, t := range s.Tasks {
			each(t.Use)
			calls, compute = append(calls, float64(t.Calls)), append(compute, t.Compute.Seconds())
			if t.Effort > 0 {
				pace = append(pace, t.Busy().Seconds()/t.Effort)
			}
		}
	}
	b.Tasks, b.Around, b.Calls = spread(tasks), spread(around), spread(calls)
	b.Prompt, b.Completion, b.Model = spread(prompt), spread(completion), spread(model)
	b.Compute, b.Pace = spread(compute), usual.Pace
	if len(pace) > 0 {
		b.Pace = spread(pace)
	}
	if all.Prompt > 0 {
		b.Cached = float64(all.Cached) / float64(all.Prompt)
	}
	return b
}

// Says is what the basis is, as the end of a sentence.
func (b Basis) Says() string {
	switch {
	case b.Similar > 0:
		return format.Count(b.Similar, "run") + " of this store with a similar goal"
	case b.Runs > 0:
		return format.Count(b.Runs, "run") + " of this store"
	}
	return "usual figures: no run of this store has ended yet"
}

// spread is the first tenth, the middle and the last tenth of the values.
func spread(values []float64) Range {
	if len(values) == 0 {
		return Range{}
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[int(share*float64(len(values)-1)+0.5)] }
	return Range{at(0.1), at(0.5), at(0.9)}
}

func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[w] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
