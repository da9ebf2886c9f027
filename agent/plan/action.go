package plan

// This file holds rule V12: a task must do something. It finds tasks that
// only plan or that repeat the goal, by looking at the verbs and objects of
// their texts.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// checkActions is V12. A foreign plan names tools, which are actions.
func checkActions(d *draft) {
	if d.foreign() {
		return
	}
	js := d.judged()
	goals := []wordSet{wordsOf(d.o.Goal)}
	if len(d.plan.Goals) == 1 {
		goals = append(goals, wordsOf(d.plan.Goals[0]))
	}
	asked := wordsOf(append([]string{d.o.Goal}, d.plan.Goals...)...)
	for _, i := range js {
		t := d.plan.Tasks[i]
		if len(t.Tools) == 0 && len(t.Outputs) == 0 && strings.TrimSpace(t.Acceptance) == "" && t.Check == nil {
			d.fail("V12", t.ID, "%s is not actionable: it has no tool, no output and no acceptance", t.ID)
			continue
		}
		if strings.TrimSpace(t.Title+t.Instructions) == "" {
			d.fail("V12", t.ID, "%s is not actionable: it has neither a title nor instructions", t.ID)
			continue
		}
		if onlyPlanning(t, asked) {
			d.fail("V12", t.ID, "%s (%q) is not actionable: it only plans; name what is to be done, with which tool, "+
				"and what comes of it", t.ID, format.Cut(t.Title, 80))
			continue
		}
		if what := restated(d, t, goals, len(js) == 1); what != "" {
			d.fail("V12", t.ID, "%s (%q) is not actionable: it only restates %s; divide it into steps or say how it is done",
				t.ID, format.Cut(t.Title, 80), what)
		}
	}
}

// restateShare is the token Jaccard from which a title restates another text.
const restateShare = 0.8

// restated names what the task says once more, "" if nothing.
func restated(d *draft, t agent.Task, goals []wordSet, alone bool) string {
	title, how := wordsOf(t.Title), wordsOf(t.Instructions)
	enough := 3
	if alone && executable(t) {
		enough = 1
	}
	both := wordsOf(t.Title, t.Instructions)
	says := func(set wordSet) bool {
		if how.beyond(title, set) >= enough {
			return false
		}
		return jaccard(title, set) >= restateShare || jaccard(both, set) >= restateShare
	}
	if slices.ContainsFunc(goals, says) {
		return "the goal"
	}
	if p := d.parent(t.ID); p != "" {
		if i, known := d.index[p]; known && says(wordsOf(d.plan.Tasks[i].Title)) {
			return "its parent " + string(p)
		}
	}
	return ""
}

// executable: something does it, and something tells whether it was done.
func executable(t agent.Task) bool {
	return len(t.Tools) > 0 && (len(t.Outputs) > 0 || strings.TrimSpace(t.Acceptance) != "" || t.Check != nil)
}

// planning says how surely a text is about planning only.
type planning int

const (
	noPlanning planning = iota
	weakPlanning
	surePlanning
)

// onlyPlanning decides as the package's documentation says. asked are the words
// of the goal.
func onlyPlanning(t agent.Task, asked wordSet) bool {
	text := t.Title
	if strings.TrimSpace(text) == "" {
		text = t.Instructions
	}
	switch grade, wanted := planningOf(text, asked); grade {
	case surePlanning:
		concrete := concreteText.MatchString(t.Title) || concreteText.MatchString(t.Instructions)
		return len(t.Tools) == 0 || len(t.Outputs) == 0 || !concrete && !wanted
	case weakPlanning:
		return !executable(t)
	case noPlanning:
	}
	return false
}

// concreteText finds what planning talk has not: a file name, a path, an
// address, quoted text, code, a placeholder.
var concreteText = regexp.MustCompile("[\\w-]{2,}\\.[A-Za-z][A-Za-z0-9]{0,5}\\b|(?:^|\\s)(?:\\.{0,2}|~)/[\\w.-]|" +
	"https?://|\"[^\"]+\"|“[^”]+”|`[^`]+`|\\$\\{")

var (
	clauseEnd = regexp.MustCompile(`(?i)[.;:,!?]\s+|[.;:,!?]$|\n+|\s+(?:and|then|&|\+)\s+|\s[–—-]\s`)
	numbering = regexp.MustCompile(`(?i)^\s*(?:(?:step|task|phase|part)\s*)?\d+(?:\.\d+)*\s*[.:)\]–—-]+\s*|^\s*[-*•]\s*`)
)

