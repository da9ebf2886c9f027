package moments

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Moments in which a run asks people on its way: approvals, budget, stuck.

func asking() []entry {
	return slices.Concat(approving(), deciding(), runningOut())
}

// approving are the calls that need an approval.
func approving() []entry {
	return []entry{
		{"approval-write", "A task wants to write a file", writeAsked},
		{"approval-write-approved", "The write was approved", func(s *scene) {
			writeAsked(s)
			s.known()
			s.later(4 * time.Minute)
			s.decides(s.Alice, agent.DecideApprove, "")
			s.closed()
		}},
		{"approval-write-denied", "The write was denied, with a reason", func(s *scene) {
			writeAsked(s)
			s.known()
			s.later(4 * time.Minute)
			s.presses(s.Alice, "Deny")
			s.fills(s.Alice, map[string]string{"reason": "Not on a Friday"})
			if s.terminal() {
				s.decides(s.Alice, agent.DecideDeny, "Not on a Friday")
			}
			s.closed()
		}},
		{"approval-long", "A task wants to write a long file", longWriteAsked},
		{"approval-replace", "A task wants to replace a file", replaceAsked},
		{"approval-delete", "A task wants to delete a file", deleteAsked},
		{"approval-send", "A task wants to send something by a tool of the team's", sendAsked},
		{"approval-edit", "Somebody edits what was asked", func(s *scene) {
			writeAsked(s)
			s.known()
			s.presses(s.Alice, "Edit")
		}},
	}
}

// deciding are the turns that the decision of an approval may take.
func deciding() []entry {
	return []entry{
		{"approval-refused", "Somebody clicks who may not decide", func(s *scene) {
			writeAsked(s)
			s.known()
			s.presses(s.Ben, "Approve")
		}},
		{"approval-late", "Somebody clicks after the decision", func(s *scene) {
			writeAsked(s)
			s.known()
			s.later(time.Minute)
			s.decides(s.Alice, agent.DecideApprove, "")
			s.presses(s.Alice, "Deny")
		}},
		{"approval-reminder", "Nobody has decided for half of the time", func(s *scene) {
			writeAsked(s)
			s.known()
			s.later(12 * time.Hour)
			s.reminder()
		}},
		{"approval-expired", "Nobody decided in time", func(s *scene) {
			writeAsked(s)
			s.known()
			s.later(24 * time.Hour)
			c := s.check()
			s.happens(c.Strand, agent.CheckpointDecided{ID: c.ID, Decision: agent.DecideExpired, By: agent.DecideExpired})
			s.closed()
		}},
		{"approval-two", "Two people must approve, and one did", func(s *scene) {
			s.writes(func(b *agent.RunStarted) { b.Quorum = 2 })
			s.here()
			s.asksWrite(notes, "New file, 9 lines.\n\n"+fenced(notes))
			s.question()
			s.known()
			c := s.check()
			s.happens(c.Strand, agent.CheckpointVoted{ID: c.ID, Decision: agent.DecideApprove, By: s.Alice.ID})
			s.edits(s.questionCard())
		}},
		{"waiting", "The card while people are asked", func(s *scene) {
			writeAsked(s)
			s.known()
			s.card()
		}},
	}
}

// runningOut are a run that has nothing left, or sees no way on.
func runningOut() []entry {
	return []entry{
		{"budget", "The budget is used up", func(s *scene) {
			s.works()
			s.here()
			s.answered(agent.TaskStrand("sort"), 1_960_000_000)
			s.asksBudget(agent.BudgetUSD)
		}},
		{"budget-month", "The month's money of the requester is used up", func(s *scene) {
			s.works()
			s.here()
			s.asksBudget("person/" + s.Ann.ID + "/2026-03")
		}},
		{"stuck-loop", "A task goes round in circles", stuckInLoop},
		{"stuck-reminder", "Nobody has shown a way out for half of the time", func(s *scene) {
			stuckInLoop(s)
			s.known()
			s.later(12 * time.Hour)
			s.reminder()
		}},
		{"stuck-denied", "A denial left no other way", stuckDenied},
		{"stuck-model", "The model gave no usable answer", stuckModel},
		{"stuck-plans", "New plans did not help", stuckPlans},
		{"uncertain", "Nobody knows whether an effect happened", uncertain},
		{"review", "The result waits for its reviewers", review},
	}
}

