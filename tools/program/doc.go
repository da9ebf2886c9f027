// Package program is the tools that run programs in the sandbox: run_python,
// execute_python_file and run_shell. A program sees the run's folder, may not
// change it, and reaches no network unless its task says so and the
// configuration lets it; what it makes comes back where the call names it.
//
//	program.go  the three tools, and what they have in common
//	spec.go     from a call and its task's needs to a sandbox's specification
//	package.go  packages that a task's programs need
//	keep.go     files that come back into the workspace
//
// A program that is run again after a crash does the same again in a sandbox of
// its own, so the tools are idempotent; a file that comes back is written once.
//
// What does not live here: JavaScript (tools/code), and commands that go on by
// themselves (tools/job).
package program
