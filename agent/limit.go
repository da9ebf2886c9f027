package agent

import "time"

// Limits bounds what a run may spend. Zero is no limit. Time counts only while
// something executes; hours spent waiting for a person do not count.
type Limits struct {
	USD    Nano          `json:"usd,omitempty"`
	Tokens int64         `json:"tokens,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // nanoseconds
	Steps  int64         `json:"steps,omitempty"`
}

// PlanApproval says which plans need a person before their first task.
type PlanApproval string

// The settings of plan approval. Effects: plans with a tool that changes something.
const (
	ApprovePlanNever   PlanApproval = "never"
	ApprovePlanEffects PlanApproval = "effects"
	ApprovePlanAlways  PlanApproval = "always"
)

// Autonomy is how much a run may do without asking.
type Autonomy string

// The levels of autonomy. Suggest: no effect at all. Ask each: every effect is
// asked. Ask risky: the first write is asked for the whole folder, deletes and
// sends always. Within budget: writes are free, deletes and sends are asked.
const (
	Suggest      Autonomy = "suggest"
	AskEach      Autonomy = "ask-each"
	AskRisky     Autonomy = "ask-risky"
	WithinBudget Autonomy = "within-budget"
)
