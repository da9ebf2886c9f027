package playbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// maxStages is how many stages a playbook may have.
const maxStages = 50

// join reports stages that cannot be put together: what is missing, made twice, or
// waits for itself.
func (b Playbook) join() []Fault {
	j := joints{b: b, stages: map[string]int{}, makers: map[string]int{}}
	if len(b.Stages) > maxStages {
		j.fault("stages", "%d stages, at most %d are worked", len(b.Stages), maxStages)
		return j.faults
	}
	for i, s := range b.Stages {
		j.look(i, s)
	}
	for i, s := range b.Stages {
		j.take(i, s)
	}
	if len(j.faults) == 0 {
		j.circle()
	}
	inputs := map[string]bool{}
	for i, in := range b.Inputs {
		if !validName(in.Name) || inputs[in.Name] {
			j.fault("inputs."+strconv.Itoa(i), "input %q: each needs a name of its own of letters, digits, - and _", in.Name)
		}
		inputs[in.Name] = true
	}
	return j.faults
}

// joints are the stages of a playbook by what they make.
type joints struct {
	b      Playbook
	stages map[string]int
	makers map[string]int // artifact → stage
	faults []Fault
}

func (j *joints) fault(place, format string, args ...any) {
	j.faults = append(j.faults, Fault{j.b.File, j.b.lines.of(place), fmt.Sprintf(format, args...)})
}

// look takes in what a stage makes.
func (j *joints) look(i int, s Stage) {
	at := "stages." + strconv.Itoa(i)
	if !validName(s.Name) {
		j.fault(at, "stage %d: name %q: it needs a name of letters, digits, - and _", i+1, s.Name)
	}
	if first, twice := j.stages[s.Name]; twice {
		j.fault(at, "stage %s is there twice: stages %d and %d", s.Name, first+1, i+1)
	}
	j.stages[s.Name] = i
	if s.Role == "" {
		j.fault(at, "stage %s has no role", s.Name)
	}
	if len(s.Out) == 0 {
		j.fault(at, "stage %s gives nothing: name its artifacts under out", s.Name)
	}
	j.give(i, s)
	if c := s.Check; c != nil && c.Command == "" && c.File == "" && len(c.Schema) == 0 && c.Query == "" {
		j.fault(at+".check", "stage %s: a check has a command, a file, a schema or a query", s.Name)
	}
	if s.Effort < 0 || s.Value < 0 || s.Value > 10 {
		j.fault(at, "stage %s: effort counts minutes and value is 1 to 10", s.Name)
	}
}

// give takes in the artifacts of a stage.
func (j *joints) give(i int, s Stage) {
	for n, o := range s.Out {
		place := "stages." + strconv.Itoa(i) + ".out." + strconv.Itoa(n)
		if !validName(o.Name) {
			j.fault(place, "stage %s: artifact %q needs a name of letters, digits, - and _", s.Name, o.Name)
		}
		if first, twice := j.makers[o.Name]; twice {
			j.fault(place, "artifact %s is made by the stages %s and %s: one of them has to make it", o.Name, j.b.Stages[first].Name, s.Name)
		}
		j.makers[o.Name] = i
	}
}

// take looks whether there is what a stage takes.
func (j *joints) take(i int, s Stage) {
	at := "stages." + strconv.Itoa(i)
	for n, in := range s.In {
		place := at + ".in." + strconv.Itoa(n)
		from, made := j.makers[in.Name]
		switch {
		case !made:
			j.fault(place, "stage %s takes %q, which no stage gives%s", s.Name, in.Name, nearest(in.Name, keys(j.makers)))
		case from == i:
			j.fault(place, "stage %s takes %q, which it makes itself", s.Name, in.Name)
		case in.Type != "" && !sameType(in.Type, typeOf(j.b.Stages[from], in.Name)):
			j.fault(place, "stage %s takes %s as %s, and stage %s gives it as %s", s.Name, in.Name, in.Type, j.b.Stages[from].Name, typeOf(j.b.Stages[from], in.Name))
		}
	}
	for n, name := range s.After {
		if _, known := j.stages[name]; !known {
			j.fault(at+".after."+strconv.Itoa(n), "stage %s comes after %q, which is no stage%s", s.Name, name, nearest(name, keys(j.stages)))
		}
	}
}

