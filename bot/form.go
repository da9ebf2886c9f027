package bot

// FormRun is the form for a new goal, with its fields. A platform whose own
// commands have fields sends them as this form, as it is or with the place
// behind a space; all but the goal may be empty.
const (
	FormRun        = "run"
	FieldGoal      = "goal"
	FieldBudget    = "budget"    // "2", "$2.50" or "usd=2,tokens=100000,time=1h,steps=50"
	FieldApprovers = "approvers" // principals, separated by spaces
	FieldDeadline  = "deadline"  // working time: "90m", "2h"
	FieldAutonomy  = "autonomy"  // one of agent.Autonomy
)

// FormSteer is the form for a word to a run; what is sent in has the run behind it.
const FormSteer = "steer"
