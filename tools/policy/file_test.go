package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

const team = `zone: Europe/Berlin
rules:
  - name: large-refunds
    when: tool == "refund" && args.amount > 100
    effect: ask
    approvers: [slack:S1]
    quorum: 2
    expires: 4h
  - name: small-refunds
    tool: refund
    effect: allow
  - name: no-deletes-on-fridays
    class: delete
    when: weekday == "friday"
    effect: deny
    reason: nobody deletes on Fridays
  - name: guests-stay-out
    when: role == "guest" && host == "payroll.example.com"
    effect: deny
  - name: salaries
    when: path.startsWith("salaries/")
    effect: deny
  - name: the-wiki
    tool: wiki__*
    effect: ask
    grant: rule
  - name: dear-runs
    class: [write, send]
    when: spend > 3.0
    effect: ask
cases:
  - name: a large refund needs two
    call: {tool: refund, args: {amount: 250}}
    expect: {verdict: ask, rule: large-refunds, quorum: 2}
  - name: a refund without an amount is looked at as a large one
    call: {tool: refund, args: {amount: "a lot"}}
    expect: {verdict: ask, rule: large-refunds}
  - name: a small refund
    call: {tool: refund, args: {amount: 20}}
    expect: {verdict: allow, rule: small-refunds}
  - name: a delete on a Friday in Berlin that is a Thursday in London
    call: {tool: delete_file, class: delete, path: a.txt, time: "2026-03-05T23:30:00Z"}
    expect: deny
    rule: no-deletes-on-fridays
  - name: not even with a yes to all
    call: {tool: delete_file, class: delete, path: a.txt, time: "2026-03-06T12:00:00Z", yes_to: all}
    expect: {verdict: deny, rule: no-deletes-on-fridays}
  - name: a delete on a Monday
    call: {tool: delete_file, class: delete, path: a.txt}
    expect: {verdict: ask, rule: autonomy.ask-risky}
  - name: a guest
    call: {tool: web_fetch, class: read, args: {url: "https://PAYROLL.example.com./x"}, role: guest}
    expect: {verdict: deny, rule: guests-stay-out}
  - name: a guest, somewhere in the arguments
    call: {tool: web_fetch, class: read, args: {options: [{proxy: "see http://me@payroll.example.com:8080/"}]}, role: guest}
    expect: {verdict: deny, rule: guests-stay-out}
  - name: a member
    call: {tool: web_fetch, class: read, args: {url: "https://payroll.example.com/x"}}
    expect: {verdict: allow, rule: reads}
  - name: another spelling of a folder
    call: {tool: read_file, class: read, args: {path: "x/../SALARIES/ann.csv"}}
    expect: {verdict: deny, rule: salaries}
  - name: one of several files
    call: {tool: read_file, class: read, args: {paths: [a.txt, "sal\u200daries/ann.csv"]}}
    expect: {verdict: deny, rule: salaries}
  - name: a run that may only suggest
    call: {tool: refund, args: {amount: 20}, autonomy: suggest}
    expect: {verdict: deny, rule: autonomy.suggest}
  - name: what steers git, whoever allows it
    call: {tool: refund, class: write, args: {amount: 1}, path: .envrc}
    expect: {verdict: ask, rule: steers}
  - name: a dear run
    call: {tool: send_mail, spend: 3.5, autonomy: within-budget}
    expect: {verdict: ask, rule: dear-runs}
  - name: tainted
    call: {tool: refund, args: {amount: 1}, taint: {untrusted: true}}
    expect: {verdict: ask, rule: taint.untrusted}
`

func TestCases(t *testing.T) {
	f, err := policy.Read("team.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range policy.Test(f, f.Cases) {
		t.Error(failure)
	}
	wrong := f.Cases[0]
	wrong.Rule = "nobody"
	got := policy.Test(f, []policy.Case{wrong})
	if len(got) != 1 || !strings.Contains(got[0].String(), "team.yaml:32: a large refund needs two: got ask by large-refunds, 2 people, want ask by nobody, 2 people") {
		t.Errorf("a case that does not hold: %v", got)
	}
}

