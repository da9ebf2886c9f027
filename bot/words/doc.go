// Package words knows the words of people that mean one thing alone, in the languages
// of table.tsv: stop, go on, yes, no. They count without a model; what is not in the
// table is read by one (agent/hearing.go).
//
//	table.tsv  the words: the one place to add to
//	words.go   a text looked up, whatever its case, accents and politeness
//
// What does not live here: what follows from a meaning, which bot/intake decides.
package words
