// Package lexicon takes texts apart into the words that they are found by. It
// is pure, and its tables are read when they are first needed.
//
//	token.go    Words: a text as a list of words in their basic forms
//	table.go    the tables: words that say nothing, irregular forms, related words
//	date.go     days and months in texts and questions
//	data/*.txt  the tables themselves
package lexicon
