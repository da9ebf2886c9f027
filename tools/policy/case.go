package policy

// Cases: calls that are written down beside the rules, with what should become
// of them.

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/agent"
)

// Case is a call with what is expected of the policy.
type Case struct {
	Name    string
	Verdict agent.Verdict
	Rule    string // empty: any
	Quorum  int    // 0: any
	File    string
	Line    int
	run     agent.Run
	act     agent.Act
	role    string
}

// Failure is a case in which the policy decides something else.
type Failure struct {
	Case Case
	Got  agent.Permission
}

func (f Failure) String() string {
	want := string(f.Case.Verdict)
	if f.Case.Rule != "" {
		want += " by " + f.Case.Rule
	}
	if f.Case.Quorum > 0 {
		want += fmt.Sprintf(", %d people", f.Case.Quorum)
	}
	got := string(f.Got.Verdict) + " by " + f.Got.Rule
	if f.Case.Quorum > 0 {
		got += fmt.Sprintf(", %d people", max(f.Got.Quorum, 1))
	}
	return f.Case.File + ":" + strconv.Itoa(f.Case.Line) + ": " + f.Case.Name + ": got " + got + ", want " + want
}

// Test works the cases of a file by its rules, as they would count in an
// installation, and returns those in which something else is decided.
func Test(f *File, cases []Case) []Failure {
	p := New(Options{Everywhere: f})
	var failures []Failure
	for _, c := range cases {
		p.role = func(*agent.Run) string { return c.role }
		got := p.Permit(&c.run, c.act)
		if got.Verdict != c.Verdict || c.Rule != "" && got.Rule != c.Rule || c.Quorum > 0 && max(got.Quorum, 1) != c.Quorum {
			failures = append(failures, Failure{c, got})
		}
	}
	return failures
}

// ReadCases reads a file that holds nothing but cases.
func ReadCases(path string, data []byte) ([]Case, error) {
	f, err := Read(path, data)
	if err != nil {
		return nil, err
	}
	return f.Cases, nil
}

// example reads one case.
func (r *reader) example(n *yaml.Node) {
	c := Case{File: r.path, Line: n.Line}
	c.run.Brief.Requester, c.run.Brief.Autonomy = "slack:U1", agent.AskRisky
	c.act.At = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // a Monday
	called := false
	r.fields(n, fields{
		"name": r.text(&c.Name),
		"call": func(n *yaml.Node) { called = true; r.given(n, &c) },
		"expect": func(n *yaml.Node) {
			if n.Kind == yaml.ScalarNode {
				r.verdict(&c)(n)
				return
			}
			r.fields(n, fields{"verdict": r.verdict(&c), "rule": r.text(&c.Rule), "quorum": r.number(&c.Quorum)})
		},
		"verdict": r.verdict(&c), "rule": r.text(&c.Rule), "quorum": r.number(&c.Quorum),
	})
	if c.Verdict == "" || !called || c.Name == "" {
		r.fail(n.Line, "a case needs a name, a call and what is expected of it (expect: {verdict, rule})")
	}
	r.file.Cases = append(r.file.Cases, c)
}

func (r *reader) verdict(c *Case) func(n *yaml.Node) {
	return r.word([]string{"allow", "ask", "deny"}, func(w string) { c.Verdict = agent.Verdict(w) })
}

// given reads the call of a case.
func (r *reader) given(n *yaml.Node, c *Case) {
	var paths, hosts, classes []string
	var channel, autonomy, class string
	r.fields(n, fields{
		"tool": r.text(&c.act.Tool.Name), "class": r.list(&classes, knownClasses()),
		"args": r.arguments(&c.act), "arguments": r.arguments(&c.act),
		"path": r.list(&paths, nil), "paths": r.list(&paths, nil), "host": r.list(&hosts, nil), "hosts": r.list(&hosts, nil),
		"person": r.text(&c.run.Brief.Requester), "principal": r.text(&c.run.Brief.Requester), "role": r.text(&c.role),
		"channel": r.text(&channel), "autonomy": r.text(&autonomy),
		"yes_to": r.list(&c.run.Brief.YesTo, nil), "granted": r.list(&c.run.Grants, nil), "touched": r.list(&c.run.Touched, nil),
		"spend": r.dollars(&c.run.Spent.Cost), "cost": r.dollars(&c.run.Spent.Cost), "time": r.moment(&c.act.At),
		"taint": func(n *yaml.Node) {
			r.fields(n, fields{"untrusted": r.flag(&c.act.Taint.Untrusted), "private": r.flag(&c.act.Taint.Private), "exposed": r.flag(&c.act.Taint.Exposed)})
		},
	})
	if c.act.Tool.Name == "" {
		r.fail(n.Line, "call: tool is missing")
	}
	class = string(agent.ClassSend) // as a foreign tool is that says nothing
	if len(classes) > 0 {
		class = classes[0]
	}
	c.act.Class, c.act.Tool.Class = agent.Class(class), agent.Class(class)
	c.act.Changes, c.act.Hosts = paths, hosts
	if autonomy != "" {
		c.run.Brief.Autonomy = agent.Autonomy(autonomy)
	}
	if channel != "" {
		c.run.Brief.ReplyTo = channel + ":1.1"
	}
	if c.role == "" {
		c.role = RoleOf(&c.run)
	}
}

func knownClasses() []string { return classes[:len(classes)-1] }

func (r *reader) arguments(a *agent.Act) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		var v map[string]any
		err := n.Decode(&v)
		if err == nil {
			a.Arguments, err = json.Marshal(v)
		}
		if err != nil {
			r.fail(n.Line, "args: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
	}
}

func (r *reader) dollars(to *agent.Nano) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		v, err := agent.ParseDollars(n.Value)
		if err != nil {
			r.fail(n.Line, "%v", err)
		}
		*to = v
	}
}

func (r *reader) moment(to *time.Time) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		v, err := time.Parse(time.RFC3339, n.Value)
		if err != nil {
			r.fail(n.Line, "%q is no time like 2026-03-06T15:00:00Z", n.Value)
		}
		*to = v
	}
}
