package playbook

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
)

// Library holds roles and playbooks, sorted by name. Nobody changes it.
type Library struct {
	Roles     []Role
	Playbooks []Playbook
}

// File is a file to be read: a role where its name ends in .md, else a playbook.
type File struct {
	Path string
	Data []byte
}

// Read reads files; of two with the same name the later one counts, so that a
// team's own take the place of the shipped ones. A file with faults is left out.
func Read(files []File) (*Library, []Fault) {
	l := &Library{}
	var faults []Fault
	for _, f := range files {
		var wrong []Fault
		switch {
		case len(f.Data) > MaxFile:
			wrong = []Fault{{f.Path, 0, "the file is longer than 256 KiB: put what is long into a file of the workspace"}}
		case strings.HasSuffix(f.Path, ".md"):
			var r Role
			if r, wrong = readRole(f.Path, f.Data); len(wrong) == 0 {
				l.Roles = append(slices.DeleteFunc(l.Roles, func(o Role) bool { return o.Name == r.Name }), r)
			}
		default:
			var b Playbook
			if b, wrong = readPlaybook(f.Path, f.Data); len(wrong) == 0 {
				l.Playbooks = append(slices.DeleteFunc(l.Playbooks, func(o Playbook) bool { return o.Name == b.Name }), b)
			}
		}
		faults = append(faults, wrong...)
	}
	slices.SortFunc(l.Roles, func(a, b Role) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(l.Playbooks, func(a, b Playbook) int { return cmp.Compare(a.Name, b.Name) })
	return l, faults
}

// Role is the role of the name.
func (l *Library) Role(name string) (Role, bool) {
	if i := slices.IndexFunc(l.Roles, func(r Role) bool { return r.Name == name }); i >= 0 {
		return l.Roles[i], true
	}
	return Role{}, false
}

// Playbook is the playbook of the name.
func (l *Library) Playbook(name string) (Playbook, bool) {
	if i := slices.IndexFunc(l.Playbooks, func(b Playbook) bool { return b.Name == name }); i >= 0 {
		return l.Playbooks[i], true
	}
	return Playbook{}, false
}

// Nearest is the playbook that a name probably means, as the end of a sentence.
func (l *Library) Nearest(name string) string {
	list := make([]string, len(l.Playbooks))
	for i, b := range l.Playbooks {
		list[i] = b.Name
	}
	return nearest(name, list)
}

func (l *Library) roleNames() []string {
	list := make([]string, len(l.Roles))
	for i, r := range l.Roles {
		list[i] = r.Name
	}
	return list
}

// Fitting are the playbooks whose words the goal shares, the best first, at most n.
// Words that half of the playbooks have tell nothing.
func (l *Library) Fitting(goal string, n int) []Playbook {
	common := map[string]int{}
	of := make([]map[string]bool, len(l.Playbooks))
	for i, b := range l.Playbooks {
		of[i] = stems(b.Name + " " + b.Title + " " + b.Description + " " + b.When)
		for w := range of[i] {
			common[w]++
		}
	}
	type hit struct {
		b     Playbook
		score float64
	}
	var hits []hit
	said := stems(goal)
	for i, b := range l.Playbooks {
		h := hit{b: b}
		for w := range said {
			if of[i][w] && (2*common[w] <= len(l.Playbooks) || len(l.Playbooks) < 3) {
				h.score += 1 / float64(common[w])
			}
		}
		if h.score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var list []Playbook
	for _, h := range hits[:min(n, len(hits))] {
		list = append(list, h.b)
	}
	return list
}

// few are words that tell nothing about a kind of work.
var few = map[string]bool{"a": true, "an": true, "the": true, "and": true, "or": true, "of": true, "to": true, "in": true, "on": true, "for": true,
	"with": true, "that": true, "it": true, "is": true, "be": true, "by": true, "from": true, "what": true, "when": true, "someth": true, "someone": true, "me": true, "my": true, "our": true}

// stems are the words of a text without common endings.
func stems(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, end := range []string{"ing", "es", "s", "ed"} {
			if rest, is := strings.CutSuffix(w, end); is && len(rest) > 3 {
				w = rest
				break
			}
		}
		if !few[w] {
			set[w] = true
		}
	}
	return set
}

// Line is a playbook in one line, for the planner.
func (b Playbook) Line() string {
	names := make([]string, len(b.Stages))
	for i, s := range b.Stages {
		names[i] = s.Name
	}
	return b.Name + ": " + strings.Join(strings.Fields(cmp.Or(b.When, b.Description)), " ") + " Stages: " + strings.Join(names, " → ") + "."
}

// Shown is the playbook as the planner sees it: its line, and its demonstrations.
func (b Playbook) Shown() string {
	var s strings.Builder
	s.WriteString(b.Line())
	for _, in := range b.Inputs {
		if in.Default == nil {
			s.WriteString("\n  needs the input " + in.Name + ": " + in.Description)
		}
	}
	for _, d := range b.Examples {
		s.WriteString("\n  For example “" + strings.Join(strings.Fields(d.Goal), " ") + "”: " + strings.Join(strings.Fields(d.Plan), " "))
	}
	return s.String()
}

// stages are what plans of the playbook are held to.
func (b Playbook) stages() []agent.Stage {
	list := make([]agent.Stage, len(b.Stages))
	for i, s := range b.Stages {
		list[i] = agent.Stage{Name: s.Name, Role: s.Role, Out: specs(s.Out), Reviewer: s.Reviewer}
		for _, in := range s.In {
			list[i].In = append(list[i].In, in.Name)
		}
		if s.Check != nil {
			list[i].Check = &s.Check.Check
		}
	}
	return list
}

func specs(list []artifact) []agent.OutputSpec {
	var out []agent.OutputSpec
	for _, a := range list {
		out = append(out, agent.OutputSpec{Name: a.Name, Type: a.Type, Description: a.Description})
	}
	return out
}
