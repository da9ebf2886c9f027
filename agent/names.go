package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// This file declares, once, the words by which packages find each other's
// facts: keys of posts, names of counters and budgets, rules, names that a
// store keeps. They stand in journals and stores: none of them ever changes.

// The rules of stuck detection (RULES.md, "Stuck"), as findings name them.
const (
	RuleSameResult = "L1"
	RuleSameError  = "L2"
	RuleRepetition = "L3"
	RuleCycle      = "L4"
	RuleMonologue  = "L5"
	RuleChant      = "L6"
	RuleUnusable   = "L7"
	RuleCompaction = "L8"
	RuleNothingNew = "L9"
	RulePolling    = "L10"
	RulePlanLevel  = "L11"
	RulePrecedent  = "L12"
	RuleCheckIn    = "L13"
	RuleCopy       = "copy" // an output is word for word that of an earlier run
)

// The severities of findings of stuck detection: tell the model, end the work
// until a person decides, call a check-in, only say so.
const (
	FindingNudge   = "nudge"
	FindingStop    = "stop"
	FindingCheckIn = "check-in"
	FindingInfo    = "info"
)

// The keys of posts that a run has one of, and the beginnings of those that it
// has many of.
const (
	KeyCard   = "card"
	KeyReport = "report"

	keyAsk    = "ask/"    // and the checkpoint's id
	keyRemind = "remind/" // and the checkpoint's id
	keyClose  = "close/"  // and the checkpoint's id
	keyRaise  = "raise/"  // and the number of who is told
	keyUpload = "upload/" // and the artifact's number
	keyFile   = "file/"   // and the attachment's number
	keyWatch  = "watch/"  // the number of the place, and a key
	keyStatus = "status/" // and the number of the further card
	keyAgain  = "again/"  // the key of a post that was told elsewhere
	keyHeard  = "heard/"  // and the number of the event with the words
)

// Watches reports whether the post of the key is for people who only watch the run.
func Watches(key string) bool { return strings.HasPrefix(key, keyWatch) }

// KeyAsk is the key of the post that asks the question.
func KeyAsk(id CheckpointID) string { return keyAsk + string(id) }

// KeyRemind is the key of the question's reminder.
func KeyRemind(id CheckpointID) string { return keyRemind + string(id) }

// KeyClose is the key of the edit that closes the question.
func KeyClose(id CheckpointID) string { return keyClose + string(id) }

// KeyRaise is the key of the word to the i-th person who is told that a
// scheduled report could not be posted.
func KeyRaise(i int) string { return keyRaise + strconv.Itoa(i) }

// KeyUpload is the key of the report's i-th artifact.
func KeyUpload(i int) string { return keyUpload + strconv.Itoa(i) }

// KeyFile is the key of the i-th file that people gave.
func KeyFile(i int) string { return keyFile + strconv.Itoa(i) }

// KeyStatus is the key of the i-th further card in a place that shows the run.
func KeyStatus(i int) string { return keyStatus + strconv.Itoa(i) }

// KeyWatch is the key of a post to the i-th place that watches the run.
func KeyWatch(i int, key string) string { return keyWatch + strconv.Itoa(i) + "/" + key }

// KeyAgain is the key under which a post that was told elsewhere is made where
// it belongs.
func KeyAgain(key string) string { return keyAgain + key }

// repeats is the key of the post that this one makes again, if it does.
func (p Post) repeats() (key string, is bool) { return strings.CutPrefix(p.Key, keyAgain) }

// Repeats reports whether the post makes one of the run again that was told
// elsewhere, and what had become of that.
func Repeats(r Run, p Post) (first Shown, is bool) {
	key, is := p.repeats()
	return r.Shown[key], is
}

// KeyHeard is the key of the post that says what a person's words were taken
// for, or answers them.
func KeyHeard(said uint64) string { return keyHeard + strconv.FormatUint(said, 10) }

// Reminds reports whether the post is a question's reminder.
func (p Post) Reminds() bool { return strings.HasPrefix(p.Key, keyRemind) }

// Raises reports whether the post tells somebody of a report that could not be
// posted.
func (p Post) Raises() bool { return strings.HasPrefix(p.Key, keyRaise) }

// postEffect begins the id of every effect that is a post.
const postEffect = "post/"

// Effect is the id under which the post is journalled.
func (p Post) Effect() EffectID { return EffectID(postEffect + p.Key) }

