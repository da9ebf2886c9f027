// Package source is where tools come from while Deckhand runs: a Source gives
// tools (the families that are built in, MCP servers, OpenAPI documents, packs),
// and the Registry keeps what all of them give as the one set that runs are
// offered.
//
//	source.go    what a Source is; tools that are always there
//	registry.go  the Registry: what all sources give, at this moment
//	watch.go     sources are asked, asked again when they change, and when they fail
//	name.go      SOURCE__TOOL: names that every endpoint takes, and no two alike
//	pin.go       what tools were when they were first seen, and what changed since
//	adopt.go     a foreign tool as runs see it: its texts bounded, its risk not its own word
//
// What does not live here: what a source speaks (tools/mcp, tools/openapi,
// tools/pack), which call may run (tools/policy), which of many tools a
// task is offered (tools/find).
package source
