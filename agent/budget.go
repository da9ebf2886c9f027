package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// This file holds what there is only so much of: money, tokens and time, and the
// room in a model's context window.

// Nano is an amount of money in billionths of a US dollar. As JSON it is a
// decimal number of dollars, exact to the last digit.
type Nano int64

// Dollar is one US dollar.
const Dollar Nano = 1_000_000_000

// String returns dollars with as many decimals as the amount has, at least
// two: "0.05", "12.000001".
func (n Nano) String() string {
	sign, amount := "", uint64(n)
	if n < 0 {
		sign, amount = "-", -amount // also right for the smallest number, which has no opposite
	}
	frac := strings.TrimRight(fmt.Sprintf("%09d", amount%uint64(Dollar)), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return sign + strconv.FormatUint(amount/uint64(Dollar), 10) + "." + frac
}

// MarshalJSON writes dollars as a JSON number.
func (n Nano) MarshalJSON() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalJSON reads dollars as a JSON number.
func (n *Nano) UnmarshalJSON(b []byte) error {
	v, err := ParseDollars(string(b))
	if err != nil {
		return err
	}
	*n = v
	return nil
}

// ParseDollars reads a decimal number of dollars, for example "1.25" or
// "1e-06". Digits below a billionth are rounded to the nearest.
func ParseDollars(s string) (Nano, error) {
	s = strings.TrimSpace(s)
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || math.IsNaN(f):
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	case math.Abs(f) > 1e9:
		return 0, fmt.Errorf("%q is too large an amount: at most a billion dollars", s)
	case math.Abs(f) < 1e-10: // also keeps big.Rat away from absurd exponents
		return 0, nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(Dollar)))
	v, err := strconv.ParseInt(r.FloatString(0), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	return Nano(v), nil
}

