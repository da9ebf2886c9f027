package moments

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// Moments of a run at work: its card, what is said to it, pause and cancel.

func working() []entry {
	return slices.Concat(progressing(), understood(), lackingAModel(), steered())
}

// understood is what comes of words that no exact word decides.
func understood() []entry {
	heard := func(text string, b agent.Understood) func(s *scene) {
		return func(s *scene) {
			s.works()
			s.hears(text, b)
		}
	}
	return []entry{
		{"heard-stop", "Words are understood as a stop", heard("hold on, that is the wrong folder", agent.Understood{Meaning: agent.MeansStop, Noted: true})},
		{"heard-answer", "A question to the run is answered", heard("is it going well?",
			agent.Understood{Meaning: agent.MeansQuestion, Text: "Yes: 41 merged pull requests are read, and I am sorting them now. The notes come next."})},
		{"heard-unknown", "A question that the run's notes do not answer", heard("who will read this?", agent.Understood{Meaning: agent.MeansQuestion})},
		{"heard-unable", "No model can read what somebody says", heard("be so kind and stop some day",
			agent.Understood{Meaning: agent.MeansSteering, Unable: "the model does not answer", Noted: true})},
		{"heard-schedule", "Words in a run's thread are understood as something for later", heard("remind us every Monday at 9 to look at the deploys",
			agent.Understood{Meaning: agent.MeansSchedule})},
		{"heard-later", "Something for later that is said beside the work is kept", heard("do this every Monday at 9 too", agent.Understood{Meaning: agent.MeansSchedule,
			Schedule: &agent.Scheduled{Name: "goal-x7k2q", Kind: "schedule", When: "every Monday at 9:00 (Europe/Berlin)", What: "“" + theGoal + "”",
				Next: []time.Time{noon.Add(164 * time.Hour), noon.Add(332 * time.Hour), noon.Add(500 * time.Hour)}}})},
		{"heard-yes", "Words are understood as a yes", func(s *scene) {
			writeAsked(s)
			s.known()
			s.hears("looks fine from here", agent.Understood{Meaning: agent.MeansConsent, Of: s.check().ID, Decision: agent.DecideApprove})
		}},
		{"typed-late", "A word was written before the question was there", func(s *scene) {
			writeAsked(s)
			s.known()
			s.typed(s.Alice, "approve")
		}},
	}
}

// hears is what the run says of Ann's words, once they are understood.
func (s *scene) hears(text string, b agent.Understood) {
	if s.terminal() {
		return
	}
	s.steps = append(s.steps, Said{By: s.Ann, Text: text, Answer: bot.Answer{}})
	s.happens(agent.Main, agent.PersonSaid{By: s.Ann.ID, Text: text, Trusted: true, Unread: &agent.Unread{Where: s.thread().String()}})
	r := s.fold()
	b.Said, b.Trusted = r.Seq, true
	s.happens(agent.Hear, b)
	if b.Meaning == agent.MeansStop {
		s.happens(agent.Main, agent.RunControlled{Word: agent.WordPause, By: s.Ann.ID})
	}
	c, known := card.Heard(s.fold(), b.Said)
	if !known {
		s.fails(errors.New("nothing is told of the words"))
	}
	s.posts(c)
}

// suggested is a colleague's note, for whoever may steer the run.
func suggested(s *scene) {
	if s.terminal() {
		return
	}
	s.works()
	a := s.receives(s.Ben, s.thread(), said("the screenshots are in the wiki, under Releases"))
	if a.Public == nil {
		s.fails(errors.New("the note is offered to nobody"))
		return
	}
	s.steps = append(s.steps, Said{By: s.Ben, Text: "the screenshots are in the wiki, under Releases"})
	s.posts(*a.Public)
}

// uses presses the button of the note that was posted last.
func (s *scene) uses(by bot.Person) {
	if s.terminal() || s.err != nil {
		return
	}
	for _, p := range s.last.Parts {
		if list, are := p.(bot.Buttons); are {
			a := s.receives(by, s.thread(), bot.Pressed{Button: list.List[0]})
			if a.Instead == nil {
				s.fails(errors.New("the note is not used"))
				return
			}
			s.edits(*a.Instead)
		}
	}
}

