package agent

// This file holds the contracts of tools and of the policy over them, which the
// floors above implement.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Repeat says what running a tool's effect a second time would mean.
type Repeat string

// The meanings of a repetition. A read changes nothing; an idempotent effect
// may be repeated; a probeable one can be asked whether it happened; a once
// effect can be neither repeated nor asked.
const (
	RepeatRead       Repeat = "read"
	RepeatIdempotent Repeat = "idempotent"
	RepeatProbeable  Repeat = "probeable"
	RepeatOnce       Repeat = "once"
)

// Class is what a tool does to the world, for policy.
type Class string

// The classes of a tool.
const (
	ClassRead Class = "read"
	// ClassCreate makes a file where none was: nothing is lost.
	ClassCreate Class = "create"
	ClassWrite  Class = "write"
	ClassDelete Class = "delete"
	ClassSend   Class = "send" // leaves the workspace: posts, mail, requests with effects
	// ClassCommand runs a program on the host: anything may come of it.
	ClassCommand Class = "command"
)

// Trust labels where a text comes from. What is untrusted is data, never an
// instruction.
type Trust string

// The trust labels.
const (
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted"
)

// ToolSpec describes a tool to the model, to the planner and to the engine.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of the arguments
	Class       Class           `json:"class"`
	Repeat      Repeat          `json:"repeat"`
	// Timeout bounds one run of the tool; 0 is the engine's default.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Deadline is set for effects that reach over a network: the intent's
	// deadline is this long after its commit, and nobody probes before.
	Deadline time.Duration `json:"deadline,omitempty"`
	// Input and Output are the types that the tool takes and gives, for the
	// plan's type rule (V11); empty: any.
	Input  []string `json:"input,omitempty"`
	Output []string `json:"output,omitempty"`
	// Source names who gives the tool; empty: it is built in.
	Source string `json:"source,omitempty"`
	// Example is a call's arguments, as the tool's documentation shows them.
	Example json.RawMessage `json:"example,omitempty"`
	// Trust is the most that a result of the tool is trusted, whatever the
	// result says of itself; empty: as the result says.
	Trust Trust `json:"trust,omitempty"`
	// MaxResult bounds a result's text in bytes; 0: the engine's bound.
	MaxResult int `json:"max_result,omitempty"`
	// Open says that the arguments leave this host, also where nothing changes
	// by it. Private says that the results are nobody else's business.
	Open    bool `json:"open,omitempty"`
	Private bool `json:"private,omitempty"`
}

// Match is a tool that fits a request in words. Score is the share of the request
// that it covers, from 0 to 1.
type Match struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

// ToolsOffered is which of many tools the strand is offered from now on, beside
// those that are built in: the best matches for its text, or for a request of
// the model's own.
type ToolsOffered struct {
	Query  string    `json:"query,omitempty"` // the model's own; empty: the text of the task or the goal
	Names  []string  `json:"names"`
	Scores []float64 `json:"scores"` // from 0 to 1, one a name
	// Documents are put before the model: what is written about tools that it is
	// about to call, or what became of that.
	Documents []Document `json:"documents,omitempty"`
}

// Document is what whoever made a tool wrote about it.
type Document struct {
	Tool string `json:"tool"`
	Hash string `json:"hash"` // of the text as it was read
	// Text is empty where the model has it by other means.
	Text string `json:"text,omitempty"`
}

// Call is one run of a tool.
type Call struct {
	Run       RunID
	Strand    StrandID
	Effect    EffectID
	Tool      string
	Arguments json.RawMessage // valid by the tool's schema, placeholders replaced
	Folder    string          // the run's folder in the workspace, empty: the workspace
	Person    string          // who asked for the run, "slack:U…"; what only some may see goes by it
	Place     string          // where the run lives (RunStarted.Scope), empty: the terminal
	Mark      string          // what Prepare noted
	Deadline  time.Time       // zero: none
	// Repeat is what making the call twice would mean, as its intent says; empty:
	// it is not to be made twice.
	Repeat Repeat
	// Deferred counts how often this call asked to be looked at again.
	Deferred int
	// Env is what the task says that its programs need, nil: nothing.
	Env *Env
	// Progress, when set, shows people how far the call is. It may be called often,
	// and from any goroutine.
	Progress func(text string) `json:"-"`
	// Ask, when set, puts questions to people in the run's thread while the call goes
	// on and returns their answers by the questions' ids; false: nobody answers.
	// The call's time stands still meanwhile.
	Ask func(ctx context.Context, title string, questions []Question) (answers map[string]string, answered bool) `json:"-"`
}

// ToolProgressed says how far a call is, in its tool's words. The newest counts.
type ToolProgressed struct {
	Effect EffectID `json:"effect"`
	Text   string   `json:"text"`
}

// OutcomeState is how an effect went.
type OutcomeState string

// The states of an outcome. Unknown: it may or may not have happened, and the
// tool cannot tell.
const (
	OutcomeOK      OutcomeState = "ok"
	OutcomeError   OutcomeState = "error"
	OutcomeUnknown OutcomeState = "unknown"
	OutcomeSkipped OutcomeState = "skipped" // a person said so after a crash
)

