package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// RunID names a run: 16 characters of [a-z2-7], unguessable.
type RunID string

// StrandID names a strand within its run: "main", "voice", "task/ID" or "agent/KEY".
type StrandID string

// TaskID names a task within its plan, as the planner wrote it.
type TaskID string

// CheckpointID names a question to people, unique over all runs and unguessable.
type CheckpointID string

// EffectID names one tool call within its run.
type EffectID string

// The strands that every run has.
const (
	Main  StrandID = "main"
	Voice StrandID = "voice"
)

// TaskStrand is the strand that works the task.
func TaskStrand(t TaskID) StrandID { return "task/" + StrandID(t) }

// Task returns the task that the strand works and whether it works one.
func (s StrandID) Task() (TaskID, bool) {
	t, ok := strings.CutPrefix(string(s), "task/")
	return TaskID(t), ok
}

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID returns 16 random characters of [a-z2-7] (80 bits).
func NewID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return letters.EncodeToString(b[:])
}

// derive is an id that is a function of its parts, for pure code that cannot
// draw a random one. It is as unguessable as its most secret part.
func derive(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return letters.EncodeToString(sum[:10])
}
