// Package sandbox runs commands that are not trusted: programs that a model
// wrote, commands of jobs, servers and packs. One specification says what a
// command needs and may use; a driver keeps it to that.
//
//	spec.go          what a command needs, and how it went
//	sandbox.go       the drivers: which there are, which work here, which is used
//	run.go           a command run to its end: output bounded, files back
//	supervise.go     the process between Deckhand and a command: it starts the command and ends it
//	running.go       what supervisor and drivers share: the order, the command as it was made, how it ended
//	watch.go         what ends a command: time, memory, processes, files
//	bubblewrap.go    the driver bubblewrap: namespaces of its own, made by bwrap
//	engine.go        the drivers docker and podman: a container of an image
//	pod.go           the driver kubernetes: a Job in a cluster, and what this program does in its pod
//	child.go         the driver child: a plain process that gives up rights
//	proxy.go         the only way to the network: hosts that are allowed, addresses looked at
//	view.go          what of the host's files a command sees
//	tree_linux.go    the processes below a command, and what they use
//	group_linux.go   control groups, where this user may make some
//	confine_linux.go rights given up for good: Landlock, seccomp, resource limits
//	confine_other.go what of it there is where there is no Linux
//
// Whatever the driver, a command is an *exec.Cmd of this program again
// (Command): it reads its order from its environment, becomes the command's
// supervisor, and takes everything with it when it ends. So a caller has pipes,
// signals and an exit code, and needs to know nothing of drivers.
//
// What does not live here: who may run what (tools/policy), the languages
// (tools/code, tools/program), and jobs that outlive a process (tools/job).
package sandbox
