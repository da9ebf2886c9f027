// Package taint says where the arguments of a call came from: a person, what
// Deckhand knows itself, or a text that a stranger may have written. It asks no
// model: it looks the arguments up in what the strand has read, as they stand and
// through case, blanks, base64, hexadecimal and URL encoding, or put together from
// pieces. What it cannot find, and what was written after a stranger's text was
// read, counts as that text's wherever the call reaches beyond the workspace.
//
//	trace.go    a call's taint: which arguments decide, and what is said of them
//	history.go  the texts of a strand: whose words, what was read, from where
//	index.go    a text so that parts of it are found fast, kept from call to call
//	decode.go   what is written in a text in another form
package taint
