package card

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What each event of a journal means to somebody who follows the run as it
// goes.

// maxNews is how many characters of a text one line of news shows.
const maxNews = 400

// News is what an event means to people, nothing for most events. Questions
// and the end of a run have cards of their own.
func News(before, after agent.Run, e agent.Event) []bot.News {
	switch b := e.Body.(type) {
	case agent.PersonSaid:
		return saidNews(b)
	case agent.RunControlled:
		return controlNews(b)
	case agent.CheckpointVoted:
		return []bot.News{{Tone: bot.ToneQuiet, Text: inNews(b.By) + " approves; more approvals are needed"}}
	case agent.CheckpointDecided:
		return decisionNews(before, b)
	case agent.Feedback:
		return []bot.News{{Tone: bot.ToneQuiet, Text: "feedback by " + inNews(b.By) + ": " + inNews(b.Comment)}}
	default:
		return workNews(before, after, e)
	}
}

// workNews is what came of the work itself.
func workNews(before, after agent.Run, e agent.Event) []bot.News {
	switch b := e.Body.(type) {
	case agent.ModelAnswered:
		return answerNews(b)
	case agent.CallReplied:
		return replyNews(before, e.Strand, b)
	case agent.PlanAccepted:
		return planNews(after, b)
	case agent.TaskStarted:
		return []bot.News{{Tone: bot.ToneTask, State: agent.TaskRunning, About: strandTitle(after, agent.TaskStrand(b.Task)), Step: true}}
	case agent.TaskJudged:
		return judgeNews(after, e.Strand, b)
	case agent.TaskEnded:
		return endNews(after, b)
	case agent.ToolIntent:
		return intentNews(e.Strand, b)
	case agent.ToolOutcome:
		return outcomeNews(before, e.Strand, b)
	case agent.BudgetNotice:
		return []bot.News{{Tone: bot.ToneNotice, Text: fmt.Sprintf("%d %% of the budget for %s is used", b.Percent, budgetWord(b.Budget))}}
	case agent.Finding:
		return findingNews(before, b)
	default: // a card shows it, or nobody needs to know
		return nil
	}
}

func inNews(s string) string { return text.InLine(s, maxNews) }

// budgetWord is a budget's name where it is spoken of alone.
func budgetWord(budget string) string {
	if budget == agent.BudgetTime || budget == agent.BudgetSteps {
		return budget
	}
	return BudgetName(budget)
}

// findingNews tells what a detector or a check-in found, once: a check-in often
// passes on what an exact rule found in the same work.
func findingNews(before agent.Run, f agent.Finding) []bot.News {
	told := f.Rule == agent.RuleCheckIn && slices.ContainsFunc(before.Findings, func(o agent.Finding) bool {
		return o.Strand == f.Strand && o.Message == f.Message
	})
	if told {
		return nil
	}
	return []bot.News{{Tone: bot.ToneNotice, Text: inNews(f.Message)}}
}

func saidNews(b agent.PersonSaid) []bot.News {
	if b.Text == "" { // taken back before anything came of it
		return nil
	}
	who := inNews(b.By)
	if !b.Trusted {
		who += " (no authority here)"
	}
	if b.Author != "" {
		who += ", with a note of " + inNews(b.Author)
	}
	return []bot.News{{Tone: bot.TonePerson, About: who, Text: inNews(b.Text)}}
}

func controlNews(b agent.RunControlled) []bot.News {
	line, told := map[agent.Word]string{
		agent.WordPause: "paused by " + b.By, agent.WordResume: "resumed by " + b.By, agent.WordCancel: "cancelled by " + b.By,
		agent.WordLeave: "end of input: nobody can be asked about trouble from here on",
	}[b.Word]
	if !told {
		return nil
	}
	if b.Reason != "" {
		line += ": " + b.Reason
	}
	return []bot.News{{Tone: bot.TonePerson, Text: inNews(line)}}
}

func answerNews(b agent.ModelAnswered) []bot.News {
	switch {
	case b.Purpose == "check-in" && b.Error != "": // the work goes on
		return []bot.News{{Tone: bot.ToneQuiet, Text: "a check-in is left out: " + inNews(b.Error)}}
	case b.Refused:
		return []bot.News{{Tone: bot.ToneProblem, About: "the model refused", Text: inNews(b.Error)}}
	case !b.RetryAt.IsZero():
		return []bot.News{{Tone: bot.ToneNotice, Text: "the model " + retryWords(b.RetryReason, b.RetryAt)}}
	case b.Error != "":
		return []bot.News{{Tone: bot.ToneProblem, About: "the model could not be asked", Text: inNews(b.Error)}}
	case b.Lost:
		return []bot.News{{Tone: bot.ToneNotice, Text: "a model call was cut off by an interruption; it counts as spent"}}
	}
	return nil
}

