//go:build race

package sandbox_test

// raced says that the race detector is on, whose own memory is several times a
// program's: bounds of memory cannot be held beside it.
const raced = true
