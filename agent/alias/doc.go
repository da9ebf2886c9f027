// Package alias knows functions under other names: models that learnt AutoGPT's
// commands, or prompts that were written for them, call those. A call under such a
// name becomes the function that is offered for it, with its arguments in place.
//
//	alias.go  the table, and how a call is looked up in it
package alias
