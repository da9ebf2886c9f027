// Package policy is the default policy: which calls run, which are asked for
// and which are refused, by the run's autonomy, by what its requester said yes
// to beforehand and by what people granted since. It is pure.
//
//	policy.go  the rules, in the order in which they count
//
// What does not live here: who may decide (bot), the questions themselves
// (agent), and denials that were given in this run (the loop remembers them).
package policy
