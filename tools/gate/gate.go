package gate

// Gate: whether a text asks for what is prohibited, or tells how to.

import (
	"maps"
	"slices"
)

// Refusal is why a text is refused. Rule is the class's name behind "prohibited.".
type Refusal struct {
	Rule   string
	Reason string
}

// Gate holds texts against rules. It is safe for many goroutines.
type Gate struct {
	classes  map[string]Class
	terms    book
	intents  book
	steps    book
	harmless book
}

// New makes a Gate; Load reads rules.
func New(r Rules) *Gate {
	g := &Gate{classes: r.Classes, terms: book{}, intents: book{}, steps: book{}, harmless: book{}}
	for _, name := range slices.Sorted(maps.Keys(r.Classes)) {
		g.terms.add(name, r.Classes[name].Terms)
	}
	for name, list := range r.Intents {
		g.intents.add(name, list)
	}
	g.steps.add("", r.Procedure)
	g.harmless.add("", r.Harmless)
	return g
}

const (
	// near is how many words may stand between a term and an intent.
	near = 10
	// around is how far from a term words of a procedure count.
	around = 80
	// MaxText is how much of a text is looked at, in bytes.
	MaxText = 256 << 10
)

// Either reports whether the text asks for what is prohibited, or tells how to.
func (g *Gate) Either(text string) (r Refusal, refused bool) {
	list := words(start(text))
	if r, refused = g.asks(list); refused {
		return r, true
	}
	return g.tells(list)
}

// Asks reports whether the text asks for what is prohibited.
func (g *Gate) Asks(text string) (r Refusal, refused bool) { return g.asks(words(start(text))) }

func (g *Gate) asks(list []string) (r Refusal, refused bool) {
	terms := g.live(list)
	if len(terms) == 0 {
		return Refusal{}, false
	}
	intents, harmless := g.intents.find(list), g.harmless.find(list)
	for _, t := range terms {
		for _, i := range intents {
			if slices.Contains(g.classes[t.name].With, i.name) && wants(i, t, harmless) {
				return g.refusal(t.name), true
			}
		}
	}
	return Refusal{}, false
}

// wants reports whether the intent is for the term: near it, and not for
// something harmless that stands between ("write a training about …").
func wants(intent, term hit, harmless []hit) bool {
	between := max(intent.from-term.to, term.from-intent.to) - 1
	if between < 0 || between > near {
		return false
	}
	return !slices.ContainsFunc(harmless, func(h hit) bool { return h.from > intent.to && h.to < term.from })
}

// Tells reports whether the text tells how to make what is prohibited.
func (g *Gate) Tells(text string) (r Refusal, refused bool) { return g.tells(words(start(text))) }

func (g *Gate) tells(list []string) (r Refusal, refused bool) {
	terms := g.live(list)
	if len(terms) == 0 {
		return Refusal{}, false
	}
	steps := g.steps.find(list)
	for _, t := range terms {
		need := g.classes[t.name].Steps
		different := map[string]bool{}
		for _, s := range steps {
			if s.from >= t.from-around && s.to <= t.to+around {
				different[s.phrase] = true
			}
		}
		if need > 0 && len(different) >= need {
			return g.refusal(t.name), true
		}
	}
	return Refusal{}, false
}

// live are the terms of a text that no word behind them makes harmless.
func (g *Gate) live(text []string) []hit {
	terms := g.terms.find(text)
	if len(terms) == 0 {
		return nil
	}
	harmless := map[int]bool{} // where such a word begins
	for _, h := range g.harmless.find(text) {
		harmless[h.from] = true
	}
	return slices.DeleteFunc(terms, func(t hit) bool { return harmless[t.to+1] })
}

func (g *Gate) refusal(class string) Refusal {
	return Refusal{Rule: Prohibited + class, Reason: g.classes[class].Reason}
}

// Prohibited begins the names of the gate's rules.
const Prohibited = "prohibited."

func start(text string) string {
	if len(text) > MaxText {
		return text[:MaxText]
	}
	return text
}