// circle reports stages that wait for each other.
func (j *joints) circle() {
	done := map[int]bool{}
	for {
		more := false
		for i, s := range j.b.Stages {
			waits := slices.ContainsFunc(s.needs(j.makers, j.stages), func(n int) bool { return !done[n] })
			if !done[i] && !waits {
				done[i], more = true, true
			}
		}
		if !more {
			break
		}
	}
	var round []string
	first := -1
	for i, s := range j.b.Stages {
		if !done[i] {
			if first < 0 {
				first = i
			}
			round = append(round, s.Name)
		}
	}
	if first >= 0 {
		j.fault("stages."+strconv.Itoa(first), "the stages %s wait for each other in a circle", strings.Join(round, ", "))
	}
}

// needs are the stages that come before.
func (s Stage) needs(makers, stages map[string]int) []int {
	var list []int
	for _, in := range s.In {
		list = append(list, makers[in.Name])
	}
	for _, name := range s.After {
		list = append(list, stages[name])
	}
	return list
}

func typeOf(s Stage, artifact string) string {
	for _, o := range s.Out {
		if o.Name == artifact {
			return o.Type
		}
	}
	return ""
}

// sameType compares media types and words; one that is not given is any.
func sameType(a, b string) bool {
	return a == "" || b == "" || a == "any" || b == "any" || strings.EqualFold(a, b) || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// Check reports what of roles and playbooks does not go together with each other
// and with the tools that there are; nil tools: they are not judged. A tool whose
// name ends in "?" may be missing.
func (l *Library) Check(tools []string) []Fault {
	var faults []Fault
	for _, r := range l.Roles {
		for i, t := range r.Tools {
			if tools != nil && !strings.HasSuffix(t, "?") && !slices.Contains(tools, t) {
				faults = append(faults, Fault{r.File, r.lines.of("tools." + strconv.Itoa(i)), fmt.Sprintf("the role %s names the tool %q, which does not exist here%s", r.Name, t, nearest(t, tools))})
			}
		}
	}
	for _, b := range l.Playbooks {
		faults = append(faults, l.cast(b, tools)...)
	}
	return faults
}

// cast looks whether each stage has its role and the role may do it.
func (l *Library) cast(b Playbook, tools []string) []Fault {
	j := joints{b: b, makers: map[string]int{}}
	for i, s := range b.Stages {
		for _, o := range s.Out {
			j.makers[o.Name] = i
		}
	}
	for i, s := range b.Stages {
		at := "stages." + strconv.Itoa(i)
		if _, known := l.Role(s.Reviewer); s.Reviewer != "" && !known {
			j.fault(at+".reviewer", "stage %s is reviewed by the role %q, which does not exist%s", s.Name, s.Reviewer, nearest(s.Reviewer, l.roleNames()))
		}
		r, known := l.Role(s.Role)
		if !known {
			j.fault(at+".role", "stage %s is for the role %q, which does not exist%s", s.Name, s.Role, nearest(s.Role, l.roleNames()))
			continue
		}
		j.equip(at, s, r, tools)
		for n, o := range s.Out {
			if !takes(r.Publishes, o.Type) {
				j.fault(at+".out."+strconv.Itoa(n), "the role %s does not publish %s (%s)", r.Name, o.Type, o.Name)
			}
		}
		for n, in := range s.In {
			if t := typeOf(b.Stages[j.makers[in.Name]], in.Name); !takes(r.Subscribes, t) {
				j.fault(at+".in."+strconv.Itoa(n), "the role %s does not subscribe to %s (%s)", r.Name, t, in.Name)
			}
		}
	}
	return j.faults
}

// equip looks whether there are the tools of a stage and its role may use them.
func (j *joints) equip(at string, s Stage, r Role, tools []string) {
	for n, t := range s.Tools {
		place := at + ".tools." + strconv.Itoa(n)
		plain := strings.TrimSuffix(t, "?")
		if tools != nil && plain == t && !slices.Contains(tools, t) {
			j.fault(place, "stage %s names the tool %q, which does not exist here%s", s.Name, t, nearest(t, tools))
		}
		if len(r.Tools) > 0 && !slices.Contains(r.Tools, plain) && !slices.Contains(r.Tools, plain+"?") {
			j.fault(place, "stage %s names the tool %q, which its role %s may not use", s.Name, plain, r.Name)
		}
	}
}

// takes reports whether a list of types has the type; an empty list has all.
func takes(types []string, t string) bool {
	return len(types) == 0 || t == "" || slices.ContainsFunc(types, func(have string) bool { return sameType(have, t) })
}

func keys(m map[string]int) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// nearest names the candidate that a name probably means, as the end of a sentence.
func nearest(name string, candidates []string) string {
	if best := format.Nearest(name, candidates, 3); best != "" {
		return fmt.Sprintf("; the nearest is %q", best)
	}
	return ""
}
