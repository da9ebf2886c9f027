// Package web is the tools that look at the web: web_search asks a search engine,
// browse_website reads a page or a document and gives the parts of it that answer
// a question.
//
//	web.go      what the tools are made from
//	fetch.go    an address fetched within bounds
//	browse.go   the tool browse_website
//	passage.go  the parts of a long text that a question is about
//	browser.go  pages that programs write: a headless browser in the sandbox
//	search.go   the tool web_search
//	engine.go   the search engines: how each is asked, and what it says
//
// Everything is fetched through tools/egress and is a stranger's text: it is
// labelled so, and none of it decides anything.
//
// What does not live here: how a document becomes text (tools/page), requests to
// APIs (tools/request).
package web
