package reflect

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Kind says what a step of a trace is.
type Kind int

// The kinds of a step. Said are words beside calls; Prose is a turn of the
// model without any call.
const (
	Called Kind = iota
	Said
	Prose
	Person
	Compaction
)

// Step is one thing that happened, in the terms that all formats share.
type Step struct {
	// Event is the number that findings quote: a seq, or an index from 0.
	Event uint64
	Kind  Kind
	// Turn numbers the model's turn that a call belongs to; 0: a turn of its own.
	Turn uint64
	Tool string
	// Arguments is JSON as the model wrote it, or any text.
	Arguments string
	// Text is the result of a call, or what the model or the person said.
	Text  string
	Error bool // the call failed; a denied or expired approval did not
	// Unusable marks an unknown tool, arguments that cannot be read and a turn
	// that was refused.
	Unusable bool
	Artifact bool // the call wrote something
	// Idle marks a call that is no work, whatever it said: the model looked at
	// itself, or did nothing. All of a tool's idle calls are the same.
	Idle bool
	// Pause is how long nothing was done before the call; 0: none, or unknown.
	Pause time.Duration
	// Rested is how long the call put itself off before it answered, in whole
	// seconds: the engine is a little late, and polls are compared.
	Rested time.Duration
}

// mark is what a trace keeps of a step.
type mark struct {
	Step              // Text is shortened
	main         bool // Arguments is the main one already, shortened
	call, result key
	fresh        bool          // its result or its artifact was not seen before
	again        bool          // the same call was made before
	nth          int           // of the calls of the trace, from 1
	wait         time.Duration // the call is a pause of this length
	chant        *Chant
}

// Trace is what one agent did, in order. Its zero value is empty.
type Trace struct {
	// Strand is set for Deckhand's own journals.
	Strand agent.StrandID

	marks []mark
	calls int
	known known
}

// known is what a trace has seen before, and what the trace that it was forked
// from had.
type known struct {
	results, made map[key]bool
	said          map[string]bool
	before        *known
}

// add adds to the set that pick chooses and reports whether it was there already.
func add[K comparable](k *known, what K, pick func(k *known) *map[K]bool) (again bool) {
	for b := k; b != nil; b = b.before {
		if (*pick(b))[what] {
			return true
		}
	}
	set := pick(k)
	if *set == nil {
		*set = map[K]bool{}
	}
	(*set)[what] = true
	return false
}

// What a trace keeps of results and of arguments, in characters.
const (
	quoteLimit    = 120
	argumentLimit = 80
)

// keptArguments is the length, in bytes, to which arguments are kept as they
// are: most calls are never told of, and reading their arguments costs more
// than keeping them.
const keptArguments = 512

// forkRoom is how many steps a fork takes without copying: those of one batch.
const forkRoom = 8

// Push appends a step. Words of a person that repeat earlier ones are left out:
// they start nothing again.
func (t *Trace) Push(s Step) {
	m := mark{Step: s}
	switch s.Kind {
	case Called:
		t.pushCall(&m)
	case Said, Prose:
		if c, found := Chanting(s.Text, Defaults()); found {
			m.chant = &c
		}
		m.result = resultKey(s.Text)
	case Person:
		if add(&t.known, strings.TrimSpace(s.Text), func(k *known) *map[string]bool { return &k.said }) {
			return
		}
	case Compaction:
	}
	m.Text = quote(s.Text, quoteLimit)
	if len(m.Arguments) > keptArguments {
		m.Arguments, m.main = quote(argument(s.Arguments), argumentLimit), true
	}
	t.marks = append(t.marks, m)
}

func (t *Trace) pushCall(m *mark) {
	t.calls++
	m.nth = t.calls
	m.call, m.result = callKey(m.Tool, m.Arguments), resultKey(m.Text)
	m.wait = waited(m.Step)
	if m.Idle { // what it says differs without anything having been done
		m.call, m.result = callKey(m.Tool, ""), resultKey("")
		m.again = add(&t.known, m.call, func(k *known) *map[key]bool { return &k.made })
		return
	}
	old := add(&t.known, m.result, func(k *known) *map[key]bool { return &k.results })
	made := add(&t.known, m.call, func(k *known) *map[key]bool { return &k.made })
	m.fresh, m.again = !old || m.Artifact && !m.Error && !made, made
}

// waited is how long a call of the tool wait paused, in full.
func waited(s Step) time.Duration {
	if s.Tool != "wait" || s.Error {
		return 0
	}
	var args struct {
		Seconds float64 `json:"seconds"`
	}
	if json.Unmarshal([]byte(s.Arguments), &args) != nil || !(args.Seconds > 0 && args.Seconds <= 1e6) {
		return 0
	}
	return time.Duration(args.Seconds * float64(time.Second))
}

// Len is the number of steps.
func (t *Trace) Len() int { return len(t.marks) }

// Tail is the trace's last n steps. It shares them and is not pushed to.
func (t *Trace) Tail(n int) *Trace {
	return &Trace{Strand: t.Strand, marks: t.marks[max(0, len(t.marks)-n):]}
}

// fork is a copy of the newest part that may be pushed to, until the trace is
// pushed to: what is pushed takes the room behind the trace's own steps.
func (t *Trace) fork() *Trace {
	t.marks = slices.Grow(t.marks, forkRoom)
	c := t.Tail(reach)
	c.calls, c.known.before = t.calls, &t.known
	return c
}

// segments are the stretches between the words of people, without those words.
func (t *Trace) segments() [][]mark {
	var list [][]mark
	from := 0
	for i, m := range t.marks {
		if m.Kind == Person {
			list = append(list, t.marks[from:i])
			from = i + 1
		}
	}
	return append(list, t.marks[from:])
}

// Thresholds are the numbers of the rules.
type Thresholds struct {
	Window int // calls that L1 to L3 look back at

	Same                  int // L1: same call and result
	ErrorNudge, ErrorStop int // L2: same call, error
	Row, Share            int // L3: this many in a row, or more than that of the window

	CycleLength   int // L4: longest cycle, in calls
	CycleEqual    int // rounds with equal results
	CycleChanging int // rounds with changing results

	Prose, ProseEqual int // L5: turns without a call; equal ones
	// ProseAlways applies L5 also to turns that were refused for having no call.
	ProseAlways bool

	ChantWindow, ChantTimes, ChantDistance, ChantTexts int // L6: characters, occurrences, characters, texts

	Unusable    int // L7: turns
	Compactions int // L8

	Stale, TaskCalls, Twice, CheckInSteps int // L9: calls

	Pause               time.Duration // L10: shortest pause of a poll
	PollNudge, PollStop int           // calls

	Backlog, SamePlan int // L11: rounds; re-plans

	Stall     int // L13: stalled check-ins until a re-plan
	Replans   int
	Relevance float64 // below it the work has nothing to do with the goal
}

// Defaults are the numbers of the rules as published.
func Defaults() Thresholds {
	return Thresholds{
		Window: 10,
		Same:   3, ErrorNudge: 3, ErrorStop: 4, Row: 4, Share: 5,
		CycleLength: 5, CycleEqual: 3, CycleChanging: 5,
		Prose: 3, ProseEqual: 2,
		ChantWindow: 50, ChantTimes: 10, ChantDistance: 250, ChantTexts: 5,
		Unusable: 3, Compactions: 2,
		Stale: 15, TaskCalls: 30, Twice: 2, CheckInSteps: 10,
		Pause: time.Second, PollNudge: 10, PollStop: 20,
		Backlog: 5, SamePlan: 2,
		Stall: 3, Replans: 2, Relevance: 0.3,
	}
}
