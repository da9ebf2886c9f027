// Package ingest is what chat platforms share in taking events in: each brings
// them over a wire of its own, but order, gaps and repetition are the same
// trouble everywhere, and a mistake in them loses what somebody said.
//
//	the wire → Intake.Take → the adapter reads the event → Intake.Hear
//	  → KeyedQueue, one after the other per thread → Backlog, what was missed first
//	  → the adapter's hear, Watermarks move on → its answer (PostOnce)
//
//	intake.go     Intake: a session of listening, from the first event to the last
//	queue.go      jobs with a common key one after the other, the rest side by side
//	watermark.go  up to where each channel was heard for certain, kept in a store
//	backlog.go    what was missed is read back before anything newer is heard
//	lane.go       one message heard: its thread's order, patience, an answer in words
//	replay.go     reading back in batches, heard in the order of the platform
//	token.go      whether the bot's token is accepted, asked again while it is not
//	post.go       an answer that is posted once, whatever is lost on the way
//	request.go    requests over HTTP: their size, and proofs that are used once
//	file.go       files, as far as their limit
//	cache.go      what a platform said, remembered for a while
//	wait.go       pauses between attempts, and whose time it is
//	log.go        the same line at most once a minute, however often it happens
//	channel.go    the one word that stands for a channel in a text
//	names.go      a store's names where there is no store
//
// What lives elsewhere: the wires, the shape of an event and what reading back
// costs (each adapter), and what an event means (bot/intake).
package ingest
