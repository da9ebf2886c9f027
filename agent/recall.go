package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Recalled is what earlier runs of the same goal came to, and what else is
// remembered that fits. It is journalled before the first model call of the run
// and of each of its tasks, where there is any: the prompts show it.
type Recalled struct {
	Episodes   []Episode   `json:"episodes"`   // oldest first
	Precedents []Precedent `json:"precedents"` // most frequent first
	// Records are what is remembered beside the runs of the goal, the best first,
	// and Scores how well each fits.
	Records []Remembered `json:"records,omitempty"`
	Scores  []float64    `json:"scores,omitempty"`
}

// Remembered is a record as a prompt shows it: data, whatever it says.
type Remembered struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Scope   string    `json:"scope"`
	Text    string    `json:"text"` // perhaps shortened
	Speaker string    `json:"speaker,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Trust   Trust     `json:"trust"`
}

// StrandMemory is what was recalled for a task's strand.
type StrandMemory struct {
	Strand  StrandID     `json:"strand"`
	Records []Remembered `json:"records"`
}

// RecalledFor is what was recalled for the strand of a run.
func RecalledFor(r *Run, s StrandID) []Remembered {
	if s == Main && r.Recalled != nil {
		return r.Recalled.Records
	}
	for _, m := range r.Memories {
		if m.Strand == s {
			return m.Records
		}
	}
	return nil
}

// withRecalled keeps what was recalled, the first of each strand.
func withRecalled(r Run, s StrandID, b Recalled) Run {
	if _, task := s.Task(); !task {
		r.Recalled = cmp.Or(r.Recalled, &b)
		return r
	}
	if RecalledFor(&r, s) == nil {
		r.Memories = append(slices.Clip(r.Memories), StrandMemory{s, b.Records})
	}
	return r
}

// Strange reports whether strangers may have had a hand in what was recalled.
func (r Recalled) Strange() bool {
	own := map[RunID]bool{}
	for _, e := range r.Episodes {
		if !e.Own {
			return true
		}
		own[e.Run] = true
	}
	return slices.ContainsFunc(r.Precedents, func(p Precedent) bool {
		return slices.ContainsFunc(p.Runs, func(run RunID) bool { return !own[run] })
	})
}

// Episode is what is worth knowing of an ended run when its goal comes again.
type Episode struct {
	Run      RunID     `json:"run"`
	State    RunState  `json:"state"`
	Ended    time.Time `json:"ended"`
	Headline string    `json:"headline,omitempty"` // of its report
	// BodyHash and ValueHashes tell a word-for-word copy of what it delivered
	// (HashText, HashValue).
	BodyHash    string   `json:"body_hash,omitempty"`
	ValueHashes []string `json:"value_hashes,omitempty"`
	// Rating is the sum of people's newest ratings of its report, Comment what
	// one of them said last.
	Rating   int       `json:"rating"`
	Comment  string    `json:"comment,omitempty"`
	Lessons  Texts     `json:"lessons,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	// Own says that nothing of a stranger's led to it: the same person asked for
	// the run, and its whole journal holds no untrusted result, no words of people
	// without a say, and no earlier run of which this cannot be said.
	Own bool `json:"own,omitempty"`
}

// Failure is one way in which a run failed.
type Failure struct {
	What   string   `json:"what,omitempty"` // the task's title, or empty for the run itself
	Reason string   `json:"reason"`
	Events []uint64 `json:"events"` // of that run's journal
}

// Precedent is a failure that earlier runs of the same goal came to.
type Precedent struct {
	Failure         // of the newest of the runs
	Runs    []RunID `json:"runs"` // oldest first
}

// Past is an ended run as the name of its goal tells of it.
type Past struct {
	Run    RunID
	Length uint64 // events in its journal when it ended, at least
}

// Lesson is what a check-in learnt about a task.
type Lesson struct {
	Task TaskID `json:"task"`
	Text string `json:"text"`
}

const (
	maxLessons = 3   // of one task, in the prompt
	maxLesson  = 500 // characters
)

// Lessons are those of a run, the oldest first.
type Lessons []Lesson

