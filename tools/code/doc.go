// Package code is the tool run_code: JavaScript in a child process that has
// no files, no network, no environment and hard limits on memory, processor
// time, wall time and output.
//
//	code.go           the tool, and what goes over the pipes between it and its child
//	process.go        the child process as its parent sees it: started, watched, ended
//	child.go          what runs in the child, from its first frame to its last
//	script.go         the language in the child: JavaScript without anything to reach out with
//	confine_linux.go  the limits of a child that only Linux can set
//	confine_unix.go   the limits of a child that every Unix can set
//	confine_other.go  the limits of a child where there is no Linux: none besides those of confine_unix.go
//
// The child is this program again, with the hidden command that Config.Command
// names and that calls Child. What does not live here: tools with effects; a program that needs
// any cannot have it.
package code