const notes = "# v2.4\n\n## New\n- Reports can be scheduled (#212)\n- Dark mode (#219)\n\n## Mended\n- Search finds names with accents (#223)\n- The export keeps its column order (#226)\n"

// fenced is a text as a preview shows it.
func fenced(text string) string { return "```\n" + strings.TrimSuffix(text, "\n") + "\n```" }

// asksWrite is the wish of the third task to write its file.
func (s *scene) asksWrite(text, preview string) {
	s.asksCall("write_to_file", encoded(map[string]string{"path": "notes/v2.4.md", "text": text}), preview,
		"Changes files.", "writes")
}

// asksCall is the wish of the third task to make a call.
func (s *scene) asksCall(tool string, arguments json.RawMessage, preview, risk, grant string) {
	s.opensQuestion(agent.TaskStrand("write"), agent.CheckpointOpened{Ask: agent.CheckApproval, Title: "May I call " + tool + "?", Detail: preview,
		Tool: tool, Arguments: arguments, Digest: agent.Digest(tool, arguments), Risk: risk, Grant: grant,
		Choices: []string{agent.DecideApprove, agent.DecideDeny, agent.DecideEdit, agent.DecideAlways}})
}

func writeAsked(s *scene) {
	s.writes()
	s.here()
	s.asksWrite(notes, "New file, 9 lines.\n\n"+fenced(notes))
	s.question()
}

func longWriteAsked(s *scene) {
	s.writes()
	s.here()
	text := notes + strings.Repeat("- A change that only developers notice, described at some length so that the file grows long (#300)\n", 90)
	shown := strings.Join(strings.Split(text, "\n")[:31], "\n")
	s.asksWrite(text, "New file, 99 lines.\n\n"+fenced(shown)+"\n\nShortened: 31 of 99 lines shown.")
	s.question()
}

func replaceAsked(s *scene) {
	s.writes()
	s.here()
	s.asksWrite(notes, "Changes the file: it has 9 lines then.\n\n```diff\n@@ line 3 @@\n ## New\n - Reports can be scheduled (#212)\n+- Dark mode (#219)\n \n ## Mended\n```")
	s.question()
}

func deleteAsked(s *scene) {
	s.writes()
	s.here()
	s.asksCall("delete_file", encoded(map[string]string{"path": "notes/draft.md"}),
		"The file has 1,204 bytes and is gone for good then. It starts with:\n\n"+fenced("# v2.4 (draft)\n\n- everything that was merged, unsorted"),
		"It cannot be undone.", "")
	s.question()
}

func sendAsked(s *scene) {
	s.writes()
	s.here()
	s.asksCall("mail__send_message", encoded(map[string]any{"to": []string{"customers@example.org"}, "subject": "v2.4 is out",
		"body": "Dear customers,\n\nv2.4 is out. The notes are attached.\n\nYour team", "attachments": []string{"notes/v2.4.md"}, "urgent": false}),
		"", "Others will see it, and it cannot be taken back.", "")
	s.question()
}

// questionCard is the question's message as it stands.
func (s *scene) questionCard() bot.Card {
	s.question()
	c := s.last
	if !s.terminal() {
		s.steps = s.steps[:len(s.steps)-1]
	}
	return c
}

func (s *scene) asksBudget(budget string) {
	s.opensQuestion(agent.TaskStrand("sort"), agent.BudgetQuestion(s.fold(), budget, s.store.now))
	s.question()
}

