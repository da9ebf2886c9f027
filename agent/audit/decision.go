package audit

// The decisions that a journal's events hold.

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Decision is one decision in short: what was decided by whom on which call. The
// call itself, with its arguments, stands in the run's journal at Seq, as long as
// that is kept.
type Decision struct {
	Seq    uint64         `json:"seq"`
	At     time.Time      `json:"at"`
	Kind   DecisionKind   `json:"kind"`
	Strand agent.StrandID `json:"strand,omitempty"`
	// Who is the principal, or the rule of the policy.
	Who  string `json:"who,omitempty"`
	What string `json:"what"`
	// Checkpoint is the question that was asked or decided, Effect the call.
	Checkpoint string `json:"checkpoint,omitempty"`
	Effect     string `json:"effect,omitempty"`
	Tool       string `json:"tool,omitempty"`
	// Arguments is the SHA-256 of the call's canonical arguments, of a plan or of
	// what a run began with.
	Arguments string `json:"arguments,omitempty"`
	// Bound is what an approval is good for: the digest of tool, arguments,
	// requester, policy and target (RULES.md, "Approval").
	Bound  string `json:"bound,omitempty"`
	Policy string `json:"policy,omitempty"` // its version
}

// DecisionKind says who or what decided.
type DecisionKind string

// The kinds of decisions. Asked: a policy left it to people. Gate: a prohibited
// request was refused.
const (
	ByPolicy DecisionKind = "policy"
	Asked    DecisionKind = "asked"
	ByPerson DecisionKind = "person"
	Control  DecisionKind = "control"
	Began    DecisionKind = "began"
	Ended    DecisionKind = "ended"
	Sandbox  DecisionKind = "sandbox"
	Gate     DecisionKind = "gate"
)

// body is what decisions are read from, whatever build wrote the event and
// whatever else it holds.
type body struct {
	ID        string          `json:"id"`
	Effect    string          `json:"effect"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Plan      json.RawMessage `json:"plan"`
	Rule      string          `json:"rule"`
	Policy    string          `json:"policy"`
	Version   string          `json:"version"`
	Verdict   string          `json:"verdict"`
	By        string          `json:"by"`
	Requester string          `json:"requester"`
	Decision  string          `json:"decision"`
	Word      string          `json:"word"`
	Ask       string          `json:"checkpoint_kind"`
	Text      string          `json:"text"`
	Digest    string          `json:"digest"`
	Autonomy  string          `json:"autonomy"`
	State     string          `json:"state"`
}

// readers tell of each kind of event what was decided with it; false: nothing was.
var readers = map[agent.Kind]func(b body, d *Decision) bool{
	agent.RunStarted{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What = Began, b.Requester, cmp.Or(b.Autonomy, string(agent.AskRisky))
		return true
	},
	agent.ToolIntent{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What, d.Arguments = ByPolicy, b.Rule, string(agent.Allow), hashJSON(b.Arguments)
		if sandboxed[b.Tool] {
			d.Kind = Sandbox
		}
		return b.Rule != "" // posts to people are no decisions of a policy
	},
	agent.CallReplied{}.Kind(): func(b body, d *Decision) bool {
		found := deniedBy.FindStringSubmatch(b.Text)
		if b.Rule == "" && found != nil {
			b.Rule = found[1]
		}
		d.Kind, d.Who, d.What = ByPolicy, b.Rule, string(agent.Deny)
		return b.Rule != ""
	},
	"policy.decided": func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What, d.Arguments = ByPolicy, b.Rule, cmp.Or(b.Verdict, b.Decision, "decided"), hashJSON(b.Arguments)
		return true
	},
	agent.CheckpointOpened{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What, d.Bound = Asked, b.Rule, b.Ask, b.Digest
		d.Arguments = hashJSON(firstOf(b.Arguments, b.Plan))
		return true
	},
	agent.CheckpointVoted{}.Kind():   person,
	agent.CheckpointDecided{}.Kind(): person,
	agent.RunControlled{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What = Control, b.By, b.Word
		return b.Word != string(agent.WordWake)
	},
	agent.RunEnded{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.What = Ended, b.State
		return true
	},
	agent.Finding{}.Kind(): func(b body, d *Decision) bool {
		d.Kind, d.Who, d.What = Gate, b.Rule, string(agent.Deny)
		return strings.HasPrefix(b.Rule, Prohibited)
	},
}

func person(b body, d *Decision) bool {
	d.Kind, d.Who, d.What, d.Arguments = ByPerson, b.By, b.Decision, hashJSON(firstOf(b.Arguments, b.Plan))
	return true
}

// Prohibited begins the rule of a finding that says that a request was refused
// for what it asks for.
const Prohibited = "prohibited."

// deniedBy finds the rule in the reply to a call that a policy refused.
var deniedBy = regexp.MustCompile(`^denied by policy \(([^)]+)\)`)

// sandboxed are the tools that start something in a sandbox.
var sandboxed = map[string]bool{"run_code": true, "run_python": true, "start_job": true, "shell": true}

// decision is what was decided with the event.
func decision(k agent.Kept) (d Decision, is bool) {
	read := readers[k.Kind]
	if read == nil {
		return d, false
	}
	var b body
	if json.Unmarshal(k.Body, &b) != nil {
		return d, false // damage, which the digest shows
	}
	d = Decision{Seq: k.Seq, At: k.At, Strand: k.Strand, Effect: b.Effect, Tool: b.Tool, Policy: cmp.Or(b.Policy, b.Version)}
	if k.Kind != (agent.RunStarted{}).Kind() {
		d.Checkpoint = b.ID
	} else {
		d.Arguments = hash(k.Body)
	}
	return d, read(b, &d)
}

// Decides reports whether an event of the kind may hold a decision.
func Decides(kind agent.Kind) bool { return readers[kind] != nil }

func firstOf(a, b json.RawMessage) json.RawMessage {
	if len(a) > 0 {
		return a
	}
	return b
}

// hashJSON is the hash of a value as the journal has it, empty where it has none.
func hashJSON(value json.RawMessage) string {
	if len(value) == 0 || string(value) == "null" {
		return ""
	}
	return hash(value)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
