//go:build unix && !linux

package job_test

// sit is a process of the tests on Linux.
func sit(string) {}
