// Package remember is what people say about memory in chat: what is to be
// remembered, and what of it they see, correct, pin and have forgotten. It words
// the answers; who they are for and where they are told is the caller's.
//
//	desk.go   Desk: the orders, one function each
//	told.go   records as people read them
//
// Where records are kept and found is elsewhere (Store), and who sees which is
// agent/records'.
package remember