// Result is what a tool returns. A failure is a Result with OutcomeError whose
// text says what happened, to what, and what to do next.
type Result struct {
	State OutcomeState
	Text  string
	Trust Trust
	Files []string // workspace paths written
	// Again, when positive, says that the call is not finished: it is run
	// again with Deferred + 1 after this long, and no outcome is journalled yet.
	Again time.Duration
}

// Failed is a Result with the reason as its text.
func Failed(reason string) Result {
	return Result{State: OutcomeError, Text: "error: " + reason, Trust: Trusted}
}

// Tool does one thing in the world. Run never panics on purpose, returns when
// ctx ends, and may be called from many goroutines.
type Tool interface {
	Spec() ToolSpec
	Run(ctx context.Context, c Call) Result
}

// Documented is a Tool that has more to say than its Spec: its whole
// documentation, in Markdown, as whoever wrote it left it.
type Documented interface {
	Documentation(ctx context.Context) string
}

// Prober is a Tool whose effect can be asked for: done says whether it
// happened, r is then its result. An error means that the far end could not be
// asked now.
type Prober interface {
	Probe(ctx context.Context, c Call) (done bool, r Result, err error)
}

// Prepared is what a tool notes before its effect.
type Prepared struct {
	// Target identifies the state of what the call would change (a content
	// hash); an approval is void when it differs at dispatch.
	Target string
	// Mark is kept in the intent and handed to Run and Probe.
	Mark string
	// Preview describes the change to a person, in Markdown.
	Preview string
	// Class is what this very call does to the world, where that is more than
	// its tool usually does; empty: the tool's class.
	Class Class
	// Repeat is what repeating this very call would mean, where that is another
	// than for its tool's usual one; empty: the tool's.
	Repeat Repeat
	// Changes are the clean workspace paths of the files that it would change.
	Changes []string
	// New says that none of them is there yet.
	New bool
	// Hosts are the names or addresses that it would reach, as far as its tool
	// knows them beforehand.
	Hosts []string
}

// Preparer is a Tool that looks at its target before the effect. An error
// refuses the call: its text goes to the model, and nobody is asked.
type Preparer interface {
	Prepare(ctx context.Context, c Call) (Prepared, error)
}

// Act is a call as a policy sees it.
type Act struct {
	Tool      ToolSpec
	Arguments json.RawMessage // with artifacts in their places
	Class     Class           // of this very call
	Changes   []string        // the clean workspace paths of the files that it would change
	Hosts     []string        // that it would reach, as far as its tool knows them
	At        time.Time       // the store's clock
	New       bool            // none of them is there yet
	Taint     Taint           // where the arguments came from
}

// Taint is where the arguments of a call came from, as far as a policy cares
// (agent/taint works it out). The zero Taint is a call whose every argument is a
// person's, the plan's or of no matter.
type Taint struct {
	// Untrusted: an argument that decides what the call does to whom derives
	// from untrusted text, or nobody can tell that it does not.
	Untrusted bool
	// Private: an argument carries private data.
	Private bool
	// Exposed: the call is a way out of a strand that holds private data and
	// untrusted text.
	Exposed bool
	// Sources are what people are shown beside the arguments.
	Sources []Source
}

// Origin is whose words a text is.
type Origin string

// The origins of an argument that people are told of. Unknown: a model wrote it
// after it read untrusted text.
const (
	OriginUntrusted Origin = "untrusted"
	OriginPrivate   Origin = "private"
	OriginUnknown   Origin = "unknown"
)

// Source is one text that an argument derives from.
type Source struct {
	Argument string `json:"argument"` // its place in the arguments: "to", "rows.0.name"
	Origin   Origin `json:"origin"`
	From     string `json:"from"`              // what was read: "page.html", "web_fetch https://…"
	Tool     string `json:"tool,omitempty"`    // that read it
	Quote    string `json:"quote,omitempty"`   // a short part of the text
	Through  string `json:"through,omitempty"` // how it was written there: "base64"; empty: as it stands
}

// Permission is a policy's word on a call.
type Permission struct {
	Verdict Verdict
	Rule    string // the rule that decided
	// Version names the rules that were in force: what was approved under others
	// is asked for again.
	Version string
	Reason  string // for a denial: what the model is told
	Risk    string // for a question: what could go wrong
	// Grant is what one approval allows for the rest of the run; empty: only
	// this call with these arguments.
	Grant string
	// Once says that such a call is asked for each time: nobody can allow all
	// of its tool beforehand.
	Once bool
	// Approvers may approve this call, and nobody else; empty: those of the run.
	Approvers []string
	// Quorum is how many of them must; 0: as many as for the run.
	Quorum int
	// Expires is how long the question stays open; 0: as long as the run's others.
	Expires time.Duration
	// Journal has the decision kept as an event of its own (PolicyDecided).
	Journal bool
}

// Until is when a question with this permission that is opened at the time runs
// out by its own rule, zero: as the run's other questions do.
func (p Permission) Until(opened time.Time) time.Time {
	if p.Expires <= 0 {
		return time.Time{}
	}
	return opened.Add(p.Expires)
}

