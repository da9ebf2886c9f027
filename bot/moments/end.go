package moments

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Moments in which a run ends, and after it.

func ending() []entry {
	return slices.Concat(finishing(), failing(), afterwards())
}

// finishing are runs that end as somebody wants them to.
func finishing() []entry {
	return []entry{
		{"finished", "The run is done", finished},
		{"finished-rated", "The report is rated", func(s *scene) {
			finished(s)
			s.known()
			s.rates(s.Ann, "Good", "+1")
			s.rates(s.Ann, "Bad", "-1")
		}},
		{"finished-long", "A report that does not fit into a message", longReport},
		{"finished-early", "Somebody had the run finish with what there is", func(s *scene) {
			s.works()
			s.here()
			s.opensQuestion(agent.TaskStrand("sort"), agent.BudgetQuestion(s.fold(), agent.BudgetUSD, s.store.now))
			s.decides(s.Ann, agent.DecideFinish, "")
			s.settle()
			s.ended()
		}},
		{"cancelled", "Somebody cancelled the run", func(s *scene) {
			s.works()
			s.here()
			s.happens(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: s.Ann.ID})
			s.settle()
			s.ended()
		}},
	}
}

// failing are runs that end otherwise.
func failing() []entry {
	return []entry{
		{"failed", "The run failed", func(s *scene) {
			s.writes()
			s.here()
			s.ends("write", agent.TaskFailed, "the disk is full")
			s.ends("links", agent.TaskSkipped, "a task that it needs failed: Write notes/v2.4.md")
			s.happens(agent.Main, agent.Reported{Headline: "The changes are sorted, the file could not be written", Body: "The disk is full: nothing can be written to `notes`. The sorted list is below.\n\n- Reports can be scheduled (#212)\n- Dark mode (#219)",
				Artifacts: agent.Texts{}, Skipped: agent.Texts{"Check the links: there is no file to check"}, FollowUps: agent.Texts{"Free some space and start again"}},
				ended(agent.RunFailed, "not delivered: Write notes/v2.4.md (the disk is full); Check the links (a task that it needs failed: Write notes/v2.4.md)"))
			s.ended()
		}},
		{"failed-no-plan", "The model could not be asked, so no work began", func(s *scene) {
			s.starts()
			s.thinking(agent.Main, llm.Intake)
			s.here()
			s.unanswered(agent.Main, agent.ModelAnswered{Error: "model: prompt too long (HTTP 400): api.example.org: maximum context length is 128000 tokens"})
			s.settle()
			s.ended()
		}},
		{"failed-denied", "A plan was never approved", func(s *scene) {
			planAsked(s)
			s.steps = nil
			s.later(24 * time.Hour)
			c := s.check()
			s.happens(c.Strand, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideExpired, By: agent.DecideExpired})
			s.settle()
			s.ended()
		}},
		{"stuck-expired", "Nobody showed a way out in time", func(s *scene) {
			stuckInLoop(s)
			s.steps = nil
			s.later(24 * time.Hour)
			c := s.check()
			s.happens(c.Strand, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideExpired, By: agent.DecideExpired})
			s.settle()
			s.ended()
		}},
	}
}

// afterwards is what comes after a run's end.
func afterwards() []entry {
	return []entry{
		{"follow-up", "Somebody presses a button of a run that has ended", func(s *scene) {
			s.works()
			s.card()
			s.known()
			s.happens(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: s.Ann.ID})
			s.settle()
			s.presses(s.Ann, "Pause")
		}},
		{"recalled", "A report of a goal that ran before", func(s *scene) {
			s.recalls()
		}},
	}
}

// ended shows what a thread has after the run's end.
func (s *scene) ended() {
	if s.fold().Ended == nil {
		s.fails(errors.New("the run has not ended"))
	}
	s.report()
	s.cardNow()
}

// settle lets the core do what follows from the fold alone, until nothing does.
func (s *story) settle() {
	for id := range s.open {
		s.answered(id, 14_200_000)
	}
	for range 50 {
		moved := false
		for id := range s.fold().Strands.All() {
			moved = s.moves(id) || moved
		}
		if !moved || s.fold().Ended != nil || s.err != nil {
			return
		}
	}
}

