// Package reflect finds agents that are stuck. It reads what an agent did (a
// Trace: from Deckhand's journal, from OpenAI messages, from ReAct text) and
// judges it by the rules L0 to L13: exact rules that may stop a run (Examine,
// Watch), chanting in an answer under way (Chant), the plan level (Journal),
// failures that earlier runs of a goal saw already (Precedents), and what
// follows from a check-in's ledger (Weigh).
//
//	read.go        Read: any transcript · messages.go react.go  foreign formats
//	transcript.go  what was read · journal.go  a run's journal, event by event
//	examine.go     Examine, Watch: a trace judged by the rules
//	repeat.go cycle.go turn.go chant.go  the rules L1 to L10
//	plan.go        L11 · precedent.go  L12 · ledger.go  L13
//	call.go        calls and streaks, which the rules share
//	trace.go       Trace, Step, Thresholds
//	key.go label.go  what makes two calls or results the same (L0)
//	advice.go quote.go  findings in words, for the model and for people
//
// Everything here is pure: the same trace gives the same findings in the same
// order, and time is only what a step says of its pauses. What does not live
// here: asking a model for a ledger, journalling findings, opening the
// checkpoint of a stop, the texts of prompts.
//
// # Readings of the rules
//
// Where the rules leave room, this package reads them as follows.
//
//   - A finding names its whole streak as far as the trace goes. In a Watch that
//     is the streak up to the call that completed it.
//   - Calls are counted one by one, also those of one turn. L7 counts turns: a
//     turn is unusable when none of its calls could be used.
//   - A wait of a second or more (tool "wait") is a pause and no call, and what a
//     call puts itself off by (job_status with wait) is a pause before it. Pauses in
//     Deckhand's journal leave out the time that the model took and the time
//     that people took to decide: a slow model does not make a loop a poll. In
//     other transcripts the pause is the time from call to call.
//   - Pauses "do not shrink" while none is more than 5 % below the longest of the
//     streak. A call that polls is judged by L10 alone, not by L1 to L4 and L9;
//     errors count as equal results there. When the pauses shrink after three
//     calls or more, the count of L1 to L3 starts at the last call that polled.
//   - L4 wants two different calls in its cycle; one call again and again is a
//     matter of L1 to L3 and L9.
//   - L9 counts 30 calls, and 30 more, only on the strand of a task: other
//     transcripts have no tasks. A new artifact is a successful call that writes and was not made before.
//   - L6 is a stop of the answer, not of the strand: the answer is cut and the
//     model is told. A window of hardly any letters (a line of dashes) counts
//     only where its occurrences do not overlap.
//   - L11: a round is a plan accepted with more open tasks than the one before and no
//     task finished since. Five rounds ask for a new plan (nudge), five more for
//     a person, and so does a plan that is the same after two re-plans.
package reflect
