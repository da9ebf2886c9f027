// Package drawtest holds cards of every kind, and texts that try to notify
// somebody, for the tests of what Discord shows.
package drawtest

import (
	"regexp"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// People and roles that the cards name.
const (
	Ann  = "discord:120000000000000001"
	Ben  = "discord:120000000000000002"
	Crew = "discord:&130000000000000001"
)

// Cards are cards of every kind, by their names.
func Cards() map[string]bot.Card {
	key := func(name string, kind agent.PostKind) bot.Key { return bot.Key{Run: "run-1", Name: name, Kind: kind} }
	return map[string]bot.Card{
		"card": {Key: key("card", agent.PostCard), Text: "Working: the goal", Parts: []bot.Part{
			bot.Heading{Text: "Count the *words*"},
			bot.Prose{Markdown: "**Working** on 1 task."},
			bot.Tasks{Title: "Plan", Items: []bot.TaskItem{
				{ID: "t1", Title: "Read", State: agent.TaskDone, Note: "3 files"},
				{ID: "t2", Title: "Count <b>", State: agent.TaskRunning},
				{ID: "t3", Title: "Write", State: agent.TaskPending, After: []string{"t1", "t2"}},
				{ID: "t4", Title: "Send", State: agent.TaskSkipped}, {ID: "t5", Title: "Check", State: agent.TaskFailed, Note: "no @here"},
			}},
			bot.Facts{List: []bot.Fact{{Name: "Spent", Value: "$0.12 of $5"}, {Name: "Time", Value: "2m"}}},
			bot.Small{Markdown: "asked by " + bot.Mention(Ann) + ", **now**"},
			bot.Buttons{List: []bot.Button{{Label: "Pause", Act: bot.ActControl, ID: "run-1", Word: "pause"}, {Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: "run-1", Word: "cancel"}}},
		}},
		"ask": {Key: key("ask/c1", agent.PostCheckpoint), Text: "May I?", Mentions: []string{Ann, Crew, "slack:U1", "discord:nobody", Ann}, Parts: []bot.Part{
			bot.Heading{Text: "May I delete a file?"}, bot.Prose{Markdown: "It is **old**: [see](https://x.y). By " + bot.Mention(Ben) + " and " + bot.Mention("slack:U_2")},
			bot.Code{Text: "rm -f a.txt # <@120000000000000002>\n```\n@everyone " + bot.Mention(Ben)},
			bot.Buttons{List: []bot.Button{{Label: "Approve", Style: bot.StylePrimary, Act: bot.ActDecide, ID: "c1", Word: "approve"}, {Label: "Deny", Style: bot.StyleDanger, Act: bot.ActDecide, ID: "c1", Word: "deny"}}},
		}},
		"report": {Key: key("report", agent.PostReport), Text: "Done: 3 files", Mentions: []string{Ann}, Parts: []bot.Part{
			bot.Heading{Text: "Done: 3 files"},
			bot.Prose{Markdown: "# Result\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |"}, bot.Small{Markdown: "cost $0.20"}, bot.Rating{Run: "run-1"},
		}},
		"long":   {Key: key("report", agent.PostReport), Text: "Done", Parts: []bot.Part{bot.Heading{Text: "Done"}, bot.Prose{Markdown: strings.Repeat("A paragraph of *some* words.\n\n", 300)}, bot.Rating{Run: "run-1"}}},
		"choose": {Key: key("ask/c2", agent.PostCheckpoint), Text: "Which?", Parts: []bot.Part{bot.Prose{Markdown: "Which one?"}, Choices(30)}},
		"empty":  {Key: key("card", agent.PostCard)},
	}
}

// Choices are so many buttons of one question.
func Choices(n int) bot.Buttons {
	var list []bot.Button
	for i := range n {
		word := string(rune('a'+i%26)) + strings.Repeat("x", i)
		list = append(list, bot.Button{Label: "Choice " + word, Act: bot.ActDecide, ID: "c2", Word: word})
	}
	return bot.Buttons{List: list}
}

// Calls matches what Discord would read as the name of somebody or something.
var Calls = regexp.MustCompile(`(?i)<[@#/]|@everyone|@here`)

// Pings are ways to write something that would notify people.
var Pings = []string{
	"@everyone", "@here", "@Everyone", "<@120000000000000001>", "<@!120000000000000001>", "<@&130000000000000001>", "<#110000000000000001>", "</run:1>", "<id:home>",
	"&commat;everyone", "&#64;here", "&#x40;everyone", "&lt;@120000000000000001&gt;", `\<@120000000000000001>`, `<\@120000000000000001>`, `\@here`,
	"[x](@everyone)", "[@everyone](https://x.y)", "[<@120000000000000001>](https://x.y)", "[x](<@120000000000000001>)", "[x]: @here\n\n[x]", "![@here](https://x.y)",
	"`@everyone`", "```\n@here\n```", "    <@1>", "https://x.y/@here", "https://x.y/@everyone", "> @here", "- @everyone", "# @here", "| @here |\n|---|\n| <@1> |",
	"@[everyone](x)", "@<!-- -->everyone", "@**everyone**", "<[@1](x)>", "<b title='@everyone'>", "@every&#111;ne", "@\\everyone", "-# @here", "[x](https://x.y \"@here\")",
}
