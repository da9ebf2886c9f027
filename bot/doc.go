// Package bot is the contract between chat platforms and everything that
// deals with people. It is all that the adapters import, so a new platform needs
// nothing else.
//
//	platform.go   Platform and what one can do beside it (Director, Historian,
//	              Filer, Linker), and its errors
//	session.go    Session: how a thread's run stands; Sessions: who shows it
//	inbound.go    Inbound: what a person did (Said, Commanded, Pressed, Filled,
//	              Stopped, Visited), and what became of a place; Answer: what the platform does at once
//	card.go       Card: a message in parts, which each platform draws
//	form.go       Form and the names of fields that platforms know
//	mention.go    how texts name people without notifying them
//	markdown.go   a card as one text
//	address.go    places: platform:workspace:channel:id
//	news.go       what a surface is told that draws a run itself
//	store.go      Records: what is kept in a store beside journals
//
// Above it, each importing only those before it:
//
//	authority → runs → card → digest → recurring → intake
//	              │      └──→ posting                ↑
//	              └──→ reach ────────────────────────┘
//
// bot/text and bot/schedule stand below it. What does not live here: chat
// platforms and the terminal (adapters), working on runs (agent/loop), and
// deciding what to do next (agent).
package bot
