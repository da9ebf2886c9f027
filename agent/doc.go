// Package agent is the domain and the pure core of Deckhand: what a run is,
// what can happen to it (Event), what is true after that (Run.Apply) and what
// to do next (Run.Next), and the contracts that the floors above implement
// (Store, Tool, Policy).
//
// What does not live here: goroutines, clocks, input and output, prompts, chat.
// Time reaches this package as the stamp of an event; randomness as an id in
// an event. The same journal gives the same Run and the same Move everywhere.
package agent
