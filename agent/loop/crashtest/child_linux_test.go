package crashtest

import "syscall"

// apart gives a child a process group of its own, and makes it die with the
// process that started it, however that ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
