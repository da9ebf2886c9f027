package agent

import (
	"encoding/json"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Event is one entry of a run's journal. Seq counts from 1 over the whole run
// in commit order; Seq and At are set by the store.
type Event struct {
	Run    RunID
	Strand StrandID
	Seq    uint64
	At     time.Time
	Body   Body
}

// Kind names what happened. Kinds are a contract: users' scripts read them.
type Kind string

// Body is what happened. The set is closed: Apply knows every member, and the
// codec (codec.go) has a golden file for each kind and version.
//
//sumtype:decl
type Body interface {
	Kind() Kind
	body()
}

// RunStarted opens a journal: the goal and everything that was decided about
// the run before its first step.
type RunStarted struct {
	Goal      string `json:"goal"`
	Requester string `json:"requester"`
	// ReplyTo is the thread that the run answers in, "platform:workspace:channel:thread";
	// empty for a run that is only watched.
	ReplyTo string `json:"reply_to,omitempty"`
	// Folder is the run's folder inside the workspace; empty is the workspace itself.
	Folder       string       `json:"folder,omitempty"`
	Limits       Limits       `json:"limits"`
	PlanApproval PlanApproval `json:"plan_approval"`
	Autonomy     Autonomy     `json:"autonomy"`
	// YesTo lists what needs no question in this run: plan, reads, writes, deletes, all.
	YesTo []string `json:"yes_to,omitempty"`
	// Approvers may decide approvals and plans; empty: the requester and the operators.
	Approvers []string      `json:"approvers,omitempty"`
	Expires   time.Duration `json:"expires"` // of a checkpoint, in nanoseconds; 0: never
	Slots     int           `json:"slots"`   // tasks at once
	// CheckIns is after how many model calls of its work a task looks at itself;
	// 0: never for their number.
	CheckIns int `json:"check_in_steps,omitempty"`
	// Unattended is set where nobody can be asked about trouble.
	Unattended bool `json:"unattended,omitempty"`
	// Quorum is how many people must approve an approval or a plan; 0 and 1: one.
	Quorum int `json:"quorum,omitempty"`
	// Reviewers approve the results before they are reported: they alone, and
	// no result counts before. Empty: none is reviewed.
	Reviewers []string `json:"reviewers,omitempty"`
	// Files came with the goal.
	Files []Attachment `json:"files,omitempty"`
	// Role is what the requester is where that is no full member of the workspace:
	// guest or bot.
	Role string `json:"role,omitempty"`
	// Counted are the counters of live runs that the run is in until it ends.
	Counted []string `json:"counted,omitempty"`
	// Direct says that the goal was given in a direct conversation: nobody else
	// is to read of it.
	Direct bool `json:"direct,omitempty"`
	// Tick is the turn of a schedule that began the run, nil where a person did.
	Tick *Tick `json:"tick,omitempty"`
	// Zone is the IANA name of the time zone that the requester's own words go by;
	// empty where the goal is nobody's own words, and no schedule is made of it.
	Zone string `json:"zone,omitempty"`
}

// PlanApproval says which plans need a person before their first task.
type PlanApproval string

// The settings of plan approval. Effects: plans with a tool that changes something.
const (
	ApprovePlanNever   PlanApproval = "never"
	ApprovePlanEffects PlanApproval = "effects"
	ApprovePlanAlways  PlanApproval = "always"
)

// Autonomy is how much a run may do without asking.
type Autonomy string

// The levels of autonomy. Suggest: no effect at all. Ask each: every effect is
// asked. Ask risky: the first write is asked for the whole folder, deletes and
// sends always. Within budget: writes are free, deletes and sends are asked.
const (
	Suggest      Autonomy = "suggest"
	AskEach      Autonomy = "ask-each"
	AskRisky     Autonomy = "ask-risky"
	WithinBudget Autonomy = "within-budget"
)

// PersonSaid is a person's message to a running run. Trusted is false for the
// words of people without authority over the run.
type PersonSaid struct {
	By      string `json:"by"`
	Text    string `json:"text"`
	Trusted bool   `json:"trusted"`
	// Files came with the message.
	Files []Attachment `json:"files,omitempty"`
	// Message is the platform's message, as an address: its author may take it back.
	Message string `json:"message,omitempty"`
	// Author wrote the words, where By, who has the authority, passed them on.
	Author string `json:"author,omitempty"`
	// Unread is set where it has to be found out what the words mean: nothing
	// comes of them before Understood says it. Nil: they are steering, or context.
	Unread *Unread `json:"unread,omitempty"`
}

// Unread is what is needed to understand a person's words later on.
type Unread struct {
	// Also are the principals of the groups and roles of who said it.
	Also []string `json:"also,omitempty"`
	// Where is the thread that it was said in; empty: the run's own.
	Where string `json:"where,omitempty"`
	// Before are the open questions that the person had before them and may
	// decide, the oldest first: only those can be meant.
	Before []CheckpointID `json:"before,omitempty"`
	// Zone is the time zone of who said it, where they may order something for later
	// there; empty: they may not. Direct says that they said it to the bot alone.
	Zone   string `json:"zone,omitempty"`
	Direct bool   `json:"direct,omitempty"`
	// Answer is what the words decide where they mean nothing else, nil: they are
	// steering then.
	Answer *WordsAnswer `json:"answer,omitempty"`
}

// WordsAnswer is a question that words answer where they mean nothing else, with
// the decision that they are then. Answers are those that were given to other
// points of the question.
type WordsAnswer struct {
	ID       CheckpointID      `json:"id"`
	Decision string            `json:"decision"`
	Answers  map[string]string `json:"answers,omitempty"`
}

// Meaning is what a person's words come to (MODEL.md, "take_message").
type Meaning string

// The meanings of words.
const (
	MeansStop      Meaning = "stop"
	MeansGoOn      Meaning = "go_on"
	MeansConsent   Meaning = "consent"
	MeansRefusal   Meaning = "refusal"
	MeansExtension Meaning = "extension" // of a budget
	MeansQuestion  Meaning = "question"
	MeansSteering  Meaning = "steering"
	MeansSchedule  Meaning = "schedule"
	MeansOther     Meaning = "other"
)

// Understood is what words mean that were unread, and what comes of them beside
// the events that follow it. The first one about the same words counts.
type Understood struct {
	Said    uint64  `json:"said"` // the number of the event with the words
	Meaning Meaning `json:"meaning"`
	// Later marks a question that is still to be answered.
	Later bool `json:"later,omitempty"`
	// Noted adds the words to what the strands are told, as those of somebody who
	// may steer where Trusted.
	Noted   bool `json:"noted,omitempty"`
	Trusted bool `json:"trusted,omitempty"`
	// Of and Decision are the decision that the words seem to mean: it is
	// proposed, and nothing is decided before a person confirms it.
	Of       CheckpointID `json:"of,omitempty"`
	Decision string       `json:"decision,omitempty"`
	Reason   string       `json:"reason,omitempty"` // the model's
	// Text answers a question (Markdown), from the events that Cites numbers;
	// empty: the journal does not say.
	Text  string   `json:"text,omitempty"`
	Cites []uint64 `json:"cites,omitempty"`
	// Schedule is what was kept for later, as the words order; nil: nothing. Text is
	// why, where they do.
	Schedule *Scheduled `json:"schedule,omitempty"`
	// Unable is why no model could tell, empty: one did.
	Unable string `json:"unable,omitempty"`
}

// Word is a control word.
type Word string

// The control words. WordLeave says that nobody can be asked any more (end of
// input) and WordWake only makes every strand look again, perhaps at a place.
const (
	WordPause  Word = "pause"
	WordResume Word = "resume"
	WordCancel Word = "cancel"
	WordLeave  Word = "leave"
	WordWake   Word = "wake"
	// WordUndo and WordChange are of the schedule that the run ended with: Reason is
	// what it is now, in words.
	WordUndo   Word = "undo"
	WordChange Word = "change"
)

// RunWatched shows the run in one more thread, or in none of a channel yet:
// its card and its report are posted there, too.
type RunWatched struct {
	Where string `json:"where"` // "platform:workspace:channel:thread"
	By    string `json:"by"`
	// CardOnly says that somebody asked where the run stands: its card is shown
	// there, also where one is already, and no report.
	CardOnly bool `json:"card_only,omitempty"`
}

// RunControlled is a control word, by a person or by the engine itself.
type RunControlled struct {
	Word   Word   `json:"word"`
	By     string `json:"by"`
	Reason string `json:"reason,omitempty"`
	// Place comes with WordWake: a thread, a message or a channel
	// ("platform:workspace:channel:") in which the bot may post again, or which is gone.
	Place string `json:"place,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
	// YesTo is what needs no question from now on, in the place of what was said at
	// the start; only the person at the terminal says so, with a resumption.
	YesTo []string `json:"yes_to,omitempty"`
}

// TimePassed says that a strand was woken by its own timer: everything due
// before the event's stamp is due now.
type TimePassed struct{}

// ModelAsked reserves the price of a model call before it is made. An asked
// call without an answer (crash) counts as spent.
type ModelAsked struct {
	Call    string      `json:"call"`
	Purpose llm.Purpose `json:"purpose"`
	Model   string      `json:"model"`
	// Reserve is null where the model's price is unknown.
	Reserve       *Nano  `json:"reserve_usd"`
	ReserveTokens int    `json:"reserve_tokens"`
	PromptHash    string `json:"prompt_hash"`
}

// ModelAnswered settles a model call. Exactly one of Message, Error and RetryAt
// is set; Problem says why an answer could not be used and is what the model is
// told.
type ModelAnswered struct {
	Call       string      `json:"call"`
	Purpose    llm.Purpose `json:"purpose"`
	Model      string      `json:"model"`
	Prompt     int         `json:"prompt_tokens"`
	Completion int         `json:"completion_tokens"`
	Cached     int         `json:"cached_tokens"`
	Cost       *Nano       `json:"cost_usd"`
	PromptHash string      `json:"prompt_hash"`
	Estimated  bool        `json:"estimated,omitempty"`
	// Given says who gave the answer where no model was asked and nothing was spent:
	// a playbook, a person's list of steps, a check. No ModelAsked comes before it.
	Given string `json:"given,omitempty"`
	// Lost marks a reservation that no answer settled.
	Lost    bool          `json:"lost,omitempty"`
	Took    time.Duration `json:"took"` // nanoseconds
	Message *llm.Message  `json:"message,omitempty"`
	Problem string        `json:"problem,omitempty"`
	Error   string        `json:"error,omitempty"`
	// Refused marks an error that only a changed configuration can mend.
	Refused bool `json:"refused,omitempty"`
	// RetryAt is when the model is asked again, where its endpoint was limited or
	// away; RetryReason says what it does ("is overloaded (HTTP 503)"). A build
	// that knows neither takes this for an answer without words and asks again.
	RetryAt     time.Time `json:"retry_at,omitzero"`
	RetryReason string    `json:"retry_reason,omitempty"`
}

// Free reports whether the call is made again and cost nothing, as its endpoint
// took nothing of it.
func (b ModelAnswered) Free() bool { return !b.RetryAt.IsZero() && b.Prompt+b.Completion == 0 }

// CallReplied answers a function call that had no effect on the world: a decision that was
// taken or refused, arguments that did not fit, an unknown function.
type CallReplied struct {
	Effect EffectID `json:"effect"`
	Text   string   `json:"text"`
	// Problem marks a call that could not be used; three in a row end the step.
	Problem bool `json:"problem,omitempty"`
	// Repair marks a plan that was read and broke a rule: the model is asked to
	// mend it, twice at most.
	Repair bool `json:"repair,omitempty"`
	// Rule is the policy rule that refused the call, Policy the version of the
	// rules that were in force.
	Rule   string `json:"rule,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Trust is set where the text is an earlier result that is shown again.
	Trust Trust `json:"trust,omitempty"`
}

// PolicyDecided is the word of the rules of this installation on a call. What
// comes of it is the event that follows: an intent, a question, or a reply that
// says why not.
type PolicyDecided struct {
	Effect  EffectID `json:"effect"`
	Tool    string   `json:"tool"`
	Verdict Verdict  `json:"verdict"`
	Rule    string   `json:"rule"`
	Version string   `json:"version"`
}

// ToolIntent is committed before a tool runs. Arguments are canonical JSON
// with placeholders replaced.
type ToolIntent struct {
	Effect    EffectID        `json:"effect"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Repeat    Repeat          `json:"repeat"`
	// Mark is what the tool noted before the effect, for its probe.
	Mark string `json:"mark,omitempty"`
	// Deadline is when the effect's request has certainly ended; zero: it has none.
	Deadline time.Time `json:"deadline,omitzero"`
	// Rule is the policy rule that let the call through, Policy the version of
	// the rules that were in force.
	Rule   string `json:"rule,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Again counts earlier attempts of the same effect that recovery found undone.
	Again int `json:"again,omitempty"`
	// Thought is why the call is made, in the model's words; people see it if they ask.
	Thought string `json:"thought,omitempty"`
}

// ToolDeferred says that an effect is not finished and is to be looked at
// again at a time. It costs nothing while it waits.
type ToolDeferred struct {
	Effect EffectID  `json:"effect"`
	Until  time.Time `json:"until"`
}

// ToolOutcome is what came of an intent. The first outcome of an effect counts.
type ToolOutcome struct {
	Effect EffectID     `json:"effect"`
	State  OutcomeState `json:"state"`
	Trust  Trust        `json:"trust"`
	Text   string       `json:"text"`
	// Artifact is the content hash of the whole text where Text holds only its head and tail.
	Artifact string        `json:"artifact,omitempty"`
	Files    []string      `json:"files,omitempty"` // workspace paths that the effect wrote
	Took     time.Duration `json:"took,omitempty"`  // nanoseconds
}

// CheckpointOpened asks people. Choices are the words accepted as decision.
type CheckpointOpened struct {
	ID      CheckpointID   `json:"id"`
	Ask     CheckpointKind `json:"checkpoint_kind"`
	Title   string         `json:"title"`
	Detail  string         `json:"detail,omitempty"` // Markdown
	Choices []string       `json:"choices"`
	Expires time.Time      `json:"expires,omitzero"`
	// Effect is the call that asks; Tool, Arguments and Digest bind an approval
	// to exactly what it would do.
	Effect    EffectID        `json:"effect,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Risk      string          `json:"risk,omitempty"`
	// Grant is what approving allows for the rest of the run, empty: this call only.
	Grant string `json:"grant,omitempty"`
	// Rule is the policy rule that has people asked, Policy the version of the
	// rules that were in force.
	Rule   string `json:"rule,omitempty"`
	Policy string `json:"policy,omitempty"`
	// Approvers alone may decide, and Quorum of them must; empty and 0: as for
	// the run's other questions.
	Approvers []string `json:"approvers,omitempty"`
	Quorum    int      `json:"quorum,omitempty"`
	// Class is what the call does to the world; empty: no call asks, or an older
	// build asked.
	Class Class `json:"class,omitempty"`
	// Writes are the files that approving a plan lets the run change, by clean
	// path: the question names them.
	Writes    []string   `json:"writes,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	Plan      *Plan      `json:"plan,omitempty"`
	// Findings are the doubts about Plan that its validator has (Doubts).
	Findings []PlanFinding `json:"findings,omitempty"`
	// Budget is what ran out: usd, tokens, time or steps; the name of a wider
	// counter where a person's, a channel's or the month's money did.
	Budget string `json:"budget,omitempty"`
	// Review marks the question to the run's reviewers whether its results count.
	Review bool `json:"review,omitempty"`
	// Sources are where the arguments came from, for people to see.
	Sources []Source `json:"sources,omitempty"`
}

// Question is one unclear point (ask_human).
type Question struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
	Why      string   `json:"why,omitempty"`
}

