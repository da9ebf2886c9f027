// Package tools holds what every tool family shares: the Box (the list of
// tools a build offers, looked up by name, with arguments checked against
// their JSON Schema) and Whole (integers as JSON Schema knows them).
//
//	box.go    the Box: a build's tools by name, and their arguments checked before a call
//	check.go  why arguments do not fit a schema, in one sentence that a model can act on
//	near.go   what a misspelt name of a tool or an argument was probably meant to be
//	catalog.go  files of tools that are only described, in the shapes that other programs write
//	whole.go  Integers as JSON Schema knows them
//
// What does not live here: the tools themselves (one package per family below
// this folder), the contract that they implement (package agent) and the rules
// about which call may run (tools/policy). This package imports none of them
// but package agent.
package tools
