// Package drawtest is what the tests of Slack's cards show: a card of each kind,
// and texts that would notify people.
package drawtest

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Cards are one card of each kind, by name.
func Cards() map[string]bot.Card {
	key := func(name string, kind agent.PostKind) bot.Key { return bot.Key{Run: "run-1", Name: name, Kind: kind} }
	return map[string]bot.Card{
		"card": {Key: key("card", agent.PostCard), Text: "Working: the goal", Parts: []bot.Part{
			bot.Heading{Text: "Count the words"},
			bot.Tasks{Title: "Plan", Items: []bot.TaskItem{
				{ID: "t1", Title: "Read", State: agent.TaskDone, Note: "3 files"},
				{ID: "t2", Title: "Count <b>", State: agent.TaskRunning},
				{ID: "t3", Title: "Write", State: agent.TaskPending, After: []string{"t1", "t2"}},
				{ID: "t4", Title: "Send", State: agent.TaskSkipped}, {ID: "t5", Title: "Check", State: agent.TaskFailed, Note: "no @here"},
			}},
			bot.Facts{List: []bot.Fact{{Name: "Spent", Value: "$0.12 of $5"}, {Name: "Time", Value: "2m"}}},
			bot.Small{Markdown: "asked by " + bot.Mention("slack:U1") + ", **now**"},
			bot.Buttons{List: []bot.Button{{Label: "Pause", Act: bot.ActControl, ID: "run-1", Word: "pause"}, {Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: "run-1", Word: "cancel"}}},
		}},
		"ask": {Key: key("ask/c1", agent.PostCheckpoint), Text: "May I?", Mentions: []string{"slack:U1", "slack:S1", "discord:1", "slack:nobody"}, Parts: []bot.Part{
			bot.Heading{Text: "May I delete a file?"}, bot.Prose{Markdown: "It is **old**: [see](https://x.y). By " + bot.Mention("slack:U2")},
			bot.Code{Text: "rm -f a.txt # <!channel>\n```\n"},
			bot.Buttons{List: []bot.Button{{Label: "Approve", Style: bot.StylePrimary, Act: bot.ActDecide, ID: "c1", Word: "approve"}, {Label: "Deny", Style: bot.StyleDanger, Act: bot.ActDecide, ID: "c1", Word: "deny"}}},
		}},
		"report": {Key: key("report", agent.PostReport), Text: "Done: 3 files", Parts: []bot.Part{
			bot.Prose{Markdown: "# Result\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |"}, bot.Small{Markdown: "cost $0.20"}, bot.Rating{Run: "run-1"},
		}},
		"empty": {Key: key("card", agent.PostCard)},
	}
}

// Pings are ways to write something that would notify people.
var Pings = []string{
	"<!channel>", "<!here>", "<!everyone|x>", "<@U123>", "<@W1|bob>", "<!subteam^S1>", "<!subteam^S1|@ops>", "@here", "@channel", "@Everyone",
	"&lt;!channel&gt;", `\<!channel>`, "&#60;!here&#62;", "&LT;@U1&gt;", "<&#33;here>", "&commat;here", "&#x40;channel", `<\!channel>`, `\@here`,
	"[x](!channel)", "[x](@U123)", "[x](<!here>)", "[x]: !here\n\n[x]", "![x](!here)", "`<!channel>`", "```\n<@U1>\n```", "    <!here>",
	"<https://x.y|<!here>>", "[<!channel>](https://x.y)", "[@here](https://x.y)", "https://x.y/@here", "<!date^1^{date}|@here>", "| <!here> |\n|---|\n| @here |",
	"> <!channel>", "- @channel", "# <@U1>", "<!-- --><!here>", "<b title='<@U1>'>", "&#60#62;", "&lt!here", "&LT@U1",
}