// watches has the run's card shown in a thread of another place, while its question
// stands in its own.
func (s *scene) watches(by bot.Person) {
	s.asks(by, "watch "+string(s.run))
	s.questionStands()
	s.posts(card.Deciding(card.Live(s.fold(), s.store.now), s.fold(), func(string) string { return "https://chat.example/the-question" }))
}

// questionStands says that the newest question was posted in the run's thread.
func (s *scene) questionStands() {
	s.happens(agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyAsk(s.check().ID)}.Effect(), State: agent.OutcomeOK,
		Text: agent.Shown{Message: s.thread().At("19.1").String(), Thread: s.thread().String(), At: s.store.now}.Text()})
}

// typed is a word that was written as the question was put.
func (s *scene) typed(by bot.Person, text string) {
	if s.terminal() {
		return
	}
	s.questionStands()
	s.says(by, text)
}

// progressing is a run that gets on.
func progressing() []entry {
	return []entry{
		{"working", "The run works", func(s *scene) {
			s.works()
			s.card()
		}},
		{"noted", "The requester says something on the way", func(s *scene) {
			s.works()
			s.says(s.Ann, "leave the internal changes out")
		}},
		{"colleague", "A colleague says something on the way", func(s *scene) {
			s.works()
			s.talks(s.Ben, "the screenshots are in the wiki")
			s.says(s.Ben, "stop")
		}},
		{"note-suggested", "A colleague speaks to the run", suggested},
		{"note-used", "The requester uses a colleague's note", func(s *scene) {
			suggested(s)
			s.known()
			s.uses(s.Ann)
		}},
		{"watched", "Somebody has a run of another place shown here, which asks", func(s *scene) {
			if !s.terminal() {
				writeAsked(s)
				s.known()
				s.quietly(func() { s.watches(s.Alice) })
			}
		}},
		{"check-in", "The run looks back over its work and changes course", checkIn},
		{"budget-warning", "Most of the budget is used", func(s *scene) {
			s.works()
			s.here()
			s.answered(agent.TaskStrand("sort"), 1_640_000_000)
			s.happens(agent.TaskStrand("sort"), agent.BudgetNotice{Budget: agent.BudgetUSD, Percent: 80})
			s.thinking(agent.TaskStrand("sort"), llm.Work)
			s.card()
		}},
	}
}

// lackingAModel is a run whose model does not answer.
func lackingAModel() []entry {
	return []entry{
		{"model-limited", "The model takes no more for now", func(s *scene) {
			s.works()
			s.here()
			s.away(agent.TaskStrand("sort"), "takes no more requests for now (HTTP 429)", 40*time.Second)
			s.card()
		}},
		{"model-away", "The model is down", func(s *scene) {
			s.starts()
			s.here()
			s.away(agent.Main, "cannot be reached", 5*time.Minute)
			s.card()
		}},
		{"model-refused", "The model refuses its key", func(s *scene) {
			s.starts()
			s.here()
			s.thinking(agent.Main, llm.Intake)
			s.unanswered(agent.Main, agent.ModelAnswered{Error: "model: 401 Unauthorized: Incorrect API key provided: sk-…9f", RetryReason: "does not take the key (HTTP 401)", Refused: true})
			s.card()
		}},
	}
}

// steered is a run that takes another course, by a person or by a failure.
func steered() []entry {
	return []entry{
		{"paused", "Somebody pauses the run", func(s *scene) {
			s.works()
			s.here()
			s.says(s.Ann, "stop")
			s.controlledAtTerminal(agent.WordPause)
			s.card()
		}},
		{"resumed", "Somebody lets the run go on", func(s *scene) {
			s.works()
			s.happens(agent.Main, agent.RunControlled{Word: agent.WordPause, By: s.Ann.ID})
			s.here()
			s.card()
			s.presses(s.Ann, "Resume")
			s.controlledAtTerminal(agent.WordResume)
			s.cardNow()
		}},
		{"cancelling", "Somebody cancels the run", func(s *scene) {
			s.works()
			s.here()
			s.says(s.Ann, "cancel")
			s.controlledAtTerminal(agent.WordCancel)
			s.card()
		}},
		{"steer-form", "Somebody steers by a button", func(s *scene) {
			s.works()
			s.here()
			if s.Steer {
				s.card()
				s.presses(s.Ann, "Steer")
				s.fills(s.Ann, map[string]string{"text": "leave the internal changes out"})
			}
		}},
		{"replanning", "A task failed and the run plans anew", func(s *scene) {
			s.works()
			s.here()
			s.ends("sort", agent.TaskFailed, "the changes of March are in a file that I cannot read: data/march.xlsx")
			s.thinking(agent.Main, llm.Plan)
			s.card()
		}},
	}
}

