// Package app puts a Deckhand together: New takes a configuration and what a
// caller brings along, Run works until its context ends. `deckhand serve`,
// `deckhand run`, the demos and the tests of the whole house all start here, so
// that there is one wiring.
//
//	app.go       Options, New, Run: what a process consists of, and in which order it starts
//	store.go     the configured store
//	model.go     the configured endpoint
//	brief.go     what is decided about a run before it begins
//	budget.go    which budgets a run is charged to, and which can be counted
//	chat.go      the parts that talk with people, on whichever platform
//	platform.go  connecting to platforms, and going on without those that are away
//	slack.go     Slack by the configuration
//	discord.go   Discord by the configuration, and what it suggests while people type
//	schedule.go  recurring reports and goals
//	alert.go     runs that nothing comes of
//	health.go    HTTP: /healthz, /readyz, /metrics and the platforms' routes
//	metrics.go   the counters that /metrics shows
//	check.go     the looks of `deckhand doctor`
//
// The keys of the configuration are in package config below this one, the tools and
// the workspace of runs in package kit. Commands,
// flags, texts for people and exit codes are in cmd/deckhand.
package app