// moves does the steps of a strand that follow from the fold alone.
func (s *story) moves(id agent.StrandID) (moved bool) {
	for _, step := range s.fold().Next(id).Steps {
		d, is := step.(agent.Decide)
		if !is {
			continue
		}
		for _, e := range d.Events {
			s.happens(e.Strand, e.Body)
			moved = true
		}
	}
	return moved
}

// delivers brings the run to its report.
func (s *story) delivers() {
	s.writes()
	s.happens(agent.TaskStrand("write"), agent.TaskEnded{Task: "write", State: agent.TaskDone, Summary: "9 changes under two headings",
		Outputs: []agent.Output{{Name: "notes", File: "notes/v2.4.md"}, {Name: "compared", Value: json.RawMessage(`"https://git.example.org/compare/v2.3...v2.4"`)}}})
	s.happens(agent.Main, agent.TaskStarted{Task: "links"})
	s.later(40 * time.Second)
	s.ends("links", agent.TaskDone, "all 9 links lead somewhere")
}

// attached says that the report's file was posted.
func (s *story) attached() {
	if !s.terminal() {
		s.happens(agent.Voice, agent.ToolOutcome{Effect: agent.EffectID("post/" + agent.KeyUpload(0)), State: agent.OutcomeOK, Trust: agent.Trusted,
			Text: agent.Shown{Message: s.thread().At("19.1").String(), Thread: s.thread().String()}.Text()})
	}
}

func finished(s *scene) {
	s.delivers()
	s.here()
	s.happens(agent.Main, agent.Reported{Headline: "The notes for v2.4 are written: 9 changes that users notice",
		Body:      "9 of the 31 merged pull requests are something that users notice: 5 are new, 4 are mended. The other 22 are internal and left out, as you asked.\n\n**Look at** “The export keeps its column order” (#226): its pull request says nothing about who asked for it.",
		Artifacts: agent.Texts{"notes/v2.4.md"}, Skipped: agent.Texts{}, FollowUps: agent.Texts{"Send the notes to the customers"}},
		ended(agent.RunDone, ""))
	s.attached()
	s.ended()
}

func longReport(s *scene) {
	s.delivers()
	s.here()
	var body strings.Builder
	for _, part := range []string{"New", "Mended", "Faster", "Removed", "For developers"} {
		body.WriteString("## " + part + "\n\n" + strings.Repeat("One more paragraph about a change that users notice, with what it means for them, since when it is there and who asked for it.\n\n", 22))
	}
	s.happens(agent.Main, agent.Reported{Headline: "The notes for v2.4 are written, at length", Body: body.String(),
		Artifacts: agent.Texts{"notes/v2.4.md"}, Skipped: agent.Texts{"The changes of March: data/march.xlsx cannot be read as text"}, FollowUps: agent.Texts{"Send the notes to the customers"}},
		ended(agent.RunDone, ""))
	s.attached()
	s.ended()
}

// recalls is a report of a goal whose earlier runs are known.
func (s *scene) recalls() {
	s.starts()
	s.happens(agent.Main, agent.Recalled{Episodes: []agent.Episode{
		{Run: "momentyaaaaaaaaa", State: agent.RunDone, Ended: noon.Add(-48 * time.Hour), Headline: "Notes for v2.2", Rating: 1},
		{Run: "momentzaaaaaaaaa", State: agent.RunFailed, Ended: noon.Add(-24 * time.Hour), Headline: "Notes for v2.3"},
	}})
	s.thinks(agent.Main, llm.Intake)
	s.happens(agent.Main, agent.PlanAccepted{Plan: agent.Plan{Name: "Notes", Tasks: []agent.Task{{ID: "write", Title: "Write notes/v2.4.md", Deliverable: true}}}})
	s.happens(agent.Main, agent.TaskStarted{Task: "write"})
	s.ends("write", agent.TaskDone, "9 changes under two headings")
	s.here()
	s.happens(agent.Main, agent.Reported{Headline: "The notes for v2.4 are written", Body: "They name 9 changes.", Artifacts: agent.Texts{}, Skipped: agent.Texts{}}, ended(agent.RunDone, ""))
	s.ended()
}
