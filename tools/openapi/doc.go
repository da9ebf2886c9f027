// Package openapi makes the operations of OpenAPI 3 documents into tools: one
// operation is one tool, its parameters and its body are one JSON Schema, and
// its own documentation can be put before the model. What goes over the wire is
// made from checked arguments alone: the address is fixed by the document or
// the configuration, and credentials are put in at the last moment.
//
//	source.go     a document as a source of tools, read again when it changed
//	document.go   a document: its parts, references, operations
//	schema.go     schemas of OpenAPI as JSON Schema: references put in, cycles cut
//	operation.go  one operation: its name, its arguments, its documentation
//	request.go    arguments as a request: path, query, headers, body
//	call.go       the request sent, tried again where that is safe
//	answer.go     what came back, as text or as a file of the run
//
// A document is read into its parts once and its schemas only as far as they are
// needed: a whole library for documents took 4 s of processor time and 450 MB of
// garbage for GitHub's 13 MB, this takes a tenth of it. What does not live here:
// names and risks of tools (tools/source), and which call may run (tools/policy).
package openapi
