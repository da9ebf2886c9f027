package agent

import (
	"encoding/json"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// noon is when everything in these tests began.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 123456000, time.UTC)

// samplePlan has every field of a plan and of a task set.
var samplePlan = Plan{
	Name: "count", Description: "count the lines", Goals: []string{"know the size"},
	Assumptions: []string{"vendored code does not count"}, DoneWhen: Texts{"a table is there"},
	Tasks: []Task{{
		ID: "t1", Title: "Count <lines> & files", Instructions: "count ${goal.text}", Role: "analyst",
		DependsOn: []TaskID{"t0"}, Inputs: []string{"goal.text"},
		Outputs: []OutputSpec{{Name: "table", Type: "text/markdown", Description: "one row per folder"}},
		Tools:   []string{"list_files"}, Effort: 1.5, Value: 7, Acceptance: "one row per folder", Deliverable: true,
		Serves: GoalRefs{"1"}, Writes: Texts{"lines.md"},
		Check: &Check{Command: "test -s lines.md", Expect: json.RawMessage(`"<ok>"`)}, Reviewer: "editor",
	}},
	Independent: true, Playbook: "survey",
	Stages: []Stage{{Name: "count", Role: "analyst", In: []string{"goal.text"}, Out: []OutputSpec{{Name: "table"}}, Check: &Check{File: "lines.md"}, Reviewer: "editor"}},
	Roles: []Role{{Name: "analyst", Description: "counts", Prompt: "Count <well>.", Tools: Texts{"list_files"}, Model: RoleFast,
		Memory: MemoryNone, Publishes: Texts{"text/markdown"}, Subscribes: Texts{"text"}}},
}

var sampleOutputs = []Output{{Name: "table", Value: json.RawMessage(`{"a":"<b>"}`), File: "table.md"}}

// samples holds one event body of each kind with every field set.
var samples = []Body{
	RunStarted{Zone: "Europe/Berlin",
		Goal: "count the lines of ünïcode & <tags>", Requester: "slack:U1", ReplyTo: "slack:T1:C1:1700000000.000100",
		Folder: "slack-C1", Limits: Limits{USD: 5 * Dollar, Tokens: 500_000, Time: 2 * time.Hour, Steps: 300},
		PlanApproval: ApprovePlanEffects, Autonomy: AskRisky, YesTo: []string{"reads"}, Approvers: []string{"slack:U2"},
		Expires: 24 * time.Hour, Slots: 4, CheckIns: 30, Unattended: true, Quorum: 2, Reviewers: []string{"slack:U7"},
		Files:  []Attachment{{ID: "F1", Name: "a.csv", Size: 12, URL: "https://files.example.com/F1", By: "slack:U1"}},
		Direct: true, Role: "guest", Counted: []string{"live/person/slack:U1"},
		Tick: &Tick{Schedule: "weekday-report", At: noon, Report: true, Raise: []string{"slack:U9"}},
	},
	PersonSaid{Message: "slack:T1:C1:1700000000.000200", By: "slack:U1", Text: "only the *.go files", Trusted: true,
		Files: []Attachment{{ID: "F2", Name: "b.csv", Size: 3}}, Author: "slack:U5",
		Unread: &Unread{Also: []string{"slack:S1"}, Where: "slack:T1:C1:1700000000.000100", Before: []CheckpointID{"r1-abc"}, Zone: "Europe/Berlin", Direct: true,
			Answer: &WordsAnswer{ID: "r1-abc", Decision: DecideAnswer, Answers: map[string]string{"q1": "yes"}}}},
	Understood{Said: 6, Meaning: MeansConsent, Later: true, Noted: true, Trusted: true, Of: "r1-abc", Decision: DecideApprove,
		Reason: "says yes", Text: "It is half done.", Cites: []uint64{3, 5}, Unable: "the model does not answer",
		Schedule: &Scheduled{Name: "goal-x7k2q", Kind: "schedule", When: "every day at 9:00 (UTC)", Once: true, Next: []time.Time{noon}, What: "“count the lines”"}},
	RunControlled{Word: WordPause, By: "slack:U1", Reason: "lunch", Place: "slack:T1:C1:", Gone: true, YesTo: []string{"writes"}},
	TimePassed{},
	ModelAsked{Call: "main.1", Purpose: llm.Intake, Model: "gpt", Reserve: new(Nano(12_345_678)), ReserveTokens: 4200, PromptHash: "intake@1.0.0:abc"},
	ModelAnswered{
		Call: "main.1", Purpose: llm.Intake, Model: "gpt", Prompt: 100, Completion: 20, Cached: 64, Cost: new(Nano(1_000)),
		PromptHash: "intake@1.0.0:abc", Estimated: true, Lost: true, Took: 1500 * time.Millisecond,
		Message: &llm.Message{Role: llm.Assistant, Content: "so", CallID: "c0", Refusal: "no",
			Calls: []llm.Call{{ID: "c1", Name: "submit_plan", Arguments: `{"tasks": [ ]}`}}},
		Given:   "steps",
		Problem: "text alone does nothing", Error: "model: retries ran out", Refused: true,
		RetryAt: noon.Add(time.Minute), RetryReason: "is overloaded (HTTP 503)",
	},
	CallReplied{Effect: "main.1.0", Text: "error: V4 cycle", Problem: true, Repair: true, Rule: "refunds", Policy: "0f", Trust: Untrusted},
	ToolsOffered{Query: "send a note", Names: []string{"crm__note", "mail__send"}, Scores: []float64{0.75, 0.5},
		Documents: []Document{{Tool: "crm__note", Hash: "0f", Text: "POST /notes"}}},
	PolicyDecided{Effect: "task/t1.2.0", Tool: "write_to_file", Verdict: Ask, Rule: "refunds", Version: "0f"},
	PlanAccepted{Plan: samplePlan, By: "slack:U1", Reason: "t1 failed",
		Findings: []PlanFinding{{Code: "V8", Severity: SeverityWarning, Task: "t1", Message: "nobody uses table"}}},
	TaskStarted{Task: "t1", Instructions: "count the lines"},
	TaskFinishing{Task: "t1", Effect: "task/t1.3.0", Summary: "counted", Outputs: sampleOutputs, Confidence: 0.9},
	TaskJudged{Task: "t1", Accepted: true, Reasons: Texts{"the table is there"}, Missing: Texts{"a total"}, Checked: "command `make test`"},
	TaskEnded{Task: "t1", State: TaskFailed, Summary: "counted", Outputs: sampleOutputs, Confidence: 0.9, Reason: "no disk", Fail: FailBlocked},
	ToolIntent{
		Effect: "task/t1.2.0", Tool: "write_to_file", Arguments: json.RawMessage(`{"path":"a<b>.md","text":"x & y"}`),
		Repeat: RepeatProbeable, Mark: "size=0", Deadline: noon.Add(3 * time.Second), Rule: "writes once", Policy: "0f", Again: 1,
		Thought: "the table is to be written down",
	},
	ToolProgressed{Effect: "task/t1.2.0", Text: "3 of 10 files"},
	ToolDeferred{Effect: "task/t1.2.0", Until: noon.Add(time.Minute)},
	ToolOutcome{
		Effect: "task/t1.2.0", State: OutcomeOK, Trust: Untrusted, Text: "wrote\n5 bytes", Artifact: "e3b0c442",
		Files: []string{"a.md"}, Took: 20 * time.Millisecond,
	},
	CheckpointOpened{
		ID: "r1-abcdefgh", Ask: CheckApproval, Title: "May I call write_to_file?", Detail: "+5 bytes",
		Choices: []string{DecideApprove, DecideDeny, DecideEdit, DecideAlways}, Expires: noon.Add(24 * time.Hour),
		Effect: "task/t1.2.0", Tool: "write_to_file", Arguments: json.RawMessage(`{"path":"a<b>.md"}`), Digest: "00ff",
		Risk: "overwrites a.md", Grant: "writes", Rule: "refunds", Policy: "0f", Approvers: []string{"slack:U7"}, Quorum: 2,
		Class: ClassWrite, Writes: []string{"lines.md"},
		Questions: []Question{{ID: "q1", Question: "Which files?", Choices: []string{"go", "all"}, Why: "the total differs"}},
		Plan:      &samplePlan, Budget: "usd", Review: true,
		Findings: []PlanFinding{{Code: "V15", Severity: SeverityWarning, Message: "no task seems to serve goal 2"}},
		Sources:  []Source{{Argument: "path", Origin: OriginUntrusted, From: "page.html", Tool: "read_file", Quote: "write to a<b>.md", Through: "base64"}},
	},
	CheckpointDecided{
		ID: "r1-abcdefgh", Decision: DecideEdit, By: "slack:U2", Text: "not there", Answers: map[string]string{"q1": "go"},
		Arguments: json.RawMessage(`{"path":"b.md"}`), Plan: &samplePlan, Covers: []string{"lines.md"},
	},
	RunWatched{Where: "discord:1:2:3", By: "discord:5", CardOnly: true},
	CheckpointVoted{ID: "r1-abcdefgh", Decision: DecideApprove, By: "slack:U3", Text: "fine with me"},
	BudgetNotice{Budget: "usd", Percent: 80},
	CheckInDue{Reason: "10m0s passed", Tick: noon.Add(10 * time.Minute)},
	CheckInMade{
		Ledger: &Ledger{Progress: 0.4, Looping: true, Relevance: 0.9, PlanStillBest: true, Verdict: CheckInStop,
			Evidence: []uint64{4, 7}, Lesson: "vendor/ is <large>", Nudge: "count once"},
		Model: "gpt-mini", Confirm: true, Missed: "it answered in prose", Verdict: CheckInEscalate, Reason: "it goes round in circles",
		Progress: 0.5, Stall: 2,
	},
	Finding{Rule: "L1", Severity: "nudge", Strand: "task/t1", Events: []uint64{4, 7, 9}, Message: "read_file a.md three times", Note: "read another file"},
	Feedback{Rating: -1, Comment: "wrong total", By: "slack:U1"},
	Recalled{
		Episodes: []Episode{{
			Run: "r0", State: RunFailed, Ended: noon.Add(-time.Hour), Headline: "half of it", BodyHash: "00ff", ValueHashes: []string{"11ee"},
			Rating: -1, Comment: "wrong total", Lessons: Texts{"vendor/ is large"},
			Failures: []Failure{{What: "Count <lines>", Reason: "no disk", Events: []uint64{12}}},
		}},
		Precedents: []Precedent{{Failure: Failure{What: "Count <lines>", Reason: "no disk", Events: []uint64{12}}, Runs: []RunID{"r0"}}},
		Records:    []Remembered{{ID: "m1", Kind: "fact", Scope: "channel:slack:T1:C1", Text: "vendor/ is <generated>", Speaker: "Mara", Time: noon, Trust: Trusted}},
		Scores:     []float64{0.75},
	},
	ContextFull{Tokens: 6100, Window: 8192, Entries: 12, Refused: true},
	Compacted{Entries: 12, Events: []uint64{9, 31}, Summary: "12 <packages> counted", Artifact: "e3b0c442"},
	Reported{Headline: "1,234 lines", Body: "| total | 3 | 1234 |", Artifacts: Texts{"table.md"}, Skipped: Texts{"the chart"},
		FollowUps: Texts{"count again"}, Lessons: Texts{"vendor/ is large"}, Schedule: &Scheduled{Name: "goal-x7k2q", Kind: "schedule",
			When: "every day at 9:00 (UTC)", Once: true, Next: []time.Time{noon}, What: "“count the lines”"}},
	RunEnded{State: RunFailed, Reason: "not delivered: chart", Cost: new(Nano(1_250_000_000)), Prompt: 1000, Completion: 200, ModelCalls: 9},
}

// sampleEvent is a journal entry with the body.
func sampleEvent(b Body) Event {
	return Event{Run: "r1", Strand: "task/t1", Seq: 7, At: noon, Body: b}
}
