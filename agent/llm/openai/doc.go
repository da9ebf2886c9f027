// Package openai asks any endpoint that speaks the Chat Completions protocol,
// with sashabaranov/go-openai as the wire.
//
// What lives here: the request's bytes and their count (body.go), one try
// over HTTP (exchange.go, tail.go), the pieces of a streamed answer put together (answer.go,
// calls.go), what a failure means and whether it is worth another try
// (fault.go, retry.go), and JSON mode for endpoints without function calling
// (jsonmode.go, repair.go, quote.go).
//
// Two modes. In Tools mode an answer's calls are those that the endpoint
// reports, and nothing else: a command written as JSON in the text is left
// alone, because the caller answers it with a precise error. In JSON mode the
// functions are described in the last system message and the one command in
// the text becomes the one call.
//
// Why go-openai does not encode the request: it encodes every message twice
// and drops the content of a tool message that is empty, which endpoints
// refuse. It sends the bytes that body.go made, and reads the answer.
//
// What does not live here: prompts (agent/prompt), prices and budgets, the
// decision what to do about an unusable answer (agent/loop).
package openai
