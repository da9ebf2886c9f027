package agent

// CheckpointKind says what people are asked for.
type CheckpointKind string

// The kinds of checkpoint.
const (
	CheckClarify   CheckpointKind = "clarify"
	CheckPlan      CheckpointKind = "plan"
	CheckApproval  CheckpointKind = "approval"
	CheckBudget    CheckpointKind = "budget"
	CheckStuck     CheckpointKind = "stuck"
	CheckUncertain CheckpointKind = "uncertain"
)

// The words of decisions. The words that buttons show are these, capitalised.
const (
	DecideApprove = "approve"
	DecideDeny    = "deny"
	DecideEdit    = "edit"
	DecideAlways  = "always"
	DecideCancel  = "cancel"
	DecideAnswer  = "answer"        // clarify: Answers or Text
	DecideForMe   = "decide for me" // clarify: the model decides
	DecideMore25  = "+25 %"         // budget
	DecideMore100 = "+100 %"        // budget
	DecideFinish  = "finish with what you have"
	DecideRetry   = "try again" // stuck
	DecideRepeat  = "repeat"    // uncertain: run it again
	DecideSkip    = "skip"      // uncertain: treat it as not needed
	DecideDone    = "done"      // uncertain: it happened
	DecideExpired = "expired"   // nobody decided in time
)
