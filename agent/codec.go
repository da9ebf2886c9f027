package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// ErrNewer is returned for an event of a kind or version that this build does
// not know: a newer replica wrote it and will work it.
var ErrNewer = errors.New("event is newer than this build")

// ErrDamaged is returned for an event whose JSON cannot be read.
var ErrDamaged = errors.New("event is damaged")

// Generation says which journals this build can work: it grows by one with each
// build that writes what the one before it must not work. Stores keep with a run
// the newest generation that its events need, and hand its strands only to
// builds that have it. The builds before the first are of generation 0.
const Generation = 4

// upgrade turns the JSON of one version of a kind into that of the next.
type upgrade func(json.RawMessage) (json.RawMessage, error)

// step leads from one version of a kind to the next.
type step struct {
	upgrade upgrade
	// needs reports whether a body says what the older version cannot say; nil:
	// each does. A body that does not is written in the older version, so that
	// older builds go on with what they understand.
	needs      func(b Body) bool
	generation int // of the first build that reads it
}

// shape is one kind's JSON: how its newest version is read, and how each older
// one becomes the next: steps[i] leads from version i+1 to version i+2.
type shape struct {
	read  func([]byte) (Body, error)
	steps []step
}

// shapeOf is the shape of the body type's kind. A shape may gain fields that
// older builds can ignore; each field has its word on that in
// testdata/fields.txt. A field that changes what is decided, a changed name or a
// changed meaning appends a step here and adds a golden file to testdata/golden.
func shapeOf[B Body](steps ...step) shape { return shape{read: decode[B], steps: steps} }

// decides is a step for fields that change what is decided: where one of them is
// set, builds that do not know it must not work the run.
func decides[B Body](generation int, set func(b B) bool) step {
	return step{
		upgrade:    func(old json.RawMessage) (json.RawMessage, error) { return old, nil },
		needs:      func(b Body) bool { v, is := b.(B); return is && set(v) },
		generation: generation,
	}
}

// version is the newest version of the shape, from 1.
func (s shape) version() int { return 1 + len(s.steps) }

// versionOf is the oldest version that can say everything of the body.
func (s shape) versionOf(b Body) int {
	for i := len(s.steps); i > 0; i-- {
		if needs := s.steps[i-1].needs; needs == nil || needs(b) {
			return i + 1
		}
	}
	return 1
}

// codec reads the bodies of the kinds that it holds.
type codec map[Kind]shape

// builtin holds every kind that this build knows.
var builtin = codec{
	RunStarted{}.Kind():        shapeOf[RunStarted](decides(1, startsGuarded), decides(3, startsLimited)),
	PersonSaid{}.Kind():        shapeOf[PersonSaid](decides(2, isUnread)),
	Understood{}.Kind():        shapeOf[Understood](),
	RunWatched{}.Kind():        shapeOf[RunWatched](),
	RunControlled{}.Kind():     shapeOf[RunControlled](),
	TimePassed{}.Kind():        shapeOf[TimePassed](),
	ModelAsked{}.Kind():        shapeOf[ModelAsked](),
	ModelAnswered{}.Kind():     shapeOf[ModelAnswered](decides(4, func(b ModelAnswered) bool { return b.Given != "" })),
	CallReplied{}.Kind():       shapeOf[CallReplied](decides(3, func(b CallReplied) bool { return b.Trust != "" })),
	ToolsOffered{}.Kind():      shapeOf[ToolsOffered](decides(3, always[ToolsOffered]), decides(3, documents)),
	PolicyDecided{}.Kind():     shapeOf[PolicyDecided](decides(3, always[PolicyDecided])),
	PlanAccepted{}.Kind():      shapeOf[PlanAccepted](decides(4, func(b PlanAccepted) bool { return b.Plan.shaped() })),
	TaskStarted{}.Kind():       shapeOf[TaskStarted](),
	TaskFinishing{}.Kind():     shapeOf[TaskFinishing](),
	TaskJudged{}.Kind():        shapeOf[TaskJudged](),
	TaskEnded{}.Kind():         shapeOf[TaskEnded](),
	ToolIntent{}.Kind():        shapeOf[ToolIntent](),
	ToolDeferred{}.Kind():      shapeOf[ToolDeferred](),
	ToolOutcome{}.Kind():       shapeOf[ToolOutcome](),
	ToolProgressed{}.Kind():    shapeOf[ToolProgressed](decides(4, always[ToolProgressed])),
	CheckpointOpened{}.Kind():  shapeOf[CheckpointOpened](decides(1, asksReviewers), decides(3, asksNamed), decides(4, asksShaped)),
	CheckpointDecided{}.Kind(): shapeOf[CheckpointDecided](decides(2, raisesFreely), decides(4, func(b CheckpointDecided) bool { return b.Plan != nil && b.Plan.shaped() })),
	CheckpointVoted{}.Kind():   shapeOf[CheckpointVoted](),
	BudgetNotice{}.Kind():      shapeOf[BudgetNotice](),
	CheckInDue{}.Kind():        shapeOf[CheckInDue](),
	CheckInMade{}.Kind():       shapeOf[CheckInMade](),
	Finding{}.Kind():           shapeOf[Finding](),
	Feedback{}.Kind():          shapeOf[Feedback](),
	Recalled{}.Kind():          shapeOf[Recalled](),
	ContextFull{}.Kind():       shapeOf[ContextFull](decides(3, always[ContextFull])),
	Compacted{}.Kind():         shapeOf[Compacted](decides(3, always[Compacted])),
	Reported{}.Kind():          shapeOf[Reported](),
	RunEnded{}.Kind():          shapeOf[RunEnded](),
}