// CheckpointDecided closes a checkpoint. The first decision counts. By is the
// principal, "expired" where nobody decided in time.
type CheckpointDecided struct {
	ID        CheckpointID      `json:"id"`
	Decision  string            `json:"decision"`
	By        string            `json:"by"`
	Text      string            `json:"text"`
	Answers   map[string]string `json:"answers,omitempty"`
	Arguments json.RawMessage   `json:"arguments,omitempty"`
	Plan      *Plan             `json:"plan,omitempty"`
	// Covers are the files that the approval of a plan lets the run change: those
	// that the question named.
	Covers []string `json:"covers,omitempty"`
}

// CheckpointVoted is an approval that is not the last one needed: where a
// quorum is set, the checkpoint stays open.
type CheckpointVoted struct {
	ID       CheckpointID `json:"id"`
	Decision string       `json:"decision"`
	By       string       `json:"by"`
	Text     string       `json:"text"`
}

// BudgetNotice says that a share of a budget is spent. Budget is usd, tokens,
// time or steps.
type BudgetNotice struct {
	Budget  string `json:"kind"`
	Percent int    `json:"percent"`
}

// Finding is what a stuck detector found. Events are the numbers that prove it.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity string   `json:"severity"`
	Strand   StrandID `json:"strand"`
	Events   []uint64 `json:"events"`
	Message  string   `json:"message"`
	// Note is what the model is told, empty: nothing.
	Note string `json:"note,omitempty"`
}

