// Package index finds records by their words, and by their vectors where there
// are some. It is all in memory, belongs to one goroutine at a time while it
// changes, and is read by many.
//
//	index.go   Index: records put in and taken out, the terms that they have
//	text.go    what of a record and of its neighbours counts, and how much
//	question.go a question: its terms, its names, its dates, what it asks for
//	rank.go    scores: BM25 over fields, conversations, speakers, vectors, age
//	vector.go  vectors, compared exactly
//
// The ranking is Okapi BM25 over weighted fields (BM25F; Robertson and Zaragoza,
// The Probabilistic Relevance Framework, 2009); vectors are fused with it by
// reciprocal rank (Cormack, Clarke, Büttcher, 2009).
package index