// Limits bounds what a run may spend. Zero is no limit. Time counts only while
// something executes; hours spent waiting for a person do not count.
type Limits struct {
	USD    Nano          `json:"usd,omitempty"`
	Tokens int64         `json:"tokens,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // nanoseconds
	Steps  int64         `json:"steps,omitempty"`
}

// raised are the limits with so many percent more of each budget.
func (l Limits) raised(percent map[string]int) Limits {
	l.USD += l.USD * Nano(percent[BudgetUSD]) / 100
	l.Tokens += l.Tokens * int64(percent[BudgetTokens]) / 100
	l.Time += l.Time * time.Duration(percent[BudgetTime]) / 100
	l.Steps += l.Steps * int64(percent[BudgetSteps]) / 100
	return l
}

// Budget is what a run has spent, and what people added to its limits.
type Budget struct {
	Raised  map[string]int `json:"raised,omitempty"` // budget → percent added by people
	Notices map[string]int `json:"notices,omitempty"`
	Spent   Spent          `json:"spent"`
}

// Spent is what a run has used. Lost reservations are included.
type Spent struct {
	Cost       Nano          `json:"cost"`
	Unpriced   bool          `json:"unpriced,omitempty"` // a call had no known price
	Prompt     int           `json:"prompt"`
	Completion int           `json:"completion"`
	Calls      int           `json:"calls"`
	Free       int           `json:"free,omitempty"` // of the calls: those that are no step, as they are made again
	Tools      int           `json:"tools"`
	Time       time.Duration `json:"time"` // while executing, all strands together
}

// Tokens is prompt and completion together.
func (s Spent) Tokens() int64 { return int64(s.Prompt) + int64(s.Completion) }

// Steps counts the calls that are steps of the run's budget.
func (s Spent) Steps() int64 { return int64(s.Calls - s.Free) }

// Dollars is the cost, nil where a call had no known price.
func (s Spent) Dollars() *Nano {
	if s.Unpriced {
		return nil
	}
	return &s.Cost
}

// settle adds what a model call cost.
func (s Spent) settle(b ModelAnswered) Spent {
	s.Calls++
	if b.Free() {
		s.Free++
	}
	s.Prompt += b.Prompt
	s.Completion += b.Completion
	s.Time += b.Took
	if b.Cost == nil {
		s.Unpriced = true
	} else {
		s.Cost += *b.Cost
	}
	return s
}

// Window is where a strand stands with its model's context window.
type Window struct {
	// Full is set from when the conversation leaves no room until it is compacted,
	// Failed why no model could sum it up.
	Full   *ContextFull `json:"full,omitempty"`
	Failed string       `json:"failed,omitempty"`
	// Prompt is what the endpoint counted of the newest request for work, in
	// tokens; 0: it did not, or the conversation was compacted since.
	Prompt int `json:"prompt,omitempty"`
	// Tokens is the window as far as a refusal told, 0: none did.
	Tokens int `json:"tokens,omitempty"`
	Made   int `json:"made,omitempty"` // compactions
	// Kept is how many entries stood there after the newest compaction.
	Kept int `json:"kept,omitempty"`
}

// Provenance is which tools gave a strand texts, and whether people without
// authority did (an empty name).
type Provenance []Provider

// Provider is a tool whose results a strand had.
type Provider struct {
	Tool      string `json:"tool"`
	Untrusted bool   `json:"untrusted,omitempty"` // one of them at least
	// Files are the paths that its calls named, the newest.
	Files []string `json:"files,omitempty"`
}

// maxProvided is how many paths a provenance keeps of a tool.
const maxProvided = 100

// with adds where the first n entries came from.
func (p Provenance) with(entries History, n int) Provenance {
	p = slices.Clone(p)
	files := map[string]string{}
	for i, e := range entries.All() {
		switch {
		case i >= n:
			return p
		case e.Answer != nil:
			for _, c := range e.Answer.Calls {
				var args struct {
					Path string `json:"path"`
				}
				if json.Unmarshal([]byte(c.Arguments), &args) == nil {
					files[c.ID] = args.Path
				}
			}
		case e.Reply != nil && e.Reply.Trust != "":
			p = p.add(e.Reply.Name, e.Reply.Trust == Untrusted, files[e.Reply.Call])
		case e.Note != nil && !e.Note.Trusted && e.Note.By != Deckhand:
			p = p.add("", true, "")
		}
	}
	return p
}

func (p Provenance) add(tool string, untrusted bool, file string) Provenance {
	i := slices.IndexFunc(p, func(known Provider) bool { return known.Tool == tool })
	if i < 0 {
		p, i = append(p, Provider{Tool: tool}), len(p)
	}
	p[i].Untrusted = p[i].Untrusted || untrusted
	if file != "" && !slices.Contains(p[i].Files, file) {
		p[i].Files = push(p[i].Files, file)[max(0, len(p[i].Files)+1-maxProvided):]
	}
	return p
}

// full notes that there is no room.
func (w *Window) full(b ContextFull) {
	w.Full, w.Failed = &b, ""
	if b.Refused {
		w.Tokens = b.Window
	}
}

// answered notes what an answer says about the window.
func (w *Window) answered(b ModelAnswered) {
	switch {
	case b.Purpose == llm.Compact && !b.Refused:
		w.Failed = b.Error
	case b.Purpose == llm.Work && !b.Estimated && !b.Lost && b.Prompt > 0:
		w.Prompt = b.Prompt
	}
}

// compacts reports whether the strand's conversation is compacted now: between
// two calls of its work.
func (s *Strand) compacts() bool {
	if s.Call != nil {
		return s.Call.Purpose == llm.Compact
	}
	return s.Window.Full != nil && s.Finishing == nil && s.Error == "" && len(s.Talks.Of(llm.Work).Open) == 0
}

// compact takes the oldest entries of the work out of the conversation, or
// shortens their results.
func (s *Strand) compact(b Compacted) {
	t := s.Talks.Of(llm.Work)
	if b.Summary == "" {
		t.shorten(b.Entries)
	} else {
		s.Provenance = s.Provenance.with(t.Entries, t.whole(b.Entries))
		t.replace(b.Entries, b.Summary)
		s.Documents = nil // they may be gone: they are shown again before the next call
	}
	s.Talks = s.Talks.without(llm.Compact).with(llm.Work, t)
	s.Window = Window{Tokens: s.Window.Tokens, Made: s.Window.Made + 1, Kept: t.Entries.Len()}
}

// maxShort is what stays of a long result that is shortened, in characters.
const maxShort = 160

// shorten makes the long results among the first n entries short. Where its
// original is read says each.
func (t *Talk) shorten(n int) {
	entries := History{}
	for i, e := range t.Entries.All() {
		if i < n && e.Reply != nil && len(e.Reply.Text) > 2*maxShort {
			short := *e.Reply
			short.Text = fmt.Sprintf("%s\n[shortened from %d characters; read_result with id \"#%d\" gives the whole]", format.LineStart(short.Text, maxShort), len(e.Reply.Text), e.Seq)
			e.Reply = &short
		}
		entries = entries.Push(e)
	}
	t.Entries, t.Cut = entries, t.Cut+1
}

// whole is n, and the results that belong to the calls before it.
func (t *Talk) whole(n int) int {
	for n < t.Entries.Len() && t.Entries.At(n).Reply != nil {
		n++
	}
	return n
}

// replace puts the summary in the place of the first n entries. What people who
// may steer said stays, and so do lessons; a call and its result are never parted.
func (t *Talk) replace(n int, summary string) {
	n = t.whole(n)
	entries := History{}.Push(Entry{Note: &Note{By: Deckhand, Text: summary}})
	for i, e := range t.Entries.All() {
		switch {
		case i >= n, e.Note != nil && (e.Note.Lesson || e.Note.Trusted && e.Note.By != Deckhand):
			entries = entries.Push(e)
		case e.Reply != nil && e.Reply.Artifact != "":
			t.Artifacts = push(t.Artifacts, e.Reply.Artifact)
		}
	}
	t.Entries, t.Cut = entries, t.Cut+1
}

// Spans are the numbers of the first and the last result among the first n
// entries, empty where there is none.
func (t *Talk) Spans(n int) []uint64 {
	list := []uint64{}
	for i, e := range t.Entries.All() {
		if i >= n {
			break
		}
		if e.Reply == nil || e.Seq == 0 {
			continue
		}
		if len(list) < 2 {
			list = append(list, e.Seq)
		}
		list[len(list)-1] = e.Seq
	}
	return list
}

// Bounds of what stands in the place of entries that no model summed up.
const (
	maxOutline = 40 // calls, the newest
	maxCalled  = 80 // characters of a call's arguments, and of its result
	// maxOutlined is what stays of an earlier summary, in characters.
	maxOutlined = 1000
)

// outlined is the compaction of the first n entries without a model: their calls,
// a line each.
func (t *Talk) outlined(n int) Compacted {
	var lines []string
	called := map[string]string{}
	for i, e := range t.Entries.All() {
		switch {
		case i >= n:
		case e.Answer != nil:
			for _, c := range e.Answer.Calls {
				called[c.ID] = c.Name + " " + format.LineStart(c.Arguments, maxCalled)
			}
		case e.Reply != nil:
			lines = append(lines, fmt.Sprintf("- #%d %s: %s", e.Seq, called[e.Reply.Call], format.LineStart(e.Reply.Text, maxCalled)))
		case e.Note != nil && !e.Note.Trusted && e.Note.By == Deckhand:
			lines = append(lines, "- before: "+format.LineStart(e.Note.Text, maxOutlined))
		}
	}
	left := max(0, len(lines)-maxOutline)
	text := fmt.Sprintf("The beginning of this conversation was taken out: it had no room any more, and nobody summed it up. Its newest calls, %d older ones left out (read_result with an id like \"#12\" gives a whole result):\n%s",
		left, strings.Join(lines[left:], "\n"))
	return Compacted{Entries: n, Events: t.Spans(n), Summary: text}
}

// maxRaise is the most by which one decision raises a budget, in percent.
const maxRaise = 1000

var raises = regexp.MustCompile(`^\+([1-9]\d{0,3}) %$`)

// Raise is by how many percent a decision on a budget raises it ("+50 %"), 0:
// it does not.
func Raise(decision string) int {
	m := raises.FindStringSubmatch(decision)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // four digits
	if n > maxRaise {
		return 0
	}
	return n
}

// RaiseBy is the decision that raises a budget by so many percent.
func RaiseBy(percent int) string { return "+" + strconv.Itoa(percent) + " %" }
