package loop

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	stdreflect "reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// maxRepairs is how often a broken plan goes back to the model before a person
// is asked (RULES.md, "Plan").
const maxRepairs = 2

// planner takes plans of the model and starts their tasks.
type planner struct{ *turn }

// submit takes a plan: validates it, asks people where they want to be asked,
// and makes it the run's plan.
func (pl planner) submit(view *agent.Run, c agent.OpenCall, a submission) {
	if check, asked := view.Checks[c.Checkpoint]; asked {
		pl.decided(view, c, check, a.Reason)
		return
	}
	normal, findings := pl.validate(view, a)
	if errs := errorsOf(findings); errs != "" {
		if pl.conversation(view).Repairs < maxRepairs {
			pl.event(agent.CallReplied{Effect: c.Effect, Problem: true, Repair: true,
				Text: "error: the plan breaks these rules; submit it again, mended:\n" + errs})
			return
		}
		pl.askPlan(view, c, a.Plan, nil, "The plan is still broken after two repairs", errs,
			agent.DecideEdit, agent.DecideRetry, agent.DecideCancel)
		return
	}
	if pl.needsApproval(view, normal) && !approvedBefore(view, normal) {
		pl.askPlan(view, c, normal, findings, "May I work by this plan?", plan.Text(normal, nil),
			agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel)
		return
	}
	pl.accept(c, agent.PlanAccepted{Plan: normal, Reason: a.Reason, Findings: findings})
}

func (pl planner) askPlan(view *agent.Run, c agent.OpenCall, p agent.Plan, found []agent.PlanFinding, title, detail string, choices ...string) {
	writes, under := pl.coverable(view, p, choices)
	pl.openCheckpoint(view, agent.CheckpointOpened{Ask: agent.CheckPlan, Title: title, Detail: detail,
		Effect: c.Effect, Plan: &p, Findings: agent.Doubts(found), Choices: choices, Writes: writes, Policy: under})
}

// maxCovered is how many files the approval of one plan covers.
const maxCovered = 20

// coverable are the files that the plan's open tasks name to change and that people
// can allow by approving the plan: those whose change the policy would ask
// about, where one approval may cover more than one call. Under is the version of
// that policy.
func (pl planner) coverable(view *agent.Run, p agent.Plan, choices []string) (list []string, under string) {
	if !slices.Contains(choices, agent.DecideApprove) {
		return nil, ""
	}
	for _, task := range p.Tasks {
		writer, writes := pl.writer(task)
		if !writes || view.Tasks[task.ID].State == agent.TaskDone {
			continue
		}
		for _, name := range task.Writes {
			file := path.Clean(strings.ReplaceAll(strings.TrimSpace(name), "\\", "/"))
			if !fs.ValidPath(file) || file == "." || strings.ContainsFunc(file, unicode.IsControl) || slices.Contains(list, file) || len(list) == maxCovered {
				continue
			}
			act := agent.Act{Tool: writer, Class: agent.ClassWrite, Changes: []string{file}, At: pl.now()}
			if w := pl.Policy.Permit(view, act); w.Verdict == agent.Ask && !w.Once && w.Grant != "" {
				list, under = append(list, file), w.Version
			}
		}
	}
	return list, under
}

// writer is a tool of the task that changes files.
func (pl planner) writer(task agent.Task) (agent.ToolSpec, bool) {
	for _, spec := range pl.Tools.Specs() {
		if spec.Class == agent.ClassWrite && (len(task.Tools) == 0 || slices.Contains(task.Tools, spec.Name)) {
			return spec, true
		}
	}
	return agent.ToolSpec{}, false
}

