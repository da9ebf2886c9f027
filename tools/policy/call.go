package policy

// A call as the rules look at it: what is known of it is worked out when a rule
// asks for it, and once.

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types/ref"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// call is a call on its way through the rules.
type call struct {
	run     *agent.Run
	act     agent.Act
	version string
	role    func(r *agent.Run) string
	zone    string // of the file whose rule looks at it

	args   map[string]any
	parsed bool
	files  []string
	forms  []string // of the files
	named  []string // the hosts
	looked bool
	known  map[string]ref.Val // what conditions named
	words  map[string]string  // texts that hints named
	path   string             // that a condition is asked for
	host   string
}

// arguments are the call's arguments; none that can be read are no arguments.
func (x *call) arguments() map[string]any {
	if !x.parsed {
		x.parsed = true
		if json.Unmarshal(x.act.Arguments, &x.args) != nil || x.args == nil {
			x.args = map[string]any{}
		}
	}
	return x.args
}

// pathArguments are arguments that name files of the workspace in every tool.
var pathArguments = []string{"path", "paths", "file", "files", "folder", "dir"}

// paths are the files that the call names or would change, clean.
func (x *call) paths() []string {
	x.look()
	return x.files
}

// spellings are the paths in each of their forms.
func (x *call) spellings() []string {
	if x.forms == nil {
		for _, p := range x.paths() {
			x.forms = append(x.forms, forms(p)...)
		}
	}
	return x.forms
}

// hosts are the names that the call would reach: those that its tool knows, and
// those of addresses among its arguments.
func (x *call) hosts() []string {
	x.look()
	return x.named
}

func (x *call) look() {
	if x.looked {
		return
	}
	x.looked = true
	x.files = slices.Clone(x.act.Changes)
	for _, name := range pathArguments {
		for _, p := range texts(x.arguments()[name]) {
			if p = path.Clean(p); !slices.Contains(x.files, p) {
				x.files = append(x.files, p)
			}
		}
	}
	for _, h := range x.act.Hosts {
		x.reach(h)
	}
	for _, v := range x.arguments() {
		x.reachIn(v)
	}
}

func (x *call) reach(host string) {
	if host = workspace.Fold(host); host != "" && !slices.Contains(x.named, host) {
		x.named = append(x.named, host)
	}
}

// texts are the texts of a value, if it is one or a list of them.
func texts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		list = []string{v}
	case []any:
		for _, e := range v {
			if s, is := e.(string); is {
				list = append(list, s)
			}
		}
	}
	return list
}

// address is where a text names a place to reach.
var address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#"'<>\\]+`)

// reachIn notes the hosts of the addresses in a value.
func (x *call) reachIn(v any) {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "://") {
			return
		}
		for _, a := range address.FindAllString(v, -1) {
			if u, err := url.Parse(a); err == nil && u.Hostname() != "" {
				x.reach(u.Hostname())
			} else {
				_, rest, _ := strings.Cut(a, "://")
				x.reach(rest[strings.LastIndexByte(rest, '@')+1:])
			}
		}
	case []any:
		for _, e := range v {
			x.reachIn(e)
		}
	case map[string]any:
		for _, e := range v {
			x.reachIn(e)
		}
	}
}

// forms are a file's name as it stands and as a file system may take it, so that
// another spelling of a name goes past no rule.
func forms(p string) []string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = workspace.Fold(part)
	}
	if folded := strings.Join(parts, "/"); folded != p {
		return []string{p, folded}
	}
	return []string{p}
}

// class is the call's class as rules name it.
func (x *call) class() string {
	c := string(x.act.Class)
	if c == classUnknown || !slices.Contains(classes, c) {
		return classUnknown
	}
	return c
}

// fill puts what is known of the call into a text of the policy.
func (x *call) fill(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	file := ""
	if p := steering(x.act.Changes); p != "" {
		file = path.Base(p)
	} else if list := x.paths(); len(list) > 0 {
		file = path.Base(list[0])
	}
	what := risk(x.act, "")
	if what == "" {
		what = "It makes a file that nobody asked for by name."
	}
	return strings.NewReplacer("{risk}", what, "{tool}", x.act.Tool.Name, "{class}", string(x.act.Class), "{file}", file).Replace(text)
}

