// Package format turns plain values into the words that people read, so that a
// sum of money or a length of time looks the same in a card, in a terminal and
// in what a tool answers.
//
//	number.go  Thousands, Count, Money
//	time.go    Duration, Minutes, Moment
//	text.go    OneLine, First, Cut, Line, List
//	visible.go Visible and WriteOut, for characters that people cannot see
//	near.go    Nearest and Distance, for what was probably meant
//	json.go    JSON and Encoder, which leave <, > and & as they are
//	canonical.go Canonical, for texts that are compared
//
// It knows no type of the domain and nothing of where a text is shown: what
// Markdown, mrkdwn or a terminal would read into a text is its renderer's
// business.
package format