// said speaks to the bot.
func said(text string) bot.Said { return bot.Said{Text: text, To: true} }

// missed is Ann's goal, which was written at a time and is only read now.
func missed(s *scene, at time.Time) bot.Inbound {
	return bot.Inbound{Keys: []string{"missed"}, At: at, By: s.Ann, Where: s.thread(), Message: s.thread(), Missed: true, Act: said(s.goal)}
}

// works brings the run to its second task, by a plan that Alice approved.
func (s *story) works(change ...func(b *agent.RunStarted)) {
	s.starts(change...)
	s.thinks(agent.Main, llm.Intake)
	s.happens(agent.Main, agent.PlanAccepted{Plan: thePlan(), By: s.Alice.ID})
	s.happens(agent.Main, agent.TaskStarted{Task: "read"})
	s.thinks(agent.TaskStrand("read"), llm.Work)
	s.later(50 * time.Second)
	s.ends("read", agent.TaskDone, "31 pull requests were merged since v2.3")
	s.happens(agent.Main, agent.TaskStarted{Task: "sort"})
	s.thinking(agent.TaskStrand("sort"), llm.Work)
	s.later(20 * time.Second)
}

// writes brings the run to its third task.
func (s *story) writes(change ...func(b *agent.RunStarted)) {
	s.works(change...)
	s.answered(agent.TaskStrand("sort"), 21_000_000)
	s.ends("sort", agent.TaskDone, "9 changes that users notice, 22 that they do not")
	s.happens(agent.Main, agent.TaskStarted{Task: "write"})
	s.thinks(agent.TaskStrand("write"), llm.Work)
}

// ends is the end of a task with its summary or reason.
func (s *story) ends(id agent.TaskID, state agent.TaskState, text string) {
	e := agent.TaskEnded{Task: id, State: state, Summary: text, Outputs: []agent.Output{}}
	if state != agent.TaskDone {
		e.Summary, e.Reason = "", text
	}
	s.happens(agent.TaskStrand(id), e)
}

// ended is the end of a run.
func ended(state agent.RunState, reason string) agent.RunEnded {
	return agent.RunEnded{State: state, Reason: reason, Cost: new(agent.Nano)}
}

// away is a question to a model whose endpoint does not take it.
func (s *story) away(strand agent.StrandID, reason string, again time.Duration) {
	if _, asked := s.open[strand]; !asked {
		s.thinking(strand, llm.Intake)
	}
	s.unanswered(strand, agent.ModelAnswered{RetryAt: s.store.now.Add(again), RetryReason: reason})
}

// controlledAtTerminal is a control word that is typed where there is no chat.
func (s *story) controlledAtTerminal(w agent.Word) {
	if s.terminal() {
		s.happens(agent.Main, agent.RunControlled{Word: w, By: s.Ann.ID})
	}
}

func checkIn(s *scene) {
	s.works()
	s.here()
	s.happens(agent.TaskStrand("sort"), agent.CheckInMade{Verdict: agent.CheckInNudge, Progress: 0.3,
		Reason: "the same pull requests are read a third time",
		Ledger: &agent.Ledger{Progress: 0.3, Relevance: 0.6, Looping: true, PlanStillBest: true, Verdict: agent.CheckInNudge,
			Nudge: "Use the list that you made instead of reading the pull requests again."}},
		agent.Finding{Rule: agent.RuleCheckIn, Severity: agent.FindingNudge, Strand: agent.TaskStrand("sort"), Events: []uint64{},
			Message: "the same pull requests are read a third time", Note: "Use the list that you made."})
	s.card()
}

// encoded is a value as JSON.
func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a value in this package
	}
	return raw
}
