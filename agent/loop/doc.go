// Package loop is the runtime: it claims strands, folds their run, asks the
// pure core what is next, does it and commits what came of it.
//
// One turn of a strand is one function (turn.go) around one switch over
// agent.Step. What happened since the last commit is a batch; the batch is
// committed before anything acts on the world, and when the strand is released.
//
// Check-ins are called by a clock (checkins.go), by the number of calls and by
// findings; what follows from a ledger is weighed in checkin.go.
//
// What does not live here: what to do next (agent), prompts (agent/prompt),
// plan rules (agent/plan), tools, stores, chat.
package loop
