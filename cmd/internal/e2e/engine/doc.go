// Package engine is the suite that kills the engine: stores × crashes, without a
// chat platform. Its tests start real worker processes on a real store, with a
// model behind HTTP, real files, and a receiver that counts what it gets, answers
// late and loses answers; then they kill the workers at every commit and every
// effect, freeze them beyond their leases, and kill the store's server, and look
// whether anything that was acknowledged is lost or anything that was done is
// done twice.
//
//	boundaries_test.go  a death at every boundary
//	moments_test.go     deaths, sleeps and a dying server at random moments
//	append_test.go      a death in the middle of an append to a file
//	env_test.go         one store with the person and the workers around it
//	worker_test.go      the worker process; main_test.go starts it
//	tool_test.go        tools in whose runs a worker dies
//	send_test.go        a tool that sends to the receiver (receiver_test.go)
//	script_test.go      what the model says
//	verify_test.go      what must hold when a run has ended
//	figures_test.go     how soon somebody went on after a death
//
// The kit is e2e/crash. What a store promises by itself is tested in
// memory/storetest. DECKHAND_SOAK=1 makes the tests long: longer leases, and 100
// random kills on SQLite, Redis, Redis behind Sentinel and Redis Cluster each.
package engine