// decided turns a person's word on a plan into a reply, a new question or the plan.
func (pl planner) decided(view *agent.Run, c agent.OpenCall, check agent.Checkpoint, reason string) {
	d := check.Decision
	p := *check.Plan
	switch {
	case d.Decision == agent.DecideApprove || d.Decision == agent.DecideAlways:
	case d.Decision == agent.DecideEdit && d.Plan != nil:
		p = *d.Plan
	default:
		text := "denied by " + d.By
		if d.Text != "" {
			text += ": " + d.Text
		}
		pl.reply(c, text+". Submit another plan.")
		return
	}
	normal, findings := pl.validate(view, submission{Plan: p})
	if errs := errorsOf(findings); errs != "" {
		pl.askPlan(view, c, p, nil, "The edited plan breaks rules", errs, agent.DecideEdit, agent.DecideRetry, agent.DecideCancel)
		return
	}
	pl.accept(c, agent.PlanAccepted{Plan: normal, By: d.By, Reason: reason, Findings: findings})
}

func (pl planner) accept(c agent.OpenCall, a agent.PlanAccepted) {
	pl.reply(c, "accepted")
	pl.event(a)
}

// validate checks a first plan, or a new plan against what is finished.
func (pl planner) validate(view *agent.Run, a submission) (p agent.Plan, found []agent.PlanFinding) {
	o := pl.options(view)
	o.Shape, o.Found = a.shape, a.found
	p, err := pl.complete(view, a.Plan, a.Inputs)
	if err != nil {
		o.Found = append(o.Found, agent.PlanFinding{Code: "V22", Severity: agent.SeverityError, Message: err.Error()})
	}
	if view.Plans == 0 {
		p, found = plan.Check(p, o)
	} else {
		p, found = plan.Merge(view.Plan, view.States(), p, o)
	}
	return plan.Adopt(p, a.shape), found
}

// complete gives a plan its playbook's stages and its roles: those that the run's
// plan has, and for new names those of the files as they are now.
func (pl planner) complete(view *agent.Run, p agent.Plan, inputs map[string]string) (agent.Plan, error) {
	p.Roles, p.Stages = view.Plan.Roles, nil
	if p.Playbook == "" || p.Playbook == view.Plan.Playbook {
		p.Playbook, p.Stages = view.Plan.Playbook, view.Plan.Stages
	}
	if pl.Playbooks == nil {
		return p, nil
	}
	specs := pl.Tools.Specs()
	names := make([]string, len(specs))
	for i := range specs {
		names[i] = specs[i].Name
	}
	return pl.Playbooks().Complete(p, inputs, names)
}

// lacks says what is missing here for a check.
func (pl planner) lacks(c agent.Check) string {
	tool, known := pl.Tools.Tool(agent.ToolCheck)
	if !known {
		return "nothing here makes checks: say under acceptance how to see that the task is done"
	}
	if l, says := tool.(interface{ Lacks(c agent.Check) string }); says {
		return l.Lacks(c)
	}
	return ""
}

// options are what plans of the run are checked against.
func (pl planner) options(view *agent.Run) plan.Options {
	return plan.Options{Goal: view.Brief.Goal, GoalInputs: []string{"text"}, Tools: pl.Tools.Specs(), Parents: view.Parents, Lacks: pl.lacks}
}

// errorsOf lists the errors among findings, one a line; empty if there are none.
func errorsOf(findings []agent.PlanFinding) string {
	var lines []string
	for _, f := range findings {
		if f.Severity == agent.SeverityError {
			where := ""
			if f.Task != "" {
				where = " (task " + string(f.Task) + ")"
			}
			lines = append(lines, fmt.Sprintf("- %s%s: %s", f.Code, where, f.Message))
		}
	}
	return strings.Join(lines, "\n")
}

// approvedBefore reports whether people's last word on this very plan was a yes:
// a re-plan that changes nothing is not put to them once more.
func approvedBefore(view *agent.Run, p agent.Plan) bool {
	same := func(q *agent.Plan) bool { return q != nil && stdreflect.DeepEqual(q.Tasks, p.Tasks) }
	for _, id := range slices.Backward(view.Asked) {
		c := view.Checks[id]
		if c.Ask != agent.CheckPlan || c.Open() {
			continue
		}
		switch edited := c.Decision.Decision == agent.DecideEdit; {
		case edited && same(c.Decision.Plan):
			return true
		case !edited && same(c.Plan):
			return approved(c)
		}
	}
	return false
}

