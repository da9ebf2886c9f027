// Package workspace is the folder that agents' files live in: paths that
// cannot leave it, the state of a file (absent, or size and SHA-256), locks
// between workers, the record of effects that were done, and replacing or
// removing a file so that nobody ever sees half of it.
//
//	workspace.go  the workspace and the folders in it
//	path.go       paths that cannot leave a folder
//	state.go      how a file is at one moment, and reading it
//	create.go     new files, whole or not at all
//	replace.go    files replaced and removed, if they are still as they were
//	lock.go       one worker at a time for a file, and the record of effects that were done
//	lock_unix.go  the lock of an open file
//
// What does not live here: the tools that a model calls (tools/file,
// tools/plot) and the policy about who may change what (tools/policy).
package workspace
