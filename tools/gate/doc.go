// Package gate refuses requests that are prohibited whoever makes them: weapons,
// controlled substances, the abuse of children, malicious software and the like.
//
//	gate.go     Gate: whether a text asks for it, or tells how to
//	rule.go     rules as data, read from YAML
//	word.go     texts taken apart into words, look-alikes made alike
//	wrap.go     put before goals and calls, behind results, and at reports
//	rules.yaml  the shipped rules
//
// Rules hold names and general words, never how anything is done. A text asks for
// something prohibited where the name of a thing stands near a word for making or
// getting it; it tells how to where a name stands among many words of procedures.
// Neither looks at what a model thinks: the rules change in files only.
package gate
