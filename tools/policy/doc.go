// Package policy decides which calls run, which people are asked for and which
// are refused. The rules are data: those that come first everywhere (base.yaml),
// those of an installation, and those of the run's autonomy (suggest.yaml,
// ask-each.yaml, ask-risky.yaml, within-budget.yaml). It is pure.
//
//	policy.go     the rules in the order in which they count; shows them for a run
//	show.go       the rules that are in force, for people
//	case.go       calls that are written down beside the rules, with what is expected
//	file.go       a policy's file, with the line of what is wrong in it
//	field.go      its fields, each read in its place
//	judge.go      contradictions, and rules that can never count
//	rule.go       one rule: which calls it is about, and its word on them
//	condition.go  conditions in CEL
//	hint.go       what conditions ask for outright, looked at before CEL is asked
//	call.go       a call as rules and conditions look at it
//	steering.go   files that other programs obey
//
// What does not live here: who may decide (bot/authority), the questions themselves
// (agent), and denials that were given in this run (the loop remembers them).
package policy