// Of are the lessons about the task, the oldest first.
func (l Lessons) Of(id TaskID) []string {
	var list []string
	for _, lesson := range l {
		if lesson.Task == id {
			list = append(list, lesson.Text)
		}
	}
	return list
}

// Scope is who can see the run: "platform:workspace:channel", a direct
// conversation being a channel of its own; empty for the terminal.
func (b RunStarted) Scope() string {
	parts := strings.SplitN(b.ReplyTo, ":", 4)
	return strings.Join(parts[:min(len(parts), 3)], ":")
}

// Bare is a text without regard to case, spaces and punctuation at its end:
// goals that are the same when bare are the same goal.
func Bare(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(text)), " "), ".!? ")
}

// GoalPrefix begins the names (Commit.Set) under which a store keeps the ended
// runs of the goal in its scope. Nothing is recalled across a scope.
func GoalPrefix(b RunStarted) string {
	return goalPrefix + derive("goal", b.Scope(), Bare(b.Goal)) + "/"
}

// GoalName is the name of the run, which has just ended, among those of its
// goal: names sort by the time of the end. Mere answers, scheduled reports and
// what was cancelled before it had a plan have none.
func GoalName(r Run) (name string, is bool) {
	if r.Ended == nil || r.Replied() || r.Scheduled() || (r.Plans == 0 && r.Ended.State == RunCancelled) {
		return "", false
	}
	return GoalPrefix(r.Brief) + fmt.Sprintf("%013d/%d/%s", max(r.Finished.UnixMilli(), 0), r.Seq, r.ID), true
}

// Newest lists the newest runs among the names of a goal, the oldest first.
func Newest(names map[string]string, most int) []Past {
	sorted := slices.Sorted(maps.Keys(names))
	var list []Past
	for _, name := range sorted[max(0, len(sorted)-most):] {
		parts := strings.Split(name, "/") // goal, hash, time, length, run
		if len(parts) != 5 {
			continue
		}
		length, err := strconv.ParseUint(parts[3], 10, 64)
		if err == nil && names[name] == parts[4] {
			list = append(list, Past{RunID(parts[4]), length})
		}
	}
	return list
}

// HashText identifies a text, spaces around it aside; empty for none.
func HashText(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// minCopied is the shortest value that can be a copy, in characters: the same
// number or word twice is no wonder.
const minCopied = 32

// HashValue identifies the value of an output; empty for one that is too short
// to be told from one that came out the same.
func HashValue(v json.RawMessage) string {
	text := string(v)
	var s string
	if json.Unmarshal(v, &s) == nil {
		text = s
	}
	if text = strings.TrimSpace(text); utf8.RuneCountInString(text) < minCopied {
		return ""
	}
	return HashText(text)
}

// Copies are findings about a report of the run, one for each output that is
// word for word that of an earlier run of the goal: the report's text, and the
// values of deliverables.
func Copies(r Run, rep Reported) []Finding {
	if r.Recalled == nil {
		return nil
	}
	var list []Finding
	find := func(what, hash string, known func(Episode) bool) {
		from := slices.IndexFunc(r.Recalled.Episodes, known)
		if hash == "" || from < 0 {
			return
		}
		list = append(list, Finding{Rule: RuleCopy, Severity: string(SeverityInfo), Strand: Main, Events: []uint64{},
			Message: what + " is word for word that of the earlier run " + string(r.Recalled.Episodes[from].Run)})
	}
	body := HashText(rep.Body)
	find("the report's text", body, func(e Episode) bool { return e.BodyHash == body })
	marked := slices.ContainsFunc(r.Plan.Tasks, func(t Task) bool { return t.Deliverable })
	for _, t := range r.Plan.Tasks {
		if marked && !t.Deliverable {
			continue
		}
		for _, o := range r.Tasks[t.ID].Outputs {
			value := HashValue(o.Value)
			find("the value of "+format.LineStart(cmp.Or(o.Name, string(t.ID)), maxFileName), value,
				func(e Episode) bool { return slices.Contains(e.ValueHashes, value) })
		}
	}
	return list
}
