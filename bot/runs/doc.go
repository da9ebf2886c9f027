// Package runs is the one way in for people: a Client turns what they do (state
// a goal, answer a question, steer, stop) into facts in a run's journal, each in
// one commit, after it has asked bot/authority whether they may.
//
//	client.go    Client: begin, decide, control, say, rate, watch
//	decision.go  reading a decision out of a line of text or JSON
//	hint.go      reading a person's own words as the way out of being stuck
//	folds.go     the folds of the runs that were used last
//
// How a decision changes a run is agent.Run.Apply's; how questions look is bot/card's.
package runs
