package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"
)

// Version is the number of a kind's JSON shape, from 1. A shape may gain
// fields without a new version; a changed meaning needs one, and an upgrade
// here that turns the old shape into the new one.
const Version = 1

// ErrNewer is returned for an event of a kind or version that this build does
// not know: a newer replica wrote it and will work it.
var ErrNewer = errors.New("event is newer than this build")

// ErrDamaged is returned for an event whose JSON cannot be read.
var ErrDamaged = errors.New("event is damaged")

// decoders holds one decoder per kind, for the newest version.
var decoders = map[Kind]func([]byte) (Body, error){
	RunStarted{}.Kind():        decode[RunStarted],
	PersonSaid{}.Kind():        decode[PersonSaid],
	RunControlled{}.Kind():     decode[RunControlled],
	TimePassed{}.Kind():        decode[TimePassed],
	ModelAsked{}.Kind():        decode[ModelAsked],
	ModelAnswered{}.Kind():     decode[ModelAnswered],
	CallReplied{}.Kind():       decode[CallReplied],
	PlanAccepted{}.Kind():      decode[PlanAccepted],
	TaskStarted{}.Kind():       decode[TaskStarted],
	TaskFinishing{}.Kind():     decode[TaskFinishing],
	TaskJudged{}.Kind():        decode[TaskJudged],
	TaskEnded{}.Kind():         decode[TaskEnded],
	ToolIntent{}.Kind():        decode[ToolIntent],
	ToolDeferred{}.Kind():      decode[ToolDeferred],
	ToolOutcome{}.Kind():       decode[ToolOutcome],
	CheckpointOpened{}.Kind():  decode[CheckpointOpened],
	CheckpointDecided{}.Kind(): decode[CheckpointDecided],
	BudgetNotice{}.Kind():      decode[BudgetNotice],
	Finding{}.Kind():           decode[Finding],
	Feedback{}.Kind():          decode[Feedback],
	Reported{}.Kind():          decode[Reported],
	RunEnded{}.Kind():          decode[RunEnded],
}

func decode[B Body](data []byte) (Body, error) {
	var b B
	err := json.Unmarshal(data, &b)
	return b, err
}

// Kinds returns every kind of event, sorted.
func Kinds() []Kind {
	kinds := make([]Kind, 0, len(decoders))
	for k := range decoders {
		kinds = append(kinds, k)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i] < kinds[j] })
	return kinds
}

// EncodeBody returns the body's JSON in the newest version of its kind.
func EncodeBody(b Body) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// DecodeBody reads a body of any version up to Version. It returns ErrNewer or
// ErrDamaged, wrapped.
func DecodeBody(kind Kind, version int, data []byte) (Body, error) {
	read, known := decoders[kind]
	if !known || version > Version {
		return nil, fmt.Errorf("%w: kind %q version %d", ErrNewer, kind, version)
	}
	if version < 1 {
		return nil, fmt.Errorf("%w: kind %q has version %d", ErrDamaged, kind, version)
	}
	b, err := read(data)
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
	V      int             `json:"v,omitempty"` // absent: 1
	Body   json.RawMessage `json:"body"`
}

// MarshalJSON writes {"run","strand","seq","at","kind","body"}, with "v" where
// the version is not 1.
func (e Event) MarshalJSON() ([]byte, error) {
	body, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	l := line{Run: e.Run, Strand: e.Strand, Seq: e.Seq, At: e.At, Kind: e.Body.Kind(), Body: body}
	if Version != 1 {
		l.V = Version
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err = enc.Encode(l)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON writes, in any version up to Version.
func (e *Event) UnmarshalJSON(b []byte) error {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	body, err := DecodeBody(l.Kind, max(l.V, 1), l.Body)
	if err != nil {
		return err
	}
	*e = Event{Run: l.Run, Strand: l.Strand, Seq: l.Seq, At: l.At, Body: body}
	return nil
}
