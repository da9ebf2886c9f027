// Package agent is the domain and the pure core of Deckhand: what a run is,
// what can happen to it (Event), what is true after that (Run.Apply) and what
// to do next (Run.Next), and the contracts that the floors above implement
// (Store, Tool, Policy).
//
//	next.go        Next, State: the move of a strand, by the first rule that holds
//	rules.go       the rules, as tables, and what they look at and do
//	report.go      reports, as events and in words: ends, plain reports, reviews
//	voice.go       posts: what people are shown, and what is due
//	apply.go       Apply: one event folded
//	run.go         Run: the fold, made of
//	  plan.go        Work: the plan and its tasks, and their events
//	  strand.go      Strands: conversations and open calls
//	  checkpoint.go  Questions: to people, with their decisions and what comes of them
//	  hearing.go     Hearing: what people said and meant
//	  checkin.go     looks at a strand's work, and what follows from them
//	  budget.go      Budget: money, limits, what was spent; Window: room for a conversation
//	  recall.go      what earlier runs and check-ins taught
//	value.go       the lists and maps of a Run, which copy little
//	event.go       all other events · codec.go  the kinds, versions and JSON of all
//	ports.go       Store · tool.go  Tool, Policy
//	names.go       ids, post keys, counters, rules: words that others rely on
//
// What does not live here: goroutines, clocks, input and output, prompts, chat.
// Time reaches this package as the stamp of an event; randomness as an id in
// an event. The same journal gives the same Run and the same Move everywhere.
package agent
