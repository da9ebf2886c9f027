// Package card is the only place that words a run for people. Everything in it
// is a pure function of a run's fold and the time: it reads and writes nothing.
//
//	live.go       Live: the run's one card          state.go   what happens now, in a line
//	question.go   Question, Reminder, Closed        asks.go    what a question is about
//	stuck.go      the question of a way out         review.go  the question of the reviewers
//	arguments.go  a call's arguments                buttons.go the words that can be clicked
//	report.go     Report: the end of a run          recall.go  earlier runs of its goal
//	scheduled.go  posts of scheduled reports        answer.go  answers to commands
//	home.go       the bot's own page                status.go  a run in a list
//	news.go       what an event means to people     phrase.go  a call in a few words
//	note.go       a colleague's suggestion
//	telling.go    all of it for a surface that one person looks at (bot.Telling)
//
// What does not live here: how a part is drawn (adapters), when a card is posted
// or edited (bot/posting), reports about many runs (bot/digest).
package card
