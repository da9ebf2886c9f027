// Package mcp is the client of MCP servers: what a server offers by the Model
// Context Protocol becomes tools of runs. A server is a child process that
// speaks over its standard input and output, or an address that speaks
// streamable HTTP; the official SDK speaks the protocol.
//
//	server.go    a Server as a source of tools: started when it is needed, again after a pause
//	stdio.go     a server as a child process, ended with all that it started
//	http.go      a server at an address: bounds, redirects, streams that break off
//	tool.go      one tool, one call: sent once, and what became of it
//	resource.go  resources, read as tools
//	content.go   results as text and files
//	secret.go    secrets kept out of everything that a server says
//
// A server that hangs, dies, floods or lies costs its own calls and nothing
// else. What does not live here: names and risks of tools (tools/source), which
// call may run (tools/policy), and Deckhand as a server (bot/handover).
package mcp
