// Package loop is the runtime: it claims strands, folds their run, asks the
// pure core what is next, does it and commits what came of it.
//
//	loop.go      Loop: claims strands and hands each to a worker
//	work.go      worker: one turn of a strand, one switch over agent.Step
//	ask.go       asker: one question to the model, reserved and settled
//	dispatch.go  dispatcher: what becomes of the model's calls
//	permit.go    … of those to tools: policy, approvals, intents
//	decide.go    decider: … of those that are decisions of the model
//	plans.go     planner: plans taken, approved, extended; tasks started
//	invoke.go    effects: tools run, recovered after a crash
//	call.go      what goes on beside a call: its run ends, progress, questions of a tool
//	post.go      posts: what the voice says, and its card
//	supervise.go supervisor: loops found, check-ins weighed, plans judged
//	offer.go     offerer: tools chosen among many, their documentation
//	compact.go   compacter: conversations kept within the model's window
//	commit.go    how a turn commits, gives its lease back, saves outcomes
//	turn.go      turn: the fold, and the batch since the last commit
//	memory.go    what the process remembers of a run beside its fold
//	config.go    Config, and the engine that every turn works with
//
// A file uses those below it. What happened since the last commit is a batch;
// the batch is committed before anything acts on the world, and when the strand
// is released. Whoever has to look at it is woken by the same commit.
//
// Below it, each without a turn: the leases of this process (lease), the clock of
// the check-ins (checkins), prices and charges (cost), whether an answer can be
// used (answer), texts too long for the journal (artifact), earlier runs of the
// goal (past).
//
// Elsewhere: what to do next (agent), folds (agent/fold), prompts
// (agent/prompt), plan rules (agent/plan), runs that nothing comes of
// (agent/loop/watchdog), tools, stores, chat.
package loop