// needsApproval applies the run's setting for plans.
func (pl planner) needsApproval(view *agent.Run, p agent.Plan) bool {
	if slices.Contains(view.Brief.YesTo, "plan") || slices.Contains(view.Brief.YesTo, "all") {
		return false
	}
	switch view.Brief.PlanApproval {
	case agent.ApprovePlanNever:
		return false
	case agent.ApprovePlanAlways:
		return true
	case agent.ApprovePlanEffects:
	}
	return slices.ContainsFunc(p.Tasks, func(task agent.Task) bool {
		return len(task.Tools) == 0 || slices.ContainsFunc(task.Tools, pl.hasEffect)
	})
}

func (pl planner) hasEffect(name string) bool {
	tool, known := pl.Tools.Tool(name)
	return known && tool.Spec().Class != agent.ClassRead
}

// schedule starts ready tasks in the order of their priority.
func (pl planner) schedule(view *agent.Run, free int) (waits bool) {
	ready := plan.Ready(view.Plan, view.States())
	if len(ready) == 0 {
		return true
	}
	for _, id := range ready[:min(free, len(ready))] {
		task, _ := view.Plan.Task(id)
		pl.add(nil, agent.Event{Strand: agent.Main, Body: agent.TaskStarted{
			Task: id, Instructions: plan.Expand(task.Instructions, inputs(view, id)),
		}})
		pl.wakeAt(agent.TaskStrand(id), agent.AtOnce)
	}
	return false
}

// startTasks starts ready tasks, unless the plan is found to come no closer to its
// end: then the run says what is next.
func (pl planner) startTasks(ctx context.Context, view *agent.Run, free int) (waits bool, err error) {
	accepted := func(e agent.Event) bool { return e.Body.Kind() == agent.PlanAccepted{}.Kind() }
	if slices.ContainsFunc(pl.batch, accepted) && view.Plans >= reflect.FewestPlans {
		if err := pl.flush(ctx); err != nil { // findings quote the numbers of events: those must be final
			return false, err
		}
	}
	if supervisor(pl).judgePlans() {
		return false, nil
	}
	return pl.schedule(view, free), nil
}

// extend adds tasks that were discovered on the way. Two strands may add at
// the same time: the commit insists on having seen everything, and is done
// anew on the newest plan where it had not.
func (pl planner) extend(ctx context.Context, c agent.OpenCall, a addition) error {
	if err := pl.flush(ctx); err != nil {
		return err
	}
	view := pl.view() // others may have added tasks between the fold and the flush
	if view.Rethink != nil {
		pl.refuse(c, "no tasks can be added: the plan is to be made anew first ("+view.Rethink.Reason+"). Finish your own task, or fail it and say what it needs.")
		return nil
	}
	parent, _ := pl.lease.Strand.Task()
	grown := view.Plan
	if cast, err := pl.complete(view, agent.Plan{Tasks: a.Tasks}, nil); err == nil {
		grown.Roles = cast.Roles
	}
	extended, findings := plan.Extend(grown, a.Tasks, parent, pl.options(view))
	if errs := errorsOf(findings); errs != "" {
		pl.refuse(c, "the tasks were not added:\n"+errs)
		return nil
	}
	if check, asked := view.Checks[c.Checkpoint]; asked && !approved(check) {
		pl.reply(c, "denied by "+check.Decision.By+": "+check.Decision.Text)
		return nil
	} else if !asked && pl.needsApproval(view, agent.Plan{Tasks: a.Tasks}) {
		pl.askPlan(view, c, extended, findings, "May I add tasks to the plan?", plan.Text(extended, view.States()),
			agent.DecideApprove, agent.DecideDeny, agent.DecideCancel)
		return nil
	}
	pl.reply(c, "added")
	pl.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: pl.lease.Strand,
		Body: agent.PlanAccepted{Plan: extended, By: string(pl.lease.Strand), Reason: a.Reason, Findings: findings}})
	if err := pl.commitStrict(ctx); err != nil {
		return err
	}
	supervisor(pl).judgePlans()
	return nil
}