// fact is something that is known of a call beside its arguments.
type fact struct {
	means string
	// holds says more where the rule's name goes on with it.
	holds func(x *call) (detail string, is bool)
}

// facts are what a rule can be given, by name.
var facts = map[string]fact{
	"said-yes": {"what was said yes to as the run began covers the call", func(x *call) (string, bool) {
		word := yes(x.run.Brief.YesTo, x.act.Class)
		return word, word != ""
	}},
	"granted": {"an earlier approval of this run covers the call", func(x *call) (string, bool) {
		for _, word := range []string{GrantTool(x.act.Tool.Name), GrantWrites} {
			if (word != GrantWrites || x.act.Class == agent.ClassWrite) && x.run.Granted(word, x.version) {
				return word, true
			}
		}
		return "", false
	}},
	"in-plan": {"people approved a plan that names the files", func(x *call) (string, bool) {
		return "", x.run.Covers(x.act.Changes, x.version)
	}},
	"own-files": {"the run made all of the files, with a tool that reads", func(x *call) (string, bool) {
		return "", x.act.Tool.Class == agent.ClassRead && own(x.run, x.act.Changes)
	}},
	"steers": {"it changes a file that other programs obey, and not everything was said yes to", func(x *call) (string, bool) {
		return "", steering(x.act.Changes) != "" && !x.yesToAll()
	}},
	"untrusted": {"its arguments derive from untrusted text, and not everything was said yes to", func(x *call) (string, bool) {
		return "", x.act.Taint.Untrusted && !x.yesToAll()
	}},
	"exposed": {"it leaves work that holds private data and untrusted text, and not everything was said yes to", func(x *call) (string, bool) {
		return "", x.act.Taint.Exposed && !x.yesToAll()
	}},
}

func (x *call) yesToAll() bool { return slices.Contains(x.run.Brief.YesTo, "all") }

// The words of grants: what one approval allows for the rest of the run.
const (
	// GrantWrites covers every write inside the workspace, never a delete.
	GrantWrites = "writes"
	// grantTool and a tool's name cover every call of that tool.
	grantTool = "tool:"
	// grantRule and a rule's name cover what that rule asks for.
	grantRule = "rule:"
)

// GrantTool is the grant for every call of a tool ("always").
func GrantTool(name string) string { return grantTool + name }

// RoleOf is what the requester of a run is, by the run alone.
func RoleOf(r *agent.Run) string {
	switch {
	case r.Brief.Role != "":
		return r.Brief.Role
	case r.Brief.Requester == terminal:
		return terminal
	}
	return "member"
}

// terminal is the principal and the role of whoever sits at the command line.
const terminal = "terminal"

// placeOf is the channel whose rules count for a run, "platform:workspace:channel";
// empty: none.
func placeOf(r *agent.Run) string {
	parts := strings.SplitN(r.Brief.ReplyTo, ":", 4)
	if len(parts) < 3 {
		return ""
	}
	return agent.Outer(strings.Join(parts[:3], ":"))
}

func autonomyOf(r *agent.Run) agent.Autonomy {
	if r.Brief.Autonomy == "" {
		return agent.AskRisky
	}
	return r.Brief.Autonomy
}

// own reports whether the run made all of the files.
func own(r *agent.Run, paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(r.Touched, p) })
}

// yes is the word of --yes-to that covers the class, empty where none does.
func yes(to []string, c agent.Class) string {
	word := map[agent.Class]string{agent.ClassWrite: "writes", agent.ClassDelete: "deletes"}[c]
	if word != "" && slices.Contains(to, word) {
		return word
	}
	if slices.Contains(to, "all") {
		return "all"
	}
	return ""
}

// risk says what could go wrong.
func risk(a agent.Act, grant string) string {
	switch a.Class {
	case agent.ClassWrite:
		if grant == GrantWrites {
			return "Changes files. Approving covers further writes in this run; deletes are always asked."
		}
		return "Changes files; what they held before is lost."
	case agent.ClassDelete:
		return "It cannot be undone."
	case agent.ClassSend:
		if a.Tool.Repeat == agent.RepeatOnce {
			return "Others will see it, and it cannot be taken back."
		}
		return "Others will see it."
	case agent.ClassCommand:
		return "Runs a command on the host with the rights of Deckhand: it can read, change and send whatever Deckhand can."
	case agent.ClassRead, agent.ClassCreate:
	}
	return ""
}
