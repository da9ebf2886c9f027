// Package prompt turns a run into a request to a model. Prompts are files with
// an id, a version, a model pin and the functions that they offer; their hash
// is in every event that they lead to.
//
//	request.go   Request: what a strand asks next, and what its templates see
//	compact.go   what fits a model's window, and what stands for what does not
//	checkin.go   what a check-in sees · recall.go  what earlier runs came to
//	standing.go  Standing: where the run stands, for the worker of a task
//	offer.go     which of many tools a strand is offered, and how foreign ones are described
//	message.go   one entry of a conversation; texts of others framed as data
//	prompt.go    Book: the prompt files (files/), parsed and hashed
//
// Deciding when to ask is agent's, asking is agent/loop's.
package prompt
