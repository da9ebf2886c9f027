package card

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Report is the final message of an ended run: its outcome, what changed,
// the files, what was not done, and what it cost.
func Report(r agent.Run) bot.Card {
	c := bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyReport, Kind: agent.PostReport}}
	if r.Brief.Requester != "" {
		c.Mentions = []string{r.Brief.Requester}
	}
	rep := agent.Reported{}
	if r.Report != nil {
		rep = *r.Report
	}
	head := text.InLine(rep.Headline, 140)
	if strings.HasPrefix(head, "0 of 0 ") { // of a run that ended before its plan: it says nothing
		head = text.InLine(r.Brief.Goal, 140)
	}
	if r.Ended != nil && !strings.HasPrefix(head, endings[r.Ended.State]) {
		head = endingWords(r, func(who string) string {
			if who == r.Brief.Requester { // whom the report is for
				return "you"
			}
			return bot.Mention(who)
		}) + ": " + head
	}
	c.Text = head
	c.Parts = []bot.Part{bot.Heading{Text: head}}
	c.Parts = append(c.Parts, reasonParts(r, rep)...)
	if r.Ended != nil && rep.Body == r.Ended.Reason { // no model wrote it
		rep.Body = format.Capital(People(r, rep.Body)) + "."
	}
	if body := strings.TrimSpace(text.Safe(rep.Body)); body != "" && body != strings.TrimSpace(rep.Headline) {
		c.Parts = append(c.Parts, bot.Prose{Markdown: body})
	}
	section(&c, "Files", files(r, rep))
	kept(&c, "Not done", undone(r, rep))
	section(&c, "Next", quotes(rep.FollowUps))
	section(&c, "Sources", sources(r, rep))
	c.Parts = append(c.Parts, earlierRuns(r)...)
	if line := strings.Join(figures(r), " · "); line != "" {
		c.Parts = append(c.Parts, bot.Small{Markdown: line})
	}
	c.Parts = append(c.Parts, bot.Rating{Run: r.ID})
	return c
}

// reasonParts are why a run ended otherwise than as it should, as far as the report
// does not say it, and where nobody helped it what it had tried.
func reasonParts(r agent.Run, rep agent.Reported) []bot.Part {
	if r.Ended == nil || r.Ended.State == agent.RunDone || r.Ended.Reason == "" || strings.Contains(rep.Body, r.Ended.Reason) || listed(r) {
		return nil
	}
	if c, is := unhelped(r); is {
		why := strings.TrimSuffix(Title(r, c), ".") + ". Nobody said in time what to do."
		return append([]bot.Part{bot.Prose{Markdown: "**Reason**: " + text.Escape(why)}}, triedParts(r, c)...)
	}
	return []bot.Part{bot.Prose{Markdown: "**Reason**: " + People(r, text.Quoted(r.Ended.Reason, 600))}}
}

// section adds a list under a title to a card, if there is anything in it.
func section(c *bot.Card, title string, items []string) {
	if len(items) > 0 {
		c.Parts = append(c.Parts, bot.Prose{Markdown: "**" + title + "**\n- " + strings.Join(items, "\n- ")})
	}
}

// kept adds a list that people must not miss.
func kept(c *bot.Card, title string, items []string) {
	if section(c, title, items); len(items) > 0 {
		list, _ := c.Parts[len(c.Parts)-1].(bot.Prose)
		list.Keep = true
		c.Parts[len(c.Parts)-1] = list
	}
}

// files are the artifacts, and for each whether it is in the thread.
func files(r agent.Run, rep agent.Reported) []string {
	var list []string
	for i, file := range rep.Artifacts {
		line := text.Quoted(file, 200)
		if name := outputName(r, file); name != "" {
			line = text.Quoted(name, 80) + " – " + line
		}
		if r.Brief.ReplyTo == "" { // there is no thread to attach it to
			list = append(list, line)
			continue
		}
		shown, tried := r.Shown[agent.KeyUpload(i)]
		switch {
		case shown.Failed != "":
			line += " – not attached: " + Unposted(shown.Failed, 300)
		case tried:
			line += " – attached"
		default:
			line += " – not attached, it is in the workspace"
		}
		list = append(list, line)
	}
	return list
}

// outputName is what the run calls a file that is one of its outputs, "" where the
// file's own name says as much.
func outputName(r agent.Run, file string) string {
	for _, t := range r.Plan.Tasks {
		for _, o := range r.Tasks[t.ID].Outputs {
			if o.File == file && !strings.Contains(file, o.Name) {
				return o.Name
			}
		}
	}
	return ""
}

// undone is everything that failed or was skipped: the report's own list, and
// the tasks that it does not mention.
func undone(r agent.Run, rep agent.Reported) []string {
	list := quotes(rep.Skipped)
	for i := range list {
		list[i] = People(r, list[i])
	}
	told := strings.Join(rep.Skipped, "\n")
	for _, t := range r.Plan.Tasks {
		s := r.Tasks[t.ID]
		if s.State == agent.TaskDone || strings.Contains(told, taskTitle(t)) {
			continue
		}
		line := text.Quoted(taskTitle(t), 120)
		switch s.State {
		case agent.TaskFailed:
			line += " – failed"
		case agent.TaskPending, agent.TaskRunning, agent.TaskSkipped, agent.TaskDone:
			line += " – skipped"
		}
		if s.Reason != "" {
			line += ": " + People(r, text.Quoted(s.Reason, 300))
		}
		list = append(list, line)
	}
	return list
}

// maxSources is how many addresses a report lists.
const maxSources = 10

// sources are the web addresses among the tasks' outputs that the report's
// text does not name.
func sources(r agent.Run, rep agent.Reported) []string {
	var list []string
	for _, t := range r.Plan.Tasks {
		for _, o := range r.Tasks[t.ID].Outputs {
			var one string
			var several []string
			if json.Unmarshal(o.Value, &one) == nil {
				several = []string{one}
			} else if json.Unmarshal(o.Value, &several) != nil {
				continue
			}
			for _, address := range several {
				if isWeb(address) && !strings.Contains(rep.Body, address) && !slices.Contains(list, address) {
					list = append(list, address)
				}
			}
		}
	}
	if more := len(list) - maxSources; more > 0 {
		list = append(list[:maxSources], fmt.Sprintf("and %d more", more))
	}
	return list
}

func isWeb(s string) bool {
	return (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")) && len(s) < 500 &&
		format.Visible(s) == s && !strings.ContainsAny(s, " \n\t<>[]()|`*")
}