// postKey is the key of the post that the effect is.
func (e EffectID) postKey() string { return strings.TrimPrefix(string(e), postEffect) }

// Attaches reports whether the effect fetches a person's file.
func (e EffectID) Attaches() bool { return strings.HasPrefix(string(e), postEffect+keyFile) }

// The budgets of a run, in notices and questions, and as the last part of a
// counter's name.
const (
	BudgetUSD    = "usd"
	BudgetTokens = "tokens"
	BudgetTime   = "time" // has no counter
	BudgetSteps  = "steps"
)

// answers begins the names of answers to one of several questions.
const answers = "answers/"

// PartialAnswer is the name that keeps the answer to one of a checkpoint's
// questions until all are answered.
func PartialAnswer(id CheckpointID, question string) string {
	return answers + string(id) + "/" + question
}

// OfRun begins the names that belong to a run and go with it.
func OfRun(id RunID) string { return answers + string(id) + "-" }

// runCounter begins the names of a run's own counters.
const runCounter = "run/"

// RunCounter is the name, without a budget, of the counters of a run.
func RunCounter(id RunID) string { return runCounter + string(id) }

// PersonCounter is the name, without a budget, of a principal's counters in
// the month of the time.
func PersonCounter(principal string, at time.Time) string {
	return "person/" + principal + "/" + month(at)
}

// ChannelCounter is the name, without a budget, of the counters of a channel,
// known by its folder, in the month of the time.
func ChannelCounter(folder string, at time.Time) string { return "channel/" + folder + "/" + month(at) }

// MonthCounter is the name, without a budget, of everybody's counters in the
// month of the time.
func MonthCounter(at time.Time) string { return "month/" + month(at) }

func month(at time.Time) string { return at.UTC().Format("2006-01") }

// CounterOf is the name of the counter that counts the budget.
func CounterOf(name, budget string) string { return name + "/" + budget }

// BudgetOf is the budget that a counter counts: usd, tokens or steps of a run's
// own, and the counter itself of a wider one.
func BudgetOf(counter string) string {
	if strings.HasPrefix(counter, runCounter) {
		return counter[strings.LastIndexByte(counter, '/')+1:]
	}
	return counter
}

// ThreadPrefix begins the names (Commit.Set) under which a store keeps which
// run lives in a thread.
const ThreadPrefix = "thread/"

// ThreadName is the name under which a store keeps the run that lives in the
// thread.
func ThreadName(thread string) string { return ThreadPrefix + thread }

// Inner parts a place from one within it that fewer people see: a private thread of
// Discord's is the channel "PARENT+ID". What lives there is told nowhere else, and
// what is configured for the parent counts there.
const Inner = "+"

// Outer is the place ("platform:workspace:channel") or folder whose rules count: what
// a private place lies in, else the place itself.
func Outer(place string) string {
	outer, _, _ := strings.Cut(place, Inner)
	return outer
}

// AnchorOf is what a name of a store belongs to: its part between the first
// slash and the second ("thread/ADDRESS", "goal/HASH/…"), or all of a name
// without a slash. Names of one anchor are in one part of a store, as are the
// runs that Store.NewRun makes for it.
func AnchorOf(name string) string {
	_, anchor, some := strings.Cut(name, "/")
	if !some {
		return name
	}
	anchor, _, _ = strings.Cut(anchor, "/")
	return anchor
}

// goalPrefix begins the names of runs that have ended, by their goal.
const goalPrefix = "goal/"

// The marks around a principal in a text for people. Nothing that others wrote
// can contain them.
const (
	MentionOpen  = '\ue000'
	MentionClose = '\ue001'
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

// Number is the place of the call in its answer, from 0; 0 for what no answer
// asked for.
func (e EffectID) Number() int {
	n, err := strconv.Atoi(string(e[strings.LastIndexByte(string(e), '.')+1:]))
	if err != nil {
		return 0
	}
	return n
}

// The strands that every run has.
const (
	Main  StrandID = "main"
	Voice StrandID = "voice"
)

// Hear is the strand that finds out what people's words mean. A run has one
// once there are such words; it works while others wait for people.
const Hear StrandID = "hear"

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

// Digest identifies a call: SHA-256 (hex) over the tool's name and its
// canonical arguments (RFC 8785).
func Digest(tool string, canonical json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(tool+"\x00"), canonical...))
	return hex.EncodeToString(sum[:])
}