// Verdict is allow, ask or deny.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// grantWrite and a path cover every change of that one file.
const grantWrite = "write:"

// GrantWrite is the grant for every change of the file of the clean path.
func GrantWrite(path string) string { return grantWrite + path }

// GrantedWrite is the path of a grant for one file.
func GrantedWrite(grant string) (path string, is bool) { return strings.CutPrefix(grant, grantWrite) }

// Covers reports whether each of the files may be changed by what was granted for
// single files under this version of the policy.
func (q Questions) Covers(paths []string, version string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !q.Granted(GrantWrite(p), version) })
}

// Policy decides whether a call may run. It is pure: the same run and act give
// the same permission, as long as its rules are the same (Permission.Version).
type Policy interface {
	Permit(r *Run, a Act) Permission
}

// The functions of a task's worker that are no work: looking at where things
// stand, and doing nothing.
const (
	CallStatus  = "status"
	CallNothing = "do_nothing"
	// CallRead shows an earlier result again.
	CallRead = "read_result"
)

// The functions of a task's worker that has more tools than it is offered.
const (
	CallFindTools = "find_tools"
	CallToolHelp  = "tool_help"
)

// Idle reports whether a call of the function is no work.
func Idle(function string) bool { return function == CallStatus || function == CallNothing }

// Env is what the programs of a task need: their sandbox is made of it. What is
// not given is the configuration's.
type Env struct {
	Image   string `json:"image,omitempty"`   // of a container, where the sandbox's driver has them
	Runtime string `json:"runtime,omitempty"` // one of Runtimes
	// Packages are those of the runtime that must be there, for example "pandas" or "pandas==2.2.3".
	Packages []string `json:"packages,omitempty"`
	Files    []string `json:"files,omitempty"` // workspace paths
	// Environment are variables; secrets have no place here.
	Environment map[string]string `json:"environment,omitempty"`
	Network     []string          `json:"network,omitempty"` // hosts, "*.example.com" for those below; empty: none
	Memory      Quantity          `json:"memory,omitempty"`
	Processor   float64           `json:"processor,omitempty"` // processors at once
	Processes   int               `json:"processes,omitempty"` // at once
	Disk        Quantity          `json:"disk,omitempty"`
	Wall        Quantity          `json:"wall,omitempty"`
}

// Runtimes are the words for what a task's programs are written in.
var Runtimes = []string{"javascript", "python", "shell"}

// Quantity is a size or a duration as people write it: "512MiB", "10m".
type Quantity string

// UnmarshalJSON also reads a number: bytes or seconds.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	var n json.Number
	if json.Unmarshal(b, &n) == nil {
		*q = Quantity(n)
		return nil
	}
	return json.Unmarshal(b, (*string)(q))
}

// ErrQuantity is the cause where a quantity cannot be read.
var ErrQuantity = errors.New("is no quantity")

// Bytes is the quantity as a size, 0 where it is empty.
func (q Quantity) Bytes() (int64, error) {
	digits := strings.TrimRight(string(q), "KMGTiBkb ")
	shift, known := map[string]int{"": 0, "b": 0, "k": 10, "ki": 10, "kib": 10, "kb": 10, "m": 20, "mi": 20, "mib": 20, "mb": 20, "g": 30, "gi": 30, "gib": 30, "gb": 30}[strings.ToLower(strings.TrimSpace(string(q[len(digits):])))]
	if q == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || !(n > 0) || n*float64(int64(1)<<shift) > 1<<50 {
		return 0, fmt.Errorf("%q %w: write a size such as 512MiB or 2GiB", string(q), ErrQuantity)
	}
	return int64(n * float64(int64(1)<<shift)), nil
}

// Duration is the quantity as a duration, 0 where it is empty.
func (q Quantity) Duration() (time.Duration, error) {
	if q == "" {
		return 0, nil
	}
	if n, err := strconv.ParseFloat(string(q), 64); err == nil && n > 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(string(q))
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q %w: write a duration such as 90s or 10m", string(q), ErrQuantity)
	}
	return d, nil
}

// Help is the tool's whole documentation in Markdown: what it does, its
// arguments, an example, and what its author says beyond that.
func (s ToolSpec) Help(documentation string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", s.Name, s.Description)
	from := "built in"
	if s.Source != "" {
		from = "of the source " + s.Source
	}
	fmt.Fprintf(&b, "\nIt is %s and counts as: %s.\n", from, s.Class)
	var schema bytes.Buffer
	if json.Indent(&schema, s.Parameters, "", "  ") == nil {
		fmt.Fprintf(&b, "\nArguments, as a JSON Schema:\n%s\n", schema.Bytes())
	}
	if len(s.Example) > 0 {
		fmt.Fprintf(&b, "\nExample of arguments: %s\n", s.Example)
	}
	if documentation != "" && documentation != s.Description {
		fmt.Fprintf(&b, "\n%s\n", documentation)
	}
	return strings.TrimRight(b.String(), "\n")
}
