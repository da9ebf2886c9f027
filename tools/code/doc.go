// Package code is the tool run_code: JavaScript in a child process that has
// no files, no network, no environment and hard limits on memory, processor
// time, wall time and output.
//
// code.go starts and watches the child, child.go is what runs in it (Child,
// called by the hidden command that Config.Command names), script.go is the
// language. What does not live here: tools with effects; a program that needs
// any cannot have it.
package code
