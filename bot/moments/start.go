package moments

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Moments in which a run begins: acknowledged, asked about, planned.

func starting() []entry {
	return []entry{
		{"greeting", "Somebody mentions the bot and says nothing", func(s *scene) { s.asks(s.Ann, "") }},
		{"acknowledged", "A goal arrives", acknowledged},
		{"replied", "A goal that needs no work is answered at once", replied},
		{"start-refused", "A guest may not start a run", func(s *scene) {
			guest := s.Ben
			guest.Full = false
			s.asks(guest, "fix the build")
		}},
		{"question", "The run asks a question", question},
		{"question-answered", "The question was answered by a click", func(s *scene) {
			question(s)
			s.known()
			s.decides(s.Ann, "Only for users", "")
			s.closed()
		}},
		{"questions", "The run asks three questions at once", questions},
		{"question-form", "Somebody presses Other to answer in their own words", func(s *scene) {
			question(s)
			s.known()
			s.presses(s.Ann, "Other")
		}},
		{"plan", "A plan waits for approval", planAsked},
		{"plan-approved", "The plan was approved", func(s *scene) {
			planAsked(s)
			s.known()
			s.later(3 * time.Minute)
			s.decides(s.Alice, agent.DecideApprove, "")
			s.closed()
		}},
		{"plan-broken", "The model could not make a plan that holds", planBroken},
		{"late-goal", "A goal was written while the bot was away", lateGoal},
	}
}

func acknowledged(s *scene) {
	if !s.terminal() {
		a := s.receives(s.Ann, s.thread(), said(s.goal))
		s.run = a.Run
		s.steps = append(s.steps, Said{By: s.Ann, Text: s.goal, Answer: a})
	} else {
		s.starts()
	}
	s.thinking(agent.Main, llm.Intake)
	s.card()
}

func replied(s *scene) {
	s.goal = "What is the difference between a patch and a minor release?"
	s.starts()
	s.thinks(agent.Main, llm.Intake)
	s.here()
	s.happens(agent.Main, agent.Reported{Headline: "A patch release only mends, a minor one adds.",
		Body: "A patch release only mends, a minor one adds. Neither takes anything away: that is for a major release."}, ended(agent.RunDone, ""))
	s.card()
}

func question(s *scene) {
	s.starts()
	s.thinks(agent.Main, llm.Intake)
	s.here()
	s.opensQuestion(agent.Main, agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{{ID: "q1", Question: "Who are the notes for?", Why: "Users and developers look for different things",
			Choices: []string{"Only for users", "Users and developers"}}},
		Choices: []string{"Only for users", "Users and developers", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}})
	s.question()
}

func questions(s *scene) {
	s.starts()
	s.thinks(agent.Main, llm.Intake)
	s.here()
	s.opensQuestion(agent.Main, agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question",
		Questions: []agent.Question{
			{ID: "q1", Question: "Who are the notes for?", Choices: []string{"Users", "Developers", "Both"}},
			{ID: "q2", Question: "May I name the authors?", Choices: []string{"Yes", "No"}},
			{ID: "q3", Question: "Which date shall stand on top?", Why: "The milestone has none"},
		}, Choices: []string{agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}})
	s.question()
}

// thePlan is the plan of most scenes.
func thePlan() agent.Plan {
	return agent.Plan{
		Name: "Release notes for v2.4", Description: "Read what was merged since v2.3, sort it by what users notice, write the notes.",
		Assumptions: []string{"Dependency updates are left out"}, DoneWhen: agent.Texts{"notes/v2.4.md names every change that users notice"},
		Tasks: []agent.Task{
			{ID: "read", Title: "Read what was merged since v2.3", Tools: []string{"list_files", "read_file"}, Acceptance: "every pull request has a line"},
			{ID: "sort", Title: "Sort the changes by what users notice", DependsOn: []agent.TaskID{"read"}},
			{ID: "write", Title: "Write notes/v2.4.md", Tools: []string{"write_to_file"}, DependsOn: []agent.TaskID{"sort"}, Deliverable: true,
				Writes: agent.Texts{"notes/v2.4.md"}, Instructions: "Write the sorted changes to notes/v2.4.md, one line each, with the pull request's number.", Acceptance: "the file has a heading for each kind of change"},
			{ID: "links", Title: "Check the links", Tools: []string{"read_file"}, DependsOn: []agent.TaskID{"write"}},
		},
	}
}

func planAsked(s *scene) {
	s.starts()
	s.thinks(agent.Main, llm.Intake)
	s.here()
	p := thePlan()
	s.opensQuestion(agent.Main, agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I work by this plan?", Plan: &p, Writes: []string{"notes/v2.4.md"},
		Choices: []string{agent.DecideApprove, agent.DecideEdit, agent.DecideDeny, agent.DecideCancel}})
	s.question()
}

func planBroken(s *scene) {
	s.starts()
	s.thinks(agent.Main, llm.Intake)
	s.here()
	p := thePlan()
	p.Tasks[0].DependsOn = []agent.TaskID{"links"}
	s.opensQuestion(agent.Main, agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "The plan is still broken after two repairs", Plan: &p,
		Detail:  "- V4 (task read): the tasks depend on each other in a circle: read → sort → write → links → read",
		Choices: []string{agent.DecideEdit, agent.DecideRetry, agent.DecideCancel}})
	s.question()
}

func lateGoal(s *scene) {
	if s.terminal() {
		return
	}
	at := s.store.now
	s.later(26 * time.Hour)
	a := s.receivesEvent(missed(s, at))
	s.run = a.Run
	s.steps = append(s.steps, Said{By: s.Ann, Text: s.goal, Answer: a})
	s.question()
}
