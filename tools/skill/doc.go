// Package skill is skills as folders: a SKILL.md with a name, a description and
// steps, beside the files that they need (https://agentskills.io/specification).
// What they are for is found by recall, like anything else that is remembered;
// their steps are read when they fit.
//
//	shelf.go  Shelf: folders read and checked
//	tool.go   read_skill: the steps of one, and its files
package skill
