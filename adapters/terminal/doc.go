// Package terminal shows one run at the command line: as a live view in a
// terminal, as plain lines where there is none, or as JSON lines for programs.
// It follows the run's journal, draws the cards and news that bot.Telling gives
// it, and turns lines of input into decisions, control words and steering.
//
//	watch.go   Config and Watch: the loop that everything meets in
//	follow.go  the run's journal as it grows
//	live.go plain.go stream.go   the three faces: a terminal, lines, JSON
//	draw.go tree.go   cards, news and plans as rows
//	text.go    rows: width, wrapping, ink, and what is safe to print
//	answer.go choices.go   what a line means, and what may be typed
//	input.go keys.go quiet_*.go   reading lines and keys
//
// Everything that is printed goes through rows, whose paint writes out control
// characters, escapes and invisible characters: texts of models, tools and
// people are data, never instructions to a terminal.
//
// What lives elsewhere: the words of a run (bot/card), opening the store,
// starting the run, signals and exit codes (cmd), what people may do (bot/runs).
package terminal
