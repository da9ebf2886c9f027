// Package limit keeps runs within what a model's endpoint gives, and waits for
// one that gives nothing for a while.
//
//	patience.go  when a question that came to nothing is put again
//
// Nothing here sleeps. Who has to wait is told for how long, and puts the strand
// back with a due time: no worker is held meanwhile.
package limit