// replyNews tells of calls that people or the policy did not allow. Where a
// person decided, the decision was told.
func replyNews(before agent.Run, id agent.StrandID, b agent.CallReplied) []bot.News {
	if b.Problem || (!strings.HasPrefix(b.Text, "denied ") && !strings.HasPrefix(b.Text, "expired")) {
		return nil
	}
	name := ""
	for _, c := range OpenCalls(before.Strands.Of(id)) {
		if c.Effect == b.Effect {
			if c.Checkpoint != "" {
				return nil
			}
			name = strings.ReplaceAll(text.InLine(c.Name, 60), "_", " ")
		}
	}
	return []bot.News{{Tone: bot.ToneDeclined, About: name, Text: inNews(b.Text)}}
}

func planNews(after agent.Run, b agent.PlanAccepted) []bot.News {
	head := bot.News{About: "Plan", Text: format.Count(len(b.Plan.Tasks), "task")}
	if after.Plans > 1 {
		head.About = "New plan"
	}
	if name := text.InLine(b.Plan.Name, 100); name != "" {
		head.Text = name + " · " + head.Text
	}
	news := []bot.News{head}
	if b.Reason != "" {
		news = append(news, bot.News{Tone: bot.ToneQuiet, Text: "because: " + inNews(b.Reason)})
	}
	for _, f := range b.Findings {
		if f.Severity == agent.SeverityWarning {
			news = append(news, bot.News{Tone: bot.ToneQuiet, Text: "note: " + inNews(f.Message)})
		}
	}
	return news
}

func judgeNews(after agent.Run, id agent.StrandID, b agent.TaskJudged) []bot.News {
	if b.Accepted {
		return nil
	}
	why := strings.Join(b.Reasons, "; ")
	if len(b.Missing) > 0 {
		why += " (missing: " + strings.Join(b.Missing, "; ") + ")"
	}
	return []bot.News{{Tone: bot.ToneNotice, About: strandTitle(after, id) + " was sent back", Text: inNews(why)}}
}

func endNews(after agent.Run, b agent.TaskEnded) []bot.News {
	came := b.Summary
	if b.State != agent.TaskDone {
		came = b.Reason
	}
	return []bot.News{{Tone: bot.ToneTask, State: b.State, About: strandTitle(after, agent.TaskStrand(b.Task)), Text: inNews(came)}}
}

func intentNews(id agent.StrandID, b agent.ToolIntent) []bot.News {
	if id == agent.Voice { // what is posted is seen
		return nil
	}
	return []bot.News{{Tone: bot.ToneQuiet, Text: Phrase(b.Tool, b.Arguments), Step: true}}
}

func outcomeNews(before agent.Run, id agent.StrandID, b agent.ToolOutcome) []bot.News {
	name := "the call"
	for _, c := range OpenCalls(before.Strands.Of(id)) {
		if c.Effect == b.Effect && c.Intent != nil {
			name = Phrase(c.Intent.Tool, c.Intent.Arguments)
		}
	}
	switch b.State {
	case agent.OutcomeUnknown:
		return []bot.News{{Tone: bot.ToneNotice, About: name, Text: "nobody knows whether it happened"}}
	case agent.OutcomeSkipped:
		return []bot.News{{Tone: bot.ToneDeclined, About: name, Text: "skipped"}}
	case agent.OutcomeError:
		return []bot.News{{Tone: bot.ToneQuiet, Text: name + ": " + text.InLine(b.Text, 200), Step: true}}
	case agent.OutcomeOK:
	}
	return nil
}

func decisionNews(before agent.Run, b agent.CheckpointDecided) []bot.News {
	if b.Decision == agent.DecideExpired {
		return []bot.News{{Tone: bot.ToneDeclined, Text: "nobody answered in time"}}
	}
	check := before.Checks[b.ID]
	word, known := done[b.Decision]
	said := b.Text
	switch {
	case known:
	case check.Ask != agent.CheckClarify:
		word = Label(b.Decision)
	default: // a choice's own words
		word, said = done[agent.DecideAnswer], strings.TrimSpace(b.Decision+" "+said)
	}
	news := []bot.News{{Tone: bot.TonePerson, About: inNews(word + " by " + b.By), Text: inNews(said)}}
	for _, q := range check.Questions {
		if a := b.Answers[q.ID]; a != "" {
			news = append(news, bot.News{Tone: bot.ToneQuiet, Text: inNews(q.Question) + " → " + inNews(a)})
		}
	}
	return news
}

// strandTitle names the task of a strand, "" for the other strands.
func strandTitle(r agent.Run, id agent.StrandID) string {
	task, is := id.Task()
	if !is {
		return ""
	}
	t, known := r.Plan.Task(task)
	if !known {
		t.ID = task
	}
	return text.InLine(taskTitle(t), 120)
}
