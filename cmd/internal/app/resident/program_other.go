//go:build !linux

package resident

// unmapProgram leaves the program's pages to the system, which takes them back
// under pressure.
func unmapProgram() {}
