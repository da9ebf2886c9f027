package plan

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// MaxPlan is the number of tasks above which a plan is not examined any further
// than V18.
const MaxPlan = 1000

// Options is what Check knows beside the plan.
type Options struct {
	// Goal is what the person asked for, in their words.
	Goal string
	// GoalInputs are the names that tasks may use as goal.NAME; nil: any.
	GoalInputs []string
	// Tools and Roles are those that exist (V10, V11); nil: not judged.
	Tools []agent.ToolSpec
	Roles []string
	// Lacks says what is missing here for a check, empty: nothing; nil: not judged.
	Lacks func(c agent.Check) string
	// MaxTasks is how many tasks the budget carries; 0: MaxPlan.
	MaxTasks int
	// Final makes V9 an error: what is not essential may no longer stay.
	Final bool
	// Shape is how the plan was written. Foreign plans know no effort, value or
	// goals (V14, V15) and name tools instead of actions (V12).
	Shape Shape
	// Found is what Parse found; it becomes part of the findings.
	Found []agent.PlanFinding
	// Kept are tasks of the plan that were accepted before: they are not judged
	// again and not changed, and may not be repeated (V13).
	Kept []agent.TaskID
	// Parents says which task made a task with add_tasks (V12, V18).
	Parents map[agent.TaskID]agent.TaskID
}

// Check examines a plan by the rules V1 to V22. It returns the normalised plan
// (V7, V13, V16 and V20 change it, and say so) and the findings, ordered by code,
// place of the task in the plan, and message. Only errors stop a plan. The
// argument is not changed. A plan with a cycle keeps its edges as they are.
func Check(p agent.Plan, o Options) (agent.Plan, []agent.PlanFinding) {
	d := newDraft(p, o)
	if checkOversize(d) {
		return p, d.sorted()
	}
	checkIDs(d)
	applyRoles(d)
	checkDuplicates(d)
	checkLinks(d)
	checkProducers(d)
	checkInputs(d)
	if checkCycle(d) {
		chainTasks(d)
		addEdges(d)
		reduceEdges(d)
	}
	checkUse(d)
	checkCatalogue(d)
	checkTypes(d)
	checkArtifacts(d)
	checkStages(d)
	checkChecks(d)
	checkActions(d)
	checkWorth(d)
	checkGoals(d)
	checkPlaceholders(d)
	checkSize(d)
	checkEnvs(d)
	return d.plan, d.sorted()
}

// Stops says whether one of the findings is an error.
func Stops(found []agent.PlanFinding) bool {
	return slices.ContainsFunc(found, func(f agent.PlanFinding) bool {
		return f.Severity == agent.SeverityError
	})
}
