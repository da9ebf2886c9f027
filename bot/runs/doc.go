// Package runs is the one way in for people: a Client turns what they do (state
// a goal, answer a question, steer, stop) into facts in a run's journal, after it
// has asked bot/authority whether they may. Reading an answer out of a line of
// text is here too (decision.go, hint.go).
package runs
