package policy

// A policy's file, read with the line of everything that is wrong in it.

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// The bounds of a policy's file.
const (
	MaxFile  = 1 << 20 // bytes
	maxRules = 1000
	maxWhen  = 4000 // characters of a condition
)

// File is a policy as it was read.
type File struct {
	Name  string // what people call it; empty: its path
	Path  string
	Rules []*Rule
	Cases []Case
	// Closed denies what changes something and what no rule is about, instead of
	// leaving it to the run's autonomy.
	Closed bool
	// Zone is the IANA name of the time zone of weekday and hour.
	Zone string
	hash string
}

// Hash names what the rules say: comments and cases change nothing of it.
func (f *File) Hash() string { return f.hash }

// Read reads a policy's file and checks it: unknown fields, conditions that are
// none, rules that contradict each other and rules that can never count are an
// *Error with their lines.
func Read(path string, data []byte) (*File, error) { return read(path, data, false) }

// read reads a file; the shipped ones may give what others may not.
func read(path string, data []byte, shipped bool) (*File, error) {
	r := &reader{path: path, shipped: shipped, file: &File{Path: path, Zone: "UTC"}}
	if len(data) > MaxFile {
		r.fail(1, "is too large for a policy (above 1 MiB)")
	} else {
		r.document(data)
	}
	if len(r.problems) == 0 {
		r.judge()
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b complaint) int { return cmp.Compare(a.line, b.line) })
		return nil, &Error{slices.Compact(r.problems)}
	}
	r.file.hash = hashOf(r.file)
	return r.file, nil
}

func (r *reader) document(data []byte) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		r.fail(1, "holds no policy: it needs rules")
		return
	case err != nil:
		r.fail(1, "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		r.fail(1, "holds more than one document")
	}
	r.fields(doc.Content[0], fields{
		"name":      r.text(&r.file.Name),
		"zone":      r.zone,
		"otherwise": r.word([]string{"autonomy", "deny"}, func(w string) { r.file.Closed = w == "deny" }),
		"rules":     r.each(r.rule),
		"cases":     r.each(r.example),
	})
	if len(r.file.Rules) > maxRules {
		r.fail(1, "has %d rules; at most %d are taken", len(r.file.Rules), maxRules)
	}
}

func (r *reader) zone(n *yaml.Node) {
	if _, err := time.LoadLocation(n.Value); err != nil || n.Value == "" || n.Value == "Local" {
		r.fail(n.Line, "zone: %q is no time zone; write it like Europe/Berlin", n.Value)
	}
	r.file.Zone = n.Value
}

// rule reads one rule.
func (r *reader) rule(n *yaml.Node) {
	u := &Rule{File: r.path, Line: n.Line}
	when := n
	ok := r.fields(n, fields{
		"name": r.text(&u.Name), "description": r.text(&u.Description), "risk": r.text(&u.Risk), "reason": r.text(&u.Reason),
		"tool": r.list(&u.Tools, nil), "class": r.list(&u.Classes, classes), "approvers": r.list(&u.Approvers, nil),
		"given":  r.word(sortedFacts(), func(w string) { u.Given = w }),
		"effect": r.word([]string{"allow", "ask", "deny"}, func(w string) { u.Effect = agent.Verdict(w) }),
		"grant":  r.word(r.grants(), func(w string) { u.Grant = w }),
		"always": r.flag(&u.Always), "quorum": r.number(&u.Quorum), "expires": r.duration(&u.Expires),
		"when": func(n *yaml.Node) { when = n; u.When = strings.TrimSpace(n.Value) },
	})
	if !ok {
		return
	}
	r.whole(n, u)
	if u.When != "" {
		r.condition(when, u)
	}
	r.file.Rules = append(r.file.Rules, u)
}

func (r *reader) grants() []string {
	if r.shipped {
		return []string{coversCall, coversTool, coversRule, coversWrites}
	}
	return []string{coversCall, coversTool, coversRule}
}

// whole checks that a rule has what it needs, and nothing that its effect has no
// use for.
func (r *reader) whole(n *yaml.Node, u *Rule) {
	if u.Name == "" {
		r.fail(n.Line, "this rule has no name: decisions are journalled with it")
	}
	if u.Effect == "" {
		r.fail(n.Line, "rule %q has no effect: say allow, ask or deny", u.Name)
	}
	if u.Effect != agent.Ask && u.asks() {
		r.fail(n.Line, "rule %q does not ask, so approvers, quorum, expires, grant, always and risk mean nothing in it", u.Name)
	}
	if u.Effect != agent.Deny && u.Reason != "" {
		r.fail(n.Line, "rule %q does not deny, so reason means nothing in it", u.Name)
	}
	if u.Quorum > 1 && len(u.Approvers) == 1 && !strings.Contains(u.Approvers[0], ":S") && !strings.Contains(u.Approvers[0], ":&") {
		r.fail(n.Line, "rule %q needs %d people, and names one: it could never be approved", u.Name, u.Quorum)
	}
}

// asks reports whether a rule says something that only questions have a use for.
func (r *Rule) asks() bool {
	return len(r.Approvers) > 0 || r.Quorum > 0 || r.Expires > 0 || r.Grant != "" || r.Always || r.Risk != ""
}

func (r *reader) condition(n *yaml.Node, u *Rule) {
	if len(u.When) > maxWhen {
		r.fail(n.Line, "rule %q: when is longer than %d characters", u.Name, maxWhen)
		return
	}
	c, err := compile(u.When)
	if err != nil {
		line := n.Line + errorLine(err) - 1
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			line++
		}
		r.fail(line, "rule %q: when: %v", u.Name, err)
		return
	}
	u.condition = c
	if c.tools != nil {
		u.only = map[string]any{}
		for _, name := range c.tools {
			u.only[name] = nil
		}
	}
	if c.constant != nil && *c.constant {
		u.When, u.condition = "", nil // it says nothing
	}
}

// hashOf is the digest of what the rules of a file decide.
func hashOf(f *File) string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %s\n", f.Closed, f.Zone)
	for _, u := range f.Rules {
		fmt.Fprintf(h, "%q %q %q %q %q %q %q %d %d %q %v\n", u.Name, u.Tools, u.Classes, u.Given, u.When, u.Effect,
			u.Approvers, u.Quorum, u.Expires, u.Grant, u.Always)
	}
	return hex.EncodeToString(h.Sum(nil))
}
