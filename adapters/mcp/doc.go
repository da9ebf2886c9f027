// Package mcp makes Deckhand a server of the Model Context Protocol: other agents
// hand it goals, answer its questions and take its artifacts, over standard input
// and output or over HTTP with a token. What they do goes the way of people: the
// same facts in the same journals, under the same authority and budget.
//
//	server.go  the server, its transports, and the token before it
//	tools.go   run, status, answer, cancel
//	view.go    a run as another agent sees it, and its files
//
// What does not live here: the client of other servers (tools/mcp), and what a
// decision comes to (bot/runs).
package mcp
