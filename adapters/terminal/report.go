package terminal

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// ending is the report of an ended run, and one line of figures.
func ending(r agent.Run) []row {
	rows := report(r.Report)
	end := r.Ended
	if end.Reason != "" && (r.Report == nil || oneLine(r.Report.Body) != oneLine(end.Reason)) {
		rows = append(rows, row{in(bold, "Reason: "), in(normal, oneLine(end.Reason))})
	}
	if trend := card.Trend(r); trend != "" {
		rows = append(rows, row{in(dim, trend)})
	}
	done, total := r.Progress()
	var parts []string
	if total > 0 {
		parts = append(parts, thousands(int64(done))+" of "+plural(total, "task"))
	}
	parts = append(parts, cost(end.Cost, int64(end.Prompt)+int64(end.Completion)), plural(end.ModelCalls, "model call"))
	mark := map[agent.RunState]span{agent.RunDone: {"done", green}, agent.RunCancelled: {"cancelled", yellow}}[end.State]
	if mark.text == "" {
		mark = in(red, string(end.State))
	}
	word := " after "
	if end.State == agent.RunDone {
		word = " in "
	}
	return append(rows, row{mark, in(normal, word+lasting(r.Last.Sub(r.Started))+" · "+strings.Join(parts, " · "))})
}

// report is the report in the order in which people read it.
func report(rep *agent.Reported) []row {
	if rep == nil {
		return nil
	}
	rows := []row{nil, {in(bold, oneLine(rep.Headline))}, nil}
	if body := lines(rep.Body); len(body) > 0 && strings.TrimSpace(rep.Body) != strings.TrimSpace(rep.Headline) {
		for _, l := range body {
			rows = append(rows, say(l))
		}
		rows = append(rows, nil)
	}
	for _, part := range []struct {
		head string
		list []string
	}{{"Files:", rep.Artifacts}, {"Not done:", rep.Skipped}, {"Next:", rep.FollowUps}} {
		if len(part.list) == 0 {
			continue
		}
		rows = append(rows, row{in(bold, part.head)})
		for _, item := range part.list {
			rows = append(rows, say("  - "+oneLine(item)))
		}
		rows = append(rows, nil)
	}
	return rows
}

// standing sums up a run that is taken up again: its goal, its plan, and its end
// where it has one.
func standing(r agent.Run) []row {
	rows := brief(r)
	rows = append(rows, plan(r, 0)...)
	if r.Ended != nil {
		return append(rows, ending(r)...)
	}
	return append(rows, footer(r, ""))
}

// footer is one row: state, progress, spending, and the elapsed time unless it is empty.
func footer(r agent.Run, elapsed string) row {
	parts := []string{string(r.State())}
	if done, total := r.Progress(); total > 0 {
		parts = append(parts, "tasks "+thousands(int64(done))+"/"+thousands(int64(total)))
	}
	switch usd := r.Spent.Dollars(); {
	case r.Spent.Calls == 0:
	case usd == nil:
		parts = append(parts, cost(nil, r.Spent.Tokens()))
	default:
		parts = append(parts, "spent "+dollars(*usd))
	}
	if elapsed != "" {
		parts = append(parts, elapsed)
	}
	return row{in(dim, strings.Join(parts, " · "))}
}
