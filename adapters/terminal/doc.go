// Package terminal shows one run at the command line: as a live view in a
// terminal, as plain lines where there is none, or as JSON lines for programs.
// It follows the run's journal, and turns lines of input into decisions,
// control words and steering at the front desk.
//
// Everything that is printed goes through rows (text.go), whose paint writes
// out control characters, escapes and invisible characters: texts of models,
// tools and people are data, never instructions to a terminal.
//
// What does not live here: opening the store, starting the run, signals and
// exit codes (cmd), and what people may do (bot).
package terminal
