// Package request is the tools that send requests to services for which there is
// neither an MCP server nor an OpenAPI document: http_request to hosts that the
// configuration lists, and post_external for one text to one place.
//
//	request.go  the tool http_request
//	send.go     a request made of arguments, with credentials that the model never sees
//	answer.go   what came back, as the model reads it
//	post.go     the tool post_external
//
// What does not live here: pages (tools/web), operations of a document
// (tools/openapi), posts in chat (bot).
package request
