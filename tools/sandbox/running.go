package sandbox

// This file is what the supervisor and the drivers share about one command: the
// order, the command as it was made, and how it ended.

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
)

// readOrder takes the order out of the environment.
func readOrder() (o order, err error) {
	err = json.Unmarshal([]byte(os.Getenv(orderVariable)), &o)
	if err == nil {
		err = os.Unsetenv(orderVariable)
	}
	return o, err
}

// running is a command as its supervisor starts it.
type running struct {
	cmd *exec.Cmd
	// scratch are folders of this command alone whose size is watched.
	scratch []string
	group   *group // nil: there is none
	// remote: an engine keeps the command, which is no process below this one.
	// Then kill ends it, and starved reports that it wanted too much memory.
	remote bool
	// proxyDir is the folder of the proxy's socket, empty: there is no proxy.
	proxyDir string
	kill     func()
	starved  func() bool
	// overhead is how many processes are the driver's own.
	overhead int
	clean    []func() // what to do when it is over
}

func (r *running) cleanUp() {
	for _, f := range r.clean {
		f()
	}
}

// exitCode is the code of a process, 128 and the signal's number where one ended it.
func exitCode(s *os.ProcessState) int {
	if status, is := s.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
