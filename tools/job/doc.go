// Package job is the tools for long commands: start_job, job_status, kill_job
// and list_jobs. A command runs on the host with the rights of Deckhand, so
// each start is asked for (tools/policy); a scrubbed environment is all that
// keeps secrets from it.
//
//	job.go            the four tools, and the folders of jobs
//	start.go          the tool start_job: from a call to a supervisor that has begun
//	status.go         the tool job_status, and how a job is told
//	kill.go           the tools kill_job and list_jobs
//	state.go          what the files of a job's folder say
//	lock.go           locks between processes
//	supervise.go      the supervisor: it runs one command and notes how that ended
//	watch.go          what ends a command: time, output, a request, a signal
//	sweep.go          what becomes of the jobs of runs that ended
//	process_linux.go  processes and their descendants, as Linux tells of them
//	process_other.go  processes where there is no /proc: what daemonises gets away
//
// A job outlives the process that started it and is never started twice. Its
// folder, named by run and effect, is made before anything else; a supervisor
// (this program again, in a session of its own) takes the folder's lock, notes
// that it begins, runs the command, bounds its time and output, and notes how
// it ended. Everybody else reads the folder:
//
//	order.json   what to do; it never changes
//	lock         held by the supervisor as long as it lives
//	begun.json   made once, right before the command starts
//	command.json the command's process
//	stdout, stderr
//	kill         the supervisor is asked to end the command; its text says why
//	end.json     how it ended
//
// What has begun, has not ended and is not locked is lost: the machine was
// restarted, or somebody ended the supervisor.
//
// What does not live here: who may start what (tools/policy), what becomes of
// the jobs of a run that ends (cmd calls End and Sweep), and the detector that
// tells polling from a loop (agent/reflect).
package job
