// Package ingest is what chat platforms share in taking events in: each brings
// them over a wire of its own, but order, gaps and repetition are the same
// trouble everywhere, and a mistake in them loses what somebody said.
//
//	queue.go      jobs with a common key one after the other, the rest side by side
//	watermark.go  up to where each channel was heard for certain, kept in a store
//	backlog.go    what was missed is read back before anything newer is heard
//	wait.go       pauses between attempts, and the time that is left at the end
//	log.go        the same line at most once a minute, however often it happens
//	channel.go    the one word that stands for a channel in a text
//	names.go      a store's names where there is no store
//
// What lives elsewhere: the wires, the shape of an event and what reading back
// costs (each adapter), and what an event means (bot/intake).
package ingest
