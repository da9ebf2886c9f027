package agent

// Kind names the event: run.started.
func (RunStarted) Kind() Kind { return "run.started" }

// Kind names the event: person.said.
func (PersonSaid) Kind() Kind { return "person.said" }

// Kind names the event: run.watched.
func (RunWatched) Kind() Kind { return "run.watched" }

// Kind names the event: run.controlled.
func (RunControlled) Kind() Kind { return "run.controlled" }

// Kind names the event: time.passed.
func (TimePassed) Kind() Kind { return "time.passed" }

// Kind names the event: model.asked.
func (ModelAsked) Kind() Kind { return "model.asked" }

// Kind names the event: model.answered.
func (ModelAnswered) Kind() Kind { return "model.answered" }

// Kind names the event: call.replied.
func (CallReplied) Kind() Kind { return "call.replied" }

// Kind names the event: plan.accepted.
func (PlanAccepted) Kind() Kind { return "plan.accepted" }

// Kind names the event: task.started.
func (TaskStarted) Kind() Kind { return "task.started" }

// Kind names the event: task.finishing.
func (TaskFinishing) Kind() Kind { return "task.finishing" }

// Kind names the event: task.judged.
func (TaskJudged) Kind() Kind { return "task.judged" }

// Kind names the event: task.ended.
func (TaskEnded) Kind() Kind { return "task.ended" }

// Kind names the event: tool.intent.
func (ToolIntent) Kind() Kind { return "tool.intent" }

// Kind names the event: tool.deferred.
func (ToolDeferred) Kind() Kind { return "tool.deferred" }

// Kind names the event: tool.outcome.
func (ToolOutcome) Kind() Kind { return "tool.outcome" }

// Kind names the event: checkpoint.opened.
func (CheckpointOpened) Kind() Kind { return "checkpoint.opened" }

// Kind names the event: checkpoint.decided.
func (CheckpointDecided) Kind() Kind { return "checkpoint.decided" }

// Kind names the event: checkpoint.voted.
func (CheckpointVoted) Kind() Kind { return "checkpoint.voted" }

// Kind names the event: budget.notice.
func (BudgetNotice) Kind() Kind { return "budget.notice" }

// Kind names the event: check-in.due.
func (CheckInDue) Kind() Kind { return "check-in.due" }

// Kind names the event: check-in.made.
func (CheckInMade) Kind() Kind { return "check-in.made" }

// Kind names the event: finding.
func (Finding) Kind() Kind { return "finding" }

// Kind names the event: feedback.
func (Feedback) Kind() Kind { return "feedback" }

// Kind names the event: recalled.
func (Recalled) Kind() Kind { return "recalled" }

// Kind names the event: report.
func (Reported) Kind() Kind { return "report" }

// Kind names the event: run.ended.
func (RunEnded) Kind() Kind { return "run.ended" }

func (RunStarted) body()        {}
func (RunWatched) body()        {}
func (PersonSaid) body()        {}
func (RunControlled) body()     {}
func (TimePassed) body()        {}
func (ModelAsked) body()        {}
func (ModelAnswered) body()     {}
func (CallReplied) body()       {}
func (PlanAccepted) body()      {}
func (TaskStarted) body()       {}
func (TaskFinishing) body()     {}
func (TaskJudged) body()        {}
func (TaskEnded) body()         {}
func (ToolIntent) body()        {}
func (ToolDeferred) body()      {}
func (ToolOutcome) body()       {}
func (CheckpointOpened) body()  {}
func (CheckpointDecided) body() {}
func (CheckpointVoted) body()   {}
func (BudgetNotice) body()      {}
func (CheckInDue) body()        {}
func (CheckInMade) body()       {}
func (Finding) body()           {}
func (Feedback) body()          {}
func (Recalled) body()          {}
func (Reported) body()          {}
func (RunEnded) body()          {}
