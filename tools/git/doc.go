// Package git is the tools of git: clone_repository, git_log, git_diff and
// git_commit, over the git that is installed.
//
//	git.go     what the tools are made from; git in the sandbox, with all that a repository could start off
//	clone.go   the tool clone_repository
//	look.go    the tools git_log and git_diff
//	commit.go  the tool git_commit
//
// A repository is a stranger's work: its hooks, its settings and its submodules
// would run programs. git runs in the sandbox, sees one folder, reaches one host
// while it clones and none otherwise, and is told on its command line to start
// nothing.
//
// What does not live here: the sandbox (tools/sandbox), hosts (tools/egress).
package git
