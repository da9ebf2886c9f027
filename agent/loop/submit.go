package loop

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

// maxRepairs is how often a broken plan goes back to the model before a person
// is asked (RULES.md, "Plan").
const maxRepairs = 2

// submit takes a plan: validates it, asks people where they want to be asked,
// and makes it the run's plan.
func (t *turn) submit(view agent.Run, c agent.OpenCall, a submission) {
	if check, asked := view.Checks[c.Checkpoint]; asked {
		t.decided(view, c, check, a.Reason)
		return
	}
	normal, findings := t.validate(view, a.Plan)
	if errs := errorsOf(findings); errs != "" {
		if view.Talk(t.lease.Strand).Repairs < maxRepairs {
			t.event(agent.CallReplied{Effect: c.Effect, Problem: true, Repair: true,
				Text: "error: the plan breaks these rules; submit it again, mended:\n" + errs})
			return
		}
		t.askPlan(view, c, a.Plan, "The plan is still broken after two repairs", errs,
			agent.DecideEdit, agent.DecideRetry, agent.DecideCancel)
		return
	}
	if t.needsApproval(view, normal) && !approvedBefore(view, normal) {
		t.askPlan(view, c, normal, "May I work by this plan?", plan.Text(normal, nil),
			agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel)
		return
	}
	t.accept(c, agent.PlanAccepted{Plan: normal, Reason: a.Reason, Findings: findings})
}

func (t *turn) askPlan(view agent.Run, c agent.OpenCall, p agent.Plan, title, detail string, choices ...string) {
	t.openCheckpoint(view, agent.CheckpointOpened{Ask: agent.CheckPlan, Title: title, Detail: detail,
		Effect: c.Effect, Plan: &p, Choices: choices})
}

// decided turns a person's word on a plan into a reply, a new question or the plan.
func (t *turn) decided(view agent.Run, c agent.OpenCall, check agent.Checkpoint, reason string) {
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
		t.reply(c, text+". Submit another plan.")
		return
	}
	normal, findings := t.validate(view, p)
	if errs := errorsOf(findings); errs != "" {
		t.askPlan(view, c, p, "The edited plan breaks rules", errs, agent.DecideEdit, agent.DecideRetry, agent.DecideCancel)
		return
	}
	t.accept(c, agent.PlanAccepted{Plan: normal, By: d.By, Reason: reason, Findings: findings})
}

func (t *turn) accept(c agent.OpenCall, a agent.PlanAccepted) {
	t.reply(c, "accepted")
	t.event(a)
}

// validate checks a first plan, or a new plan against what is finished.
func (t *turn) validate(view agent.Run, p agent.Plan) (agent.Plan, []agent.PlanFinding) {
	o := t.planOptions(view)
	if view.Plans == 0 {
		return plan.Check(p, o)
	}
	return plan.Merge(view.Plan, view.States(), p, o)
}

func (t *turn) planOptions(view agent.Run) plan.Options {
	o := plan.Options{Goal: view.Brief.Goal, GoalInputs: []string{"text"}, Tools: t.Tools.Specs(), Parents: view.Parents}
	return o
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
func approvedBefore(view agent.Run, p agent.Plan) bool {
	same := func(q *agent.Plan) bool { return q != nil && reflect.DeepEqual(q.Tasks, p.Tasks) }
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
func (t *turn) needsApproval(view agent.Run, p agent.Plan) bool {
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
		return len(task.Tools) == 0 || slices.ContainsFunc(task.Tools, t.hasEffect)
	})
}

func (t *turn) hasEffect(name string) bool {
	tool, known := t.Tools.Tool(name)
	return known && tool.Spec().Class != agent.ClassRead
}

// schedule starts ready tasks in the order of their priority.
func (t *turn) schedule(view agent.Run, free int) (waits bool) {
	ready := plan.Ready(view.Plan, view.States())
	if len(ready) == 0 {
		return true
	}
	for _, id := range ready[:min(free, len(ready))] {
		task, _ := view.Plan.Task(id)
		t.add(nil, agent.Event{Strand: agent.Main, Body: agent.TaskStarted{
			Task: id, Instructions: plan.Expand(task.Instructions, inputs(view, id)),
		}})
		t.wakeAtOnce(agent.TaskStrand(id))
	}
	return false
}

// insist commits a decision that is good for exactly the run as it was folded.
// Where others were faster, the decision is dropped and taken again.
func (t *turn) insist(ctx context.Context) error {
	err := t.commit(ctx, true)
	if !errors.Is(err, agent.ErrStale) {
		return err
	}
	t.batch, t.upTo, t.wake, t.spend, t.ends = nil, 0, nil, nil, false
	t.run, err = t.folds.load(ctx, t.lease.Run)
	return err
}

// end closes the journal, on its own and only if nothing was said meanwhile: a
// word that was taken in must not be followed by an end that did not hear it.
func (t *turn) end(ctx context.Context, d agent.Decide) error {
	if len(t.batch) > 0 || len(t.spend) > 0 {
		return t.flush(ctx) // and decide anew
	}
	t.add(d.Wake, d.Events...)
	if t.wake == nil {
		t.wake = map[agent.StrandID]time.Time{}
	}
	t.wake[t.lease.Strand] = agent.Parked
	if err := t.insist(ctx); err != nil || t.run.Ended == nil {
		return err
	}
	return errRested
}