// planningOf grades the text by its parts: all must be planning, the least sure
// one counts. wanted says that the goal itself asks for it.
func planningOf(text string, asked wordSet) (grade planning, wanted bool) {
	grade = noPlanning
	for _, clause := range clauseEnd.Split(numbering.ReplaceAllString(text, ""), -1) {
		ws := lead(words(clause))
		if len(ws) == 0 {
			continue
		}
		g, key := clausePlanning(ws)
		if g == noPlanning {
			return noPlanning, false
		}
		wanted = wanted || key != "" && asked[key]
		if grade == noPlanning || g < grade {
			grade = g
		}
	}
	return grade, wanted
}

// lead drops words before the verb.
func lead(ws []string) []string {
	for len(ws) > 0 && leadWords[ws[0]] {
		ws = ws[1:]
	}
	return ws
}

// clausePlanning grades one clause. key is the stem that a goal would contain if
// it asked for just this.
func clausePlanning(ws []string) (grade planning, key string) {
	if len(ws) > 3 && ws[0] == "come" && ws[1] == "up" && ws[2] == "with" {
		return makes(ws[3:])
	}
	verb, rest := stem(ws[0]), ws[1:]
	talk, other := objects(rest)
	switch {
	case sureVerbs[verb]:
		return surePlanning, verb
	case verb == "break" || verb == "breakdown" || partVerbs[verb]:
		return breakDown(verb, rest)
	case makers[verb]:
		return makes(rest)
	case weakVerbs[verb] && talk >= other:
		return surePlanning, verb
	case weakVerbs[verb], workVerbs[verb] && talk > 0 && other == 0:
		return weakPlanning, verb
	}
	return noPlanning, ""
}

// breakDown is "break down X" and "break X down", not "break the build".
func breakDown(verb string, rest []string) (planning, string) {
	down := verb == "breakdown"
	kept := make([]string, 0, len(rest))
	for _, w := range rest {
		if w == "down" || w == "up" {
			down = true
			continue
		}
		kept = append(kept, w)
	}
	talk, other := objects(kept)
	switch {
	case !down && talk == 0:
		return noPlanning, ""
	case talk >= other:
		return surePlanning, verb
	case !down:
		return noPlanning, ""
	}
	return weakPlanning, verb
}

// makes grades "create a roadmap": a verb that makes, and a plan that is made.
func makes(rest []string) (planning, string) {
	made, list := "", false
	for _, w := range rest {
		if headEnd[w] && made != "" {
			break
		}
		list = list || w == "list" || w == "lists"
		if !stopWords[w] && !headEnd[w] && !generic[stem(w)] {
			made = stem(w)
		}
	}
	if !planTexts[made] && (!list || !planNouns[made]) {
		return noPlanning, ""
	}
	if talk, other := objects(rest); other > 0 && talk <= other {
		return weakPlanning, made
	}
	return surePlanning, made
}

// objects counts the words that speak of planning itself, and the others.
func objects(ws []string) (talk, other int) {
	for _, w := range ws {
		s := stem(w)
		switch {
		case stopWords[w], generic[s], headEnd[w]:
		case planNouns[s], planTexts[s], sureVerbs[s], weakVerbs[s]:
			talk++
		default:
			other++
		}
	}
	return talk, other
}

var (
	leadWords = fields(`first firstly second secondly third next finally lastly then also please now just carefully
		clearly to we i you let us lets should must will need and the a an start begin by`)
	// Verbs that only plan; that plan unless they have another object; that divide;
	// that are work unless planning is their object; and those that make.
	sureVerbs = stems("plan prioritise replan strategise roadmap")
	weakVerbs = stems("identify determine define decide outline brainstorm consider clarify figure think understand")
	partVerbs = stems("decompose divide split subdivide")
	workVerbs = stems(`list analyse analyze assess evaluate review discuss research gather rank allocate estimate
		establish refine revise organise schedule arrange`)
	makers = stems("create make draft develop write prepare produce generate build formulate design devise construct lay do")
	// planTexts are what planning makes, planNouns what it is about.
	planTexts = stems(`plan roadmap timeline strategy backlog milestone schedule todo outline breakdown approach
		prioritisation priority workplan`)
	planNouns = stems(`goal task subtask step substep resource requirement objective project priority problem
		milestone deliverable action item workload activity phase stage scope deadline importance urgency criteria`)
	generic = stems(`required needed necessary next key main smaller small manageable clear detailed detail high low
		level new major important relevant possible potential first initial overall different various actionable
		concrete individual specific appropriate available essential critical given current based down up out through
		using more most further achievable realistic tool achieve accomplish complete reach meet completion
		comprehensive list`)
	headEnd = fields("for to of into in on with by from that which about based using")
)
