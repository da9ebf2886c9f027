// Package pack is packs: folders of tools that a team reads, reviews and keeps in
// git.
//
//	source.go   a pack as a source of tools; read again when a file changes
//	pack.go     a pack read from its folder: what it gives and what is wrong with it
//	probe.go    what only trying shows: queries against the dataset, examples
//	build.go    a definition made into a tool
//	tool.go     what all tools of packs have in common
//	query.go    kind data: SQL over the pack's dataset
//	http.go     kind http: a request
//	command.go  kind command: a program in the sandbox
//	script.go   kind script: JavaScript
//	fixture.go  the pack's dataset: tables of CSV, JSON and YAML, or a database
//	fill.go     templates: {name} in texts and values
//	define.go   a tool as its file writes it down
//	decode.go   YAML with the line of everything that is wrong
//	shipped.go  the packs that come with the program, as data
//
// A pack is files and nothing else: pack.yaml, tools/*.yaml, data/*, openapi/*,
// mcp.json. What stands behind each tool is pinned with it (tools/source), so that
// a file that changed counts once somebody accepted it.
//
// What does not live here: servers and documents of a pack (tools/mcp,
// tools/openapi, connected by cmd/internal/app/kit), its roles, playbooks and skills.
package pack
