package crash

import "syscall"

// separate gives a child a process group of its own, and makes it die with the
// process that started it, however that ends.
func separate() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
