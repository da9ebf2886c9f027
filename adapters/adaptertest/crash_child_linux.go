package adaptertest

import "syscall"

// apart makes a child die with the process that started it, however that ends.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
