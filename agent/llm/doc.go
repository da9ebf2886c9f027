// Package llm is the door to a language model: the types of a request and of
// an answer, the Model contract, and the errors that callers tell apart.
//
//	llm.go    the types of a request and of an answer, and the contract Model
//	count.go  tokens, estimated where an endpoint reports none
//	error.go  the faults that callers tell apart
//
// What does not live here: a client (agent/llm/openai, agent/llm/rehearsal)
// and the wording of prompts (agent/prompt).
package llm
