// Package llmtest is an endpoint that speaks the Chat Completions protocol for
// real: HTTP, plain and streamed answers, function calls, usage, errors, the
// list of models, embeddings. A script says what it answers. It refuses what a
// real endpoint refuses (a call without a result, a result without a call), so
// that the client under test is the client that ships.
//
// What does not live here: a model. Nothing is understood, everything is
// scripted; embeddings are hashed words.
package llmtest