// Feedback is a person's rating of a report: +1 or -1.
type Feedback struct {
	Rating  int    `json:"rating"`
	Comment string `json:"comment"`
	By      string `json:"by"`
}

// RunState is where a run stands.
type RunState string

// The states of a run.
const (
	RunRunning   RunState = "running"
	RunWaiting   RunState = "waiting"
	RunPaused    RunState = "paused"
	RunDone      RunState = "done"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
)

// RunEnded closes a journal. The figures count settled and lost calls.
type RunEnded struct {
	State      RunState `json:"state"`
	Reason     string   `json:"reason,omitempty"`
	Cost       *Nano    `json:"cost_usd"`
	Prompt     int      `json:"prompt_tokens"`
	Completion int      `json:"completion_tokens"`
	ModelCalls int      `json:"model_calls"`
}

// ContextFull says that the conversation of a task's work leaves no room in the
// model's context window: its oldest entries are to be summed up before the
// model is asked for work again.
type ContextFull struct {
	Tokens  int `json:"tokens"`  // of the request that has no room, estimated
	Window  int `json:"window"`  // of the model, in tokens
	Entries int `json:"entries"` // how many of the oldest entries are to go
	// Refused says that the endpoint refused the request for its length.
	Refused bool `json:"refused,omitempty"`
}

// Compacted takes the oldest entries out of the conversation of a task's work.
// What was said by people who may steer stays as it was said.
type Compacted struct {
	Entries int `json:"entries"` // how many of the oldest entries it is about
	// Events are the numbers of the first and the last result among them: their
	// originals stay in the journal.
	Events []uint64 `json:"events"`
	// Summary stands in the place of the entries; empty: they stay, and their
	// long results are shortened to a line.
	Summary string `json:"summary,omitempty"`
	// Artifact is the whole of what the summary replaces, empty where no model
	// summed it up.
	Artifact string `json:"artifact,omitempty"`
}
