// Package words plays what people say in the thread of a run, word for word, against
// a whole Deckhand with a scripted model: testdata/utterances.tsv says what each of
// them must come to.
package words
