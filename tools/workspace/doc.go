// Package workspace is the folder that agents' files live in: paths that
// cannot leave it, the state of a file (absent, or size and SHA-256), locks
// between workers, the record of effects that were done, and replacing or
// removing a file so that nobody ever sees half of it.
//
// What does not live here: the tools that a model calls (tools/file,
// tools/plot) and the policy about who may change what (tools/policy).
package workspace