// documents reports whether documentation is put before the model without a word on
// which tools it is offered.
func documents(b ToolsOffered) bool { return len(b.Documents) > 0 }

// startsGuarded reports whether the run is begun with what keeps others from
// deciding on it, working it or reading of it.
func startsGuarded(b RunStarted) bool { return len(b.Reviewers) > 0 || b.Quorum > 1 || b.Direct }

// startsLimited reports whether rules may look at who the requester is, or
// counters wait for the run's end.
func startsLimited(b RunStarted) bool { return b.Role != "" || len(b.Counted) > 0 }

// asksReviewers reports whether only reviewers may answer.
func asksReviewers(b CheckpointOpened) bool { return b.Review }

// asksNamed reports whether the question has approvers or a quorum of its own.
func asksNamed(b CheckpointOpened) bool { return len(b.Approvers) > 0 || b.Quorum > 0 }

// asksShaped reports whether the question is about a plan with roles, stages or
// checks.
func asksShaped(b CheckpointOpened) bool { return b.Plan != nil && b.Plan.shaped() }

// always is for kinds that older builds do not know: they do not know the rules
// either by which the run is worked.
func always[B Body](B) bool { return true }

// isUnread reports whether what the words mean is found out by a strand that
// older builds do not know.
func isUnread(b PersonSaid) bool { return b.Unread != nil }

// raisesFreely reports whether a budget is raised by more or less than older
// builds know: they would take it for the end.
func raisesFreely(b CheckpointDecided) bool {
	return Raise(b.Decision) > 0 && b.Decision != DecideMore25 && b.Decision != DecideMore100
}

func decode[B Body](data []byte) (Body, error) {
	var b B
	err := json.Unmarshal(data, &b)
	return b, err
}

// Version is the newest version of the kind's JSON shape that this build reads,
// from 1; 0 for a kind that it does not know.
func (k Kind) Version() int {
	s, known := builtin[k]
	if !known {
		return 0
	}
	return s.version()
}

// Version is the version of its kind that the body is written in, from 1: the
// oldest that can say everything of it.
func Version(b Body) int { return builtin[b.Kind()].versionOf(b) }

// Needs is the oldest generation of builds that may work a journal with the
// events.
func Needs(events []Event) int {
	newest := 0
	for _, e := range events {
		if v := Version(e.Body); v > 1 {
			newest = max(newest, builtin[e.Body.Kind()].steps[v-2].generation)
		}
	}
	return newest
}

// EncodeBody returns the body's JSON, as its Version says it.
func EncodeBody(b Body) (json.RawMessage, error) {
	data, err := format.JSON(b)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return data, nil
}

// DecodeBody reads a body of any version up to the newest of its kind. It
// returns ErrNewer or ErrDamaged, wrapped.
func DecodeBody(kind Kind, version int, data []byte) (Body, error) {
	return builtin.decode(kind, version, data)
}

func (c codec) decode(kind Kind, version int, data []byte) (Body, error) {
	s, known := c[kind]
	if !known || version > s.version() {
		return nil, fmt.Errorf("%w: kind %q version %d", ErrNewer, kind, version)
	}
	if version < 1 {
		return nil, fmt.Errorf("%w: kind %q has version %d", ErrDamaged, kind, version)
	}
	for i, step := range s.steps[version-1:] {
		next, err := step.upgrade(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: version %d does not upgrade: %w", ErrDamaged, kind, version+i, err)
		}
		data = next
	}
	b, err := s.read(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, kind, err)
	}
	return b, nil
}

// line is an event as one JSON line: the shape of `--json` and `journal`, and
// of the entries that stores keep.
type line struct {
	Run    RunID           `json:"run"`
	Strand StrandID        `json:"strand"`
	Seq    uint64          `json:"seq"`
	At     time.Time       `json:"at"`
	Kind   Kind            `json:"kind"`
	Body   json.RawMessage `json:"body"`
	V      int             `json:"v,omitempty"` // absent: 1; last, for scripts that match the words before it
}

// MarshalJSON writes {"run","strand","seq","at","kind","body"}, and "v" behind
// them where the body's version is not 1.
func (e Event) MarshalJSON() ([]byte, error) {
	body, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	l := line{Run: e.Run, Strand: e.Strand, Seq: e.Seq, At: e.At, Kind: e.Body.Kind(), Body: body}
	if v := Version(e.Body); v != 1 {
		l.V = v
	}
	return format.JSON(l)
}

