// Package authority decides who may do what, so that every way in (a click, a
// command, a form, the terminal) asks the same table.
//
//	authority.go  Authority: the lists of the configuration; who may start and
//	              steer runs; the table of who may decide a question
//	place.go      where a run lives, and who may show it elsewhere
//	audience.go   who is notified of a question, first and later
//
// It looks at a run's fold and at lists of principals; it reads and writes nothing.
package authority
