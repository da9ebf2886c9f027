// Package resident keeps small what a server holds in memory while it waits.
// Starting touches much of the program, once: the initialisation of each library,
// its tables, the configuration. None of that is used again soon.
package resident

import "runtime/debug"

// GiveBack returns the memory that only the start needed to the system: free
// pages of the heap, and the mapped pages of the program's code and constants,
// which the system brings back from the file when they are used again. It costs
// a collection of garbage and some hundred minor page faults afterwards. Where the
// system offers no way to give pages of a program back, the heap's alone go.
func GiveBack() {
	debug.FreeOSMemory()
	unmapProgram()
}