// UnmarshalJSON reads what MarshalJSON writes, in any version of its kind.
func (e *Event) UnmarshalJSON(b []byte) error {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if l.V == 0 {
		l.V = 1
	}
	body, err := DecodeBody(l.Kind, l.V, l.Body)
	if err != nil {
		return err
	}
	*e = Event{Run: l.Run, Strand: l.Strand, Seq: l.Seq, At: l.At, Body: body}
	return nil
}

// Kind names the event: run.started.
func (RunStarted) Kind() Kind { return "run.started" }

// Kind names the event: person.said.
func (PersonSaid) Kind() Kind { return "person.said" }

// Kind names the event: said.understood.
func (Understood) Kind() Kind { return "said.understood" }

// Kind names the event: run.watched.
func (RunWatched) Kind() Kind { return "run.watched" }

// Kind names the event: run.controlled.
func (RunControlled) Kind() Kind { return "run.controlled" }

// Kind names the event: time.passed.
func (TimePassed) Kind() Kind { return "time.passed" }

// Kind names the event: model.asked.
func (ModelAsked) Kind() Kind { return "model.asked" }

// Kind names the event: model.answered.
func (ModelAnswered) Kind() Kind { return "model.answered" }

// Kind names the event: call.replied.
func (CallReplied) Kind() Kind { return "call.replied" }

// Kind names the event: tools.offered.
func (ToolsOffered) Kind() Kind { return "tools.offered" }

// Kind names the event: policy.decided.
func (PolicyDecided) Kind() Kind { return "policy.decided" }

// Kind names the event: plan.accepted.
func (PlanAccepted) Kind() Kind { return "plan.accepted" }

// Kind names the event: task.started.
func (TaskStarted) Kind() Kind { return "task.started" }

// Kind names the event: task.finishing.
func (TaskFinishing) Kind() Kind { return "task.finishing" }

// Kind names the event: task.judged.
func (TaskJudged) Kind() Kind { return "task.judged" }

// Kind names the event: task.ended.
func (TaskEnded) Kind() Kind { return "task.ended" }

// Kind names the event: tool.intent.
func (ToolIntent) Kind() Kind { return "tool.intent" }

// Kind names the event: tool.progressed.
func (ToolProgressed) Kind() Kind { return "tool.progressed" }

// Kind names the event: tool.deferred.
func (ToolDeferred) Kind() Kind { return "tool.deferred" }

// Kind names the event: tool.outcome.
func (ToolOutcome) Kind() Kind { return "tool.outcome" }

// Kind names the event: checkpoint.opened.
func (CheckpointOpened) Kind() Kind { return "checkpoint.opened" }

// Kind names the event: checkpoint.decided.
func (CheckpointDecided) Kind() Kind { return "checkpoint.decided" }

// Kind names the event: checkpoint.voted.
func (CheckpointVoted) Kind() Kind { return "checkpoint.voted" }

// Kind names the event: budget.notice.
func (BudgetNotice) Kind() Kind { return "budget.notice" }

// Kind names the event: check-in.due.
func (CheckInDue) Kind() Kind { return "check-in.due" }

// Kind names the event: check-in.made.
func (CheckInMade) Kind() Kind { return "check-in.made" }

// Kind names the event: finding.
func (Finding) Kind() Kind { return "finding" }

// Kind names the event: feedback.
func (Feedback) Kind() Kind { return "feedback" }

// Kind names the event: recalled.
func (Recalled) Kind() Kind { return "recalled" }

// Kind names the event: context.full.
func (ContextFull) Kind() Kind { return "context.full" }

// Kind names the event: compacted.
func (Compacted) Kind() Kind { return "compacted" }

// Kind names the event: report.
func (Reported) Kind() Kind { return "report" }

// Kind names the event: run.ended.
func (RunEnded) Kind() Kind { return "run.ended" }

func (RunStarted) body()        {}
func (RunWatched) body()        {}
func (PersonSaid) body()        {}
func (Understood) body()        {}
func (RunControlled) body()     {}
func (TimePassed) body()        {}
func (ModelAsked) body()        {}
func (ModelAnswered) body()     {}
func (CallReplied) body()       {}
func (ToolsOffered) body()      {}
func (PolicyDecided) body()     {}
func (PlanAccepted) body()      {}
func (TaskStarted) body()       {}
func (TaskFinishing) body()     {}
func (TaskJudged) body()        {}
func (TaskEnded) body()         {}
func (ToolIntent) body()        {}
func (ToolProgressed) body()    {}
func (ToolDeferred) body()      {}
func (ToolOutcome) body()       {}
func (CheckpointOpened) body()  {}
func (CheckpointDecided) body() {}
func (CheckpointVoted) body()   {}
func (BudgetNotice) body()      {}
func (CheckInDue) body()        {}
func (CheckInMade) body()       {}
func (Finding) body()           {}
func (Feedback) body()          {}
func (Recalled) body()          {}
func (ContextFull) body()       {}
func (Compacted) body()         {}
func (Reported) body()          {}
func (RunEnded) body()          {}
