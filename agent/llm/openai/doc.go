// Package openai asks any endpoint that speaks the Chat Completions protocol.
//
// What lives here, in the order of a call:
//
//	openai.go    Config and Client: Complete, which asks until there is an answer
//	request.go   the request's bytes,
//	encode.go    and those of its conversation
//	capability.go what is known of OpenAI's models by name
//	exchange.go  one try over HTTP
//	stream.go    server-sent events
//	answer.go    the pieces of an answer put together,
//	chunk.go     most of them read by hand,
//	calls.go     and those of its function calls
//	fault.go     what a failure means,
//	refusal.go   in whatever shape an endpoint words it
//	quota.go     what endpoints say about their limits
//	retry.go     when it is worth another try, or another way of asking
//
//	jsonmode.go  JSON mode: functions described in text,
//	command.go   the command found in the answer,
//	repair.go    and read as JSON, however a model wrote it:
//	quote.go     its strings,
//	lenient.go   its words and spaces
//
// Two modes. In Tools mode an answer's calls are those that the endpoint
// reports, and nothing else: a command written as JSON in the text is left
// alone, because the caller answers it with a precise error. In JSON mode the
// functions are described in the last system message and the one command in
// the text becomes the one call.
//
// sashabaranov/go-openai gives the wire's types and what is known of OpenAI's
// models. It does not encode the request, as it leaves out content that is
// empty, which endpoints refuse, and puts the messages where a longer
// conversation moves everything behind them; nor does it read the answer, as
// its reader takes [DONE] for the end of the bytes and misses error events, and
// its types know one form of what servers send in several. bench_test.go holds
// both against it. What models get wrong in JSON is repaired here too: of 53
// such answers the libraries for that read half, and they complete what broke
// off within a string, which could be anything.
//
// What does not live here: prompts (agent/prompt), prices and budgets, the
// decision what to do about an unusable answer (agent/loop).
package openai