// What an ask brings with it, and what one yes covers under the version that it
// was given under.
func TestAsk(t *testing.T) {
	f, err := policy.Read("team.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	p := policy.New(policy.Options{Everywhere: f})
	r := agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C1:1.1"}}
	refund := agent.Act{Tool: agent.ToolSpec{Name: "refund", Class: agent.ClassSend}, Class: agent.ClassSend, Arguments: json.RawMessage(`{"amount":101}`)}
	w := p.Permit(&r, refund)
	if w.Verdict != agent.Ask || w.Quorum != 2 || w.Expires != 4*time.Hour || fmt.Sprint(w.Approvers) != "[slack:S1]" || !w.Once || w.Grant != "" || !w.Journal || w.Risk == "" {
		t.Errorf("a large refund: %+v", w)
	}
	wiki := agent.Act{Tool: agent.ToolSpec{Name: "wiki__edit", Class: agent.ClassSend}, Class: agent.ClassSend}
	w = p.Permit(&r, wiki)
	if w.Verdict != agent.Ask || w.Grant != "rule:the-wiki" {
		t.Errorf("the wiki: %+v", w)
	}
	r.Grants, r.Under = []string{w.Grant}, map[string]string{w.Grant: w.Version}
	if w = p.Permit(&r, wiki); w.Verdict != agent.Allow {
		t.Errorf("the wiki, granted: %+v", w)
	}
	r.Under[r.Grants[0]] = "another"
	if w = p.Permit(&r, wiki); w.Verdict != agent.Ask {
		t.Errorf("the wiki, granted under other rules: %+v", w)
	}
	if d := (policy.Default{}).Permit(&r, refund); d.Version == w.Version || d.Journal {
		t.Errorf("the shipped rules: %+v", d)
	}
}

// A channel's rules stand before those of the installation; what is closed falls
// through to no autonomy.
func TestPlaces(t *testing.T) {
	read := func(text string) *policy.File {
		f, err := policy.Read("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	p := policy.New(policy.Options{
		Everywhere: read("rules: [{name: mail, tool: send_mail, effect: ask, quorum: 2}]"),
		Places: map[string]*policy.File{"slack:T1:C1": read("rules: [{name: mail-here, tool: send_mail, effect: allow}]"),
			"slack:T2": read("otherwise: deny\nrules: [{name: notes, class: create, effect: allow}]")},
	})
	mail := agent.Act{Tool: agent.ToolSpec{Name: "send_mail", Class: agent.ClassSend}, Class: agent.ClassSend}
	write := agent.Act{Tool: agent.ToolSpec{Name: "write_to_file", Class: agent.ClassWrite}, Class: agent.ClassWrite}
	look := agent.Act{Tool: agent.ToolSpec{Name: "read_file", Class: agent.ClassRead}, Class: agent.ClassRead}
	versions := map[string]bool{}
	for _, tt := range []struct {
		where string
		act   agent.Act
		want  what
	}{
		{"slack:T1:C1:1.1", mail, what{agent.Allow, "mail-here", ""}},
		{"slack:T1:C2:1.1", mail, what{agent.Ask, "mail", ""}},
		{"", mail, what{agent.Ask, "mail", ""}},
		{"slack:T2:C1:1.1", write, what{agent.Deny, "default", ""}},
		{"slack:T2:C1:1.1", look, what{agent.Allow, "reads", ""}},
		{"slack:T1:C1:1.1", write, what{agent.Ask, "autonomy.ask-risky", "writes"}},
	} {
		r := agent.Run{Brief: agent.RunStarted{ReplyTo: tt.where}}
		got := p.Permit(&r, tt.act)
		versions[got.Version] = true
		if (what{got.Verdict, got.Rule, got.Grant}) != tt.want {
			t.Errorf("%s in %q: %+v", tt.act.Tool.Name, tt.where, got)
		}
	}
	if len(versions) != 3 {
		t.Errorf("%d versions, want one for each set of rules: %v", len(versions), versions)
	}
}

// What is wrong in a file is said with its line.
func TestBadFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "f.yaml:1: holds no policy"},
		{"not YAML", "rules: [", "f.yaml:1: not YAML"},
		{"an unknown field", "rules:\n  - name: a\n    tools: refund\n    effect: ask", `f.yaml:3: unknown field "tools" (did you mean "tool"?)`},
		{"an unknown field at the top", "rule:\n  - name: a", `f.yaml:1: unknown field "rule" (did you mean "rules"?)`},
		{"an unknown effect", "rules:\n  - name: a\n    effect: alow", `f.yaml:3: unknown word "alow" (did you mean "allow"?)`},
		{"an unknown class", "rules:\n  - {name: a, class: [sned], effect: ask}", `f.yaml:2: unknown word "sned" (did you mean "send"?)`},
		{"no CEL", "rules:\n  - name: a\n    when: tool == \n    effect: ask", `f.yaml:3: rule "a": when: Syntax error`},
		{"an unknown name", "rules:\n  - name: a\n    effect: ask\n    when: |\n      tool == \"x\" &&\n      chanel == \"C1\"", `f.yaml:6: rule "a": when: unknown name "chanel" (did you mean "channel"?)`},
		{"no yes or no", "rules:\n  - {name: a, when: 'tool', effect: ask}", `f.yaml:2: rule "a": when: it comes to a value of type string`},
		{"a contradiction", "rules:\n  - {name: a, tool: x, when: 'spend > 1.0', effect: allow}\n  - {name: b, tool: x, when: 'spend  >  1.0', effect: deny}", `f.yaml:3: rule "b" contradicts rule "a" in line 2: the same calls, another effect (deny and allow)`},
		{"said twice", "rules:\n  - {name: a, tool: x, effect: ask}\n  - {name: b, tool: x, effect: ask}", `f.yaml:3: rule "b" never matches: rule "a" in line 2 is about the same calls`},
		{"behind a rule for all", "rules:\n  - {name: a, effect: ask}\n  - {name: b, tool: x, when: 'spend > 1.0', effect: allow}", `f.yaml:3: rule "b" never matches: rule "a" in line 2 decides all of its calls before`},
		{"behind a pattern", "rules:\n  - {name: a, tool: 'x*', effect: ask}\n  - {name: b, when: 'tool == \"xy\" && spend > 1.0', effect: allow}", `f.yaml:3: rule "b" never matches`},
		{"before a denial of all", "rules:\n  - {name: a, tool: x, effect: allow}\n  - {name: b, class: [read, create, write, delete, send, command], effect: deny}\n  - {name: c, effect: deny}", `f.yaml:2: rule "a" never matches: rule "c" in line 4 denies all of its calls, and a denial goes before`},
		{"never", "rules:\n  - {name: a, when: '1 > 2', effect: deny}", `f.yaml:2: rule "a" never matches: its condition is always false`},
		{"two of one name", "rules:\n  - {name: a, tool: x, effect: ask}\n  - {name: a, tool: y, effect: ask}", `f.yaml:3: rule "a": the rule in line 2 has the same name`},
		{"no name", "rules:\n  - {effect: ask}", "f.yaml:2: this rule has no name"},
		{"no effect", "rules:\n  - {name: a}", `f.yaml:2: rule "a" has no effect`},
		{"approvers of a denial", "rules:\n  - {name: a, effect: deny, quorum: 2}", `f.yaml:2: rule "a" does not ask`},
		{"two of one", "rules:\n  - {name: a, effect: ask, quorum: 2, approvers: [slack:U1]}", `could never be approved`},
		{"a time", "rules:\n  - {name: a, effect: ask, expires: soon}", `"soon" is no time`},
		{"a zone", "zone: Berlin\nrules: [{name: a, effect: ask}]", `f.yaml:1: zone: "Berlin" is no time zone`},
		{"a case without a call", "rules: [{name: a, effect: ask}]\ncases:\n  - name: x\n    expect: ask", `f.yaml:3: a case needs a name, a call`},
		{"an anchor", "rules: &r [{name: a, effect: ask}]\ncases: *r", `f.yaml:2: cases: *r is a reference`},
		{"nothing fits", "rules:\n  - {name: a, tool: [], effect: ask}", `f.yaml:2: this list is empty`},
	} {
		if _, err := policy.Read("f.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, fine := range []string{
		"rules:\n  - {name: a, tool: x, effect: allow}\n  - {name: b, tool: x, when: 'spend > 1.0', effect: deny}",
		"rules:\n  - {name: a, tool: x, when: 'spend > 1.0', effect: ask}\n  - {name: b, tool: x, effect: allow}",
		"rules:\n  - {name: a, class: write, effect: ask}\n  - {name: b, effect: allow}",
	} {
		if _, err := policy.Read("f.yaml", []byte(fine)); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

// many is a policy of 200 rules, most of them about tools of their own.
func many(tb testing.TB) *policy.Policy {
	tb.Helper()
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 190 {
		fmt.Fprintf(&b, "  - {name: r%d, when: 'tool == \"tool_%d\" && args.amount > %d.0', effect: ask, quorum: 2}\n", i, i, i)
	}
	for i := range 10 {
		fmt.Fprintf(&b, "  - {name: c%d, class: [write, send], when: 'channel == \"slack:T1:C%d\" && spend > 1.0', effect: ask}\n", i, i)
	}
	f, err := policy.Read("many.yaml", []byte(b.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return policy.New(policy.Options{Everywhere: f})
}

func BenchmarkPermit(b *testing.B) {
	p := many(b)
	r := agent.Run{Brief: agent.RunStarted{Requester: "slack:U1", ReplyTo: "slack:T1:C99:1.1"}}
	a := agent.Act{Tool: agent.ToolSpec{Name: "tool_150", Class: agent.ClassSend}, Class: agent.ClassSend, Arguments: json.RawMessage(`{"amount":20,"text":"hello"}`)}
	fastest(b, func() { p.Permit(&r, a) })
}
