package main

import "fmt"

// The bounds of a room. They follow from what a reader keeps in mind, and a
// package that outgrows one has taken on a second responsibility.
const (
	maxFiles   = 20  // of a package, without its tests
	maxLines   = 500 // of a file
	maxMethods = 40  // of a type
)

// roomExceptions are packages and types ("package.Type") that may exceed a
// bound, each with its reason.
var roomExceptions = map[string]string{}

// judgeRooms finds packages with too many files, files with too many lines and
// types with too many methods.
func judgeRooms(tree []room) []string {
	var findings []string
	say := func(name, format string, args ...any) {
		if roomExceptions[name] == "" {
			findings = append(findings, name+": "+fmt.Sprintf(format, args...))
		}
	}
	for _, p := range tree {
		if n := len(p.files); n > maxFiles {
			say(p.path, "%d files, at most %d: which of them belong together?", n, maxFiles)
		}
		for _, f := range p.files {
			if f.lines > maxLines {
				say(p.path+"/"+f.name, "%d lines, at most %d: split it by responsibility", f.lines, maxLines)
			}
		}
		for name, n := range p.methods {
			if n > maxMethods {
				say(p.path+"."+name, "%d methods, at most %d: take texts, queries and wire code off it", n, maxMethods)
			}
		}
	}
	return findings
}
