// Package job is the tools for long commands: start_job, job_status, kill_job
// and list_jobs. A command runs on the host with the rights of Deckhand, so
// each start is asked for (tools/policy); a scrubbed environment is all that
// keeps secrets from it.
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
