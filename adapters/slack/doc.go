// Package slack connects one bot account to one Slack workspace: it takes in
// what people do there (Socket Mode, signed HTTP requests, or both at once) and
// shows what a run has to say.
//
//	Slack → socket, or http.go with verify.go → intake.go reads the payload
//	  (wire), keeps its order (adapters/ingest) → hear.go finds out who did it,
//	  has it written down (bot.Hear) → it is acknowledged → answer.go does what
//	  is to be done at once
//	bot/posting → post.go draws the card (draw) and sends it (api) → Slack
//
//	slack.go             Slack, its configuration, links to messages
//	intake.go ready.go   listening; whether events come in
//	hear.go              who did it, where, and their words as people read them
//	http.go verify.go    the HTTP routes, and the proof that Slack sent a request
//	catchup*.go marks.go what was said while the bot was away; how far each channel was read
//	answer.go            forms, marks, private answers, the home page
//	post.go names.go     posts and edits; the people who are named in them
//	session.go           how the run of a thread stands: status, title, Stop
//	prompts.go           what one may say in the conversation that is open
//	features.go          what a workspace lacks
//	manifest.go check.go the app's manifest, and whether the app has what it needs
//
// What lives elsewhere: what a message means, who may do what, and when
// something is posted (bot/...). Slack's own types end here.
package slack
