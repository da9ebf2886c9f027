// Package page makes text out of what the web gives: pages and documents become
// Markdown with a title and their links, whatever they are written in.
//
//	page.go    what a document is read into; which way of reading fits it
//	text.go    plain texts, and encodings found out and undone
//	html.go    pages: their article, or all of their text, and their links
//	pdf.go     PDF documents
//	child.go   the child process in which a document is read, and its bounds
//
// What strangers wrote is read in a child process of this program, in the
// sandbox: a document that takes a parser down, holds it for ever or unpacks to
// more than there is memory costs that child, and is an error with a reason.
//
// What does not live here: fetching (tools/web), and what a model is told of it.
package page
