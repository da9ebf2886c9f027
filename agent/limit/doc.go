// Package limit keeps runs within what a model's endpoint gives, and waits for
// one that gives nothing for a while.
//
//	limiter.go   Limiter: who may ask now, and who waits for how long
//	rate.go      what an endpoint gives in a minute, told or learnt
//	patience.go  when a question that came to nothing is put again
//
// The line itself is kept by the store (agent.Admission), so that all processes
// stand in one. Nothing here sleeps. Who has to wait is told for how long, and puts the strand
// back with a due time: no worker is held meanwhile.
package limit
