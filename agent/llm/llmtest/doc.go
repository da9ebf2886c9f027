// Package llmtest is an endpoint that speaks the Chat Completions protocol for
// real: HTTP, plain and streamed answers, function calls, usage, errors, the
// list of models, embeddings. A script says what it answers. It refuses what a
// real endpoint refuses (a call without a result, a result without a call), so
// that the client under test is the client that ships.
//
//	handler.go    the endpoint: which answer a request gets, and how
//	script.go     what tests write: scripts, and the replies that they give
//	server.go     an endpoint that runs, for tests that want to know what it was asked
//	wire.go       requests, read as strictly as a real endpoint reads them
//	answer.go     answers, plain and streamed
//	embedding.go  embeddings: hashed words
//
// What does not live here: a model. Nothing is understood, everything is
// scripted; embeddings are hashed words.
package llmtest