func stuckInLoop(s *scene) {
	s.works()
	s.here()
	strand := agent.TaskStrand("sort")
	why := "the same call 4 times with the same result"
	s.happens(strand, agent.Finding{Rule: agent.RuleSameResult, Severity: agent.FindingStop, Strand: strand, Events: []uint64{9, 11, 13, 15},
		Message: why + ": read file “data/march.xlsx”; the answer was “error: data/march.xlsx is no text”"})
	s.opensQuestion(strand, agent.CheckpointOpened{Ask: agent.CheckStuck, Title: agent.StuckTitle(s.fold().Plan, strand, why),
		Detail:  agent.Bullets([]string{"read file “data/march.xlsx”; the answer was “error: data/march.xlsx is no text”"}),
		Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel}})
	s.question()
}

// stuckOverall is the question of a run whose new plans did not help either.
func (s *scene) stuckOverall() {
	for _, step := range s.fold().Next(agent.Main).Steps {
		if d, is := step.(agent.Decide); is {
			for _, e := range d.Events {
				if q, asks := e.Body.(agent.CheckpointOpened); asks {
					s.opensQuestion(e.Strand, q)
					s.question()
					return
				}
			}
		}
	}
	s.opensQuestion(agent.Main, agent.CheckpointOpened{Ask: agent.CheckStuck, Title: agent.StuckTitle(s.fold().Plan, agent.Main, "2 new plans did not help"),
		ID: agent.CheckpointID(string(s.run) + "-stuck"), Detail: agent.Bullets(s.failures()), Choices: []string{agent.DecideRetry, agent.DecideFinish, agent.DecideCancel}})
	s.question()
}

// failures are the tasks that failed, as the core lists them.
func (s *story) failures() []string {
	var list []string
	r := s.fold()
	for _, t := range r.Plan.Tasks {
		if st := r.Tasks[t.ID]; st.State == agent.TaskFailed {
			list = append(list, "“"+t.Title+"” failed: "+st.Reason)
		}
	}
	return list
}

func stuckDenied(s *scene) {
	writeAsked(s)
	s.decides(s.Alice, agent.DecideDeny, "Not on a Friday")
	s.later(time.Minute)
	s.happens(agent.TaskStrand("write"), agent.TaskEnded{Task: "write", State: agent.TaskFailed, Outputs: []agent.Output{},
		Reason: "denied by " + s.Alice.ID + ": Not on a Friday", Fail: agent.FailBlocked})
	s.steps = nil
	s.here()
	s.stuckOverall()
}

func stuckModel(s *scene) {
	s.works()
	s.here()
	s.ends("sort", agent.TaskFailed, "The model gave no usable answer in three tries. It last wrote: “I have sorted the changes, shall I go on?”")
	s.stuckOverall()
}

func stuckPlans(s *scene) {
	s.works()
	s.here()
	s.ends("sort", agent.TaskFailed, "data/march.xlsx cannot be read as text, and there is no tool for spreadsheets")
	s.stuckOverall()
}

func uncertain(s *scene) {
	s.writes()
	s.here()
	arguments := encoded(map[string]any{"to": []string{"customers@example.org"}, "subject": "v2.4 is out"})
	s.opensQuestion(agent.TaskStrand("write"), agent.CheckpointOpened{Ask: agent.CheckUncertain, Tool: "mail__send_message", Arguments: arguments,
		Title:   "mail__send_message may have run: I was interrupted during the call",
		Detail:  "Look whether it happened. Then say done, repeat or skip.",
		Choices: []string{agent.DecideDone, agent.DecideRepeat, agent.DecideSkip}})
	s.question()
}

func review(s *scene) {
	s.writes(func(b *agent.RunStarted) { b.Reviewers = []string{s.Alice.ID} })
	s.happens(agent.TaskStrand("write"), agent.TaskEnded{Task: "write", State: agent.TaskDone, Summary: "9 changes under two headings", Confidence: 0.9,
		Outputs: []agent.Output{{Name: "notes", File: "notes/v2.4.md"}}})
	s.happens(agent.Main, agent.TaskStarted{Task: "links"})
	s.ends("links", agent.TaskDone, "all 9 links lead somewhere")
	s.here()
	for _, step := range s.fold().Next(agent.Main).Steps {
		if d, is := step.(agent.Decide); is {
			for _, e := range d.Events {
				s.happens(e.Strand, e.Body)
			}
		}
	}
	s.question()
}
