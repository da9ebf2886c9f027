package plan

// This file holds what a plan owes to its roles and its playbook: a role's tools
// are its tasks' tools (V10), its tasks give and take the types that it names
// (V11), a check can be made here (V10), and no stage of the playbook is left out
// (V22).

import (
	"reflect"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// applyRoles gives each task the tools of its role. A tool that the role may not
// use is V10.
func applyRoles(d *draft) {
	for _, i := range d.judged() {
		t := &d.plan.Tasks[i]
		if _, known := d.plan.Role(t.Reviewer); t.Reviewer != "" && !known {
			d.fail("V10", t.ID, "%s is reviewed by the role %q, which does not exist%s", t.ID, t.Reviewer, d.nearest(t.Reviewer, d.roles))
		}
		r, known := d.plan.Role(t.Role)
		if !known || len(r.Tools) == 0 {
			continue
		}
		if len(t.Tools) == 0 {
			t.Tools = slices.Clone(r.Tools)
			continue
		}
		for _, name := range t.Tools {
			if !slices.Contains(r.Tools, name) {
				d.fail("V10", t.ID, "%s needs the tool %q, which its role %s may not use; it has %s", t.ID, name, r.Name, names(r.Tools, 10))
			}
		}
	}
}

func (d *draft) roles() []string {
	list := slices.Clone(d.o.Roles)
	for _, r := range d.plan.Roles {
		list = append(list, r.Name)
	}
	return list
}

// checkArtifacts is V11 for roles: what a task gives is what its role publishes,
// and what it is given its role subscribes to.
func checkArtifacts(d *draft) {
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		r, known := d.plan.Role(t.Role)
		if !known {
			continue
		}
		for _, o := range t.Outputs {
			if len(r.Publishes) > 0 && o.Type != "" && !meet([]string{o.Type}, r.Publishes) {
				d.fail("V11", t.ID, "%s gives %s as %s, and its role %s publishes %s", t.ID, o.Name, o.Type, r.Name, names(r.Publishes, 5))
			}
		}
		for _, in := range t.Inputs {
			if kind := d.typeOf(in); len(r.Subscribes) > 0 && kind != "" && !meet([]string{kind}, r.Subscribes) {
				d.fail("V11", t.ID, "%s takes %s, which is %s, and its role %s subscribes to %s", t.ID, in, kind, r.Name, names(r.Subscribes, 5))
			}
		}
	}
}

// typeOf is the declared type of an output, empty where nobody declares one.
func (d *draft) typeOf(output string) string {
	if j, made := d.producer[output]; made {
		for _, o := range d.plan.Tasks[j].Outputs {
			if o.Name == output {
				return o.Type
			}
		}
	}
	return ""
}

// checkStages is V22: each artifact of each stage is given by a task of the
// stage's role that comes after what the stage takes. The stage's check and
// reviewer are the task's.
func checkStages(d *draft) {
	for _, s := range d.plan.Stages {
		last := -1
		for _, o := range s.Out {
			i, made := d.producer[o.Name]
			if !made {
				d.fail("V22", "", "the stage %q of the playbook %s is left out: no task gives %q", s.Name, d.plan.Playbook, o.Name)
				continue
			}
			last = i
			d.joinStage(i, s)
		}
		if last >= 0 && !d.kept[d.plan.Tasks[last].ID] {
			t := &d.plan.Tasks[last]
			if s.Check != nil && !reflect.DeepEqual(t.Check, s.Check) {
				t.Check = s.Check
			}
			if s.Reviewer != "" {
				t.Reviewer = s.Reviewer
			}
		}
	}
}

// joinStage looks whether a task stands where its stage does.
func (d *draft) joinStage(i int, s agent.Stage) {
	t := &d.plan.Tasks[i]
	if d.kept[t.ID] {
		return
	}
	switch t.Role {
	case "":
		t.Role = s.Role
	case s.Role:
	default:
		d.fail("V22", t.ID, "%s does the stage %q of the playbook %s in the role %s: it is for %s", t.ID, s.Name, d.plan.Playbook, t.Role, s.Role)
	}
	if d.before == nil {
		return // a circle, which is said already
	}
	for _, in := range s.In {
		if j, made := d.producer[in]; made && j != i && !d.before[i].has(j) {
			d.fail("V22", t.ID, "%s does the stage %q of the playbook %s without %q: name it among the inputs", t.ID, s.Name, d.plan.Playbook, in)
		}
	}
}

// checkChecks is V10 for checks: each says one thing, and there is what makes it.
func checkChecks(d *draft) {
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		c := t.Check
		switch {
		case c == nil:
		case c.Command == "" && c.File == "" && len(c.Schema) == 0 && c.Query == "":
			d.fail("V12", t.ID, "the check of %s checks nothing: give it a command, a file, a schema or a query", t.ID)
		case d.o.Lacks == nil:
		default:
			if why := d.o.Lacks(*c); why != "" {
				d.fail("V10", t.ID, "the check of %s cannot be made: %s", t.ID, why)
			}
		}
	}
}
