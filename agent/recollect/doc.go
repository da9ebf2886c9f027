// Package recollect is what a run has to do with what outlives runs: which
// records bear on the work ahead of a strand, and what is worth keeping of a run
// that ends. It asks a records.Memory, and knows neither store nor journal.
//
//	before.go  what is told before the first question of a run and of a task
//	after.go   what is kept of a run: its outcome, its lessons, people's words
//
// What was recalled is journalled by whoever asks (agent.Recalled), so that a
// resumed run sends the same prompts.
package recollect
