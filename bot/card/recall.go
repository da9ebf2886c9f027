package card

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Trend is how the earlier runs of the goal ended, the oldest first, and how
// many were done with this one; empty where there were less than two.
func Trend(r agent.Run) string {
	if r.Recalled == nil || len(r.Recalled.Episodes) < 2 {
		return ""
	}
	var ends []string
	done := 0
	count := func(s agent.RunState) {
		if s == agent.RunDone {
			done++
		}
	}
	for _, e := range r.Recalled.Episodes {
		end := string(e.State)
		if e.Rating != 0 {
			end += fmt.Sprintf(" (rated %+d)", e.Rating)
		}
		ends = append(ends, end)
		count(e.State)
	}
	text, total := "Earlier runs of this goal: "+strings.Join(ends, ", "), len(ends)
	if r.Ended == nil {
		return fmt.Sprintf("%s · %d of %d done", text, done, total)
	}
	count(r.Ended.State)
	return fmt.Sprintf("%s · with this one %d of %d done", text, done, total+1)
}

// earlierID is how a finding names an earlier run, whose id says nothing to people.
var earlierID = regexp.MustCompile(`that of the earlier run [a-z0-9]{2,16}`)

// earlierRuns is what a report says of earlier runs of its goal: how they ended,
// and what it has from them word for word.
func earlierRuns(r agent.Run) []bot.Part {
	var copies []string
	for _, f := range r.Findings {
		if f.Rule == agent.RuleCopy {
			copies = append(copies, text.Quoted(earlierID.ReplaceAllString(f.Message, "that of an earlier run"), 160))
		}
	}
	var list []bot.Part
	if len(copies) > 0 {
		list = append(list, bot.Small{Markdown: "Note: " + strings.Join(text.AtMost(copies, 3), "; ")})
	}
	if trend := Trend(r); trend != "" {
		list = append(list, bot.Small{Markdown: trend})
	}
	return list
}
