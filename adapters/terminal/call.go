package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// phrases say what a tool is doing; {name} stands for an argument. Tools that
// are not listed are named, with their first short argument.
var phrases = map[string]string{
	"read_file":      "reading {path}",
	"write_to_file":  "writing {path}",
	"append_to_file": "appending to {path}",
	"delete_file":    "deleting {path}",
	"list_files":     "listing files in {path}",
	"search_files":   "searching for {query}",
	"calculator":     "calculating {expression}",
	"run_code":       "running code",
	"plot":           "drawing {path}",
	"wait":           "waiting {seconds} s",
	"find_tools":     "looking for tools: {query}",
}

// phrase says in a few words what a call does.
func phrase(tool string, arguments json.RawMessage) string {
	args := fields(arguments)
	text, known := phrases[tool]
	if !known {
		text = strings.ReplaceAll(tool, "_", " ")
		for _, f := range args {
			if f.value != "" && len(f.value) < 60 {
				return oneLine(text + " " + f.value)
			}
		}
		return oneLine(text)
	}
	before, name, _ := strings.Cut(text, "{")
	name, after, _ := strings.Cut(name, "}")
	for _, f := range args {
		if f.name == name && f.value != "" {
			return before + short(f.value, 60) + after
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(before), " in") // an optional argument that is absent
}

// field is one argument in readable form.
type field struct{ name, value string }

// fields flattens the arguments of a call: nested names are joined by dots,
// lists of plain values by commas.
func fields(arguments json.RawMessage) []field {
	dec := json.NewDecoder(strings.NewReader(string(arguments)))
	dec.UseNumber()
	var v map[string]any
	if dec.Decode(&v) != nil {
		if len(arguments) == 0 {
			return nil
		}
		return []field{{"arguments", string(arguments)}}
	}
	return flatten("", v)
}

func flatten(prefix string, v map[string]any) []field {
	names := make([]string, 0, len(v))
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []field
	for _, name := range names {
		out = append(out, one(prefix+name, v[name])...)
	}
	return out
}

func one(name string, v any) []field {
	switch x := v.(type) {
	case map[string]any:
		return flatten(name+".", x)
	case []any:
		return list(name, x)
	case string:
		return []field{{name, x}}
	case nil:
		return []field{{name, "none"}}
	case bool:
		return []field{{name, map[bool]string{true: "yes", false: "no"}[x]}}
	default:
		return []field{{name, fmt.Sprint(x)}}
	}
}

func list(name string, items []any) []field {
	var words []string
	var nested []field
	for i, item := range items {
		switch item.(type) {
		case map[string]any, []any:
			nested = append(nested, one(fmt.Sprintf("%s[%d]", name, i+1), item)...)
		default:
			words = append(words, one(name, item)[0].value)
		}
	}
	if len(nested) > 0 && len(words) == 0 {
		return nested
	}
	return append([]field{{name, strings.Join(words, ", ")}}, nested...)
}

// How much of a question is shown at first. Where a preview is shown as well,
// one line is enough to know it again.
const (
	shownLines    = 12
	shownBeside   = 1
	shownColumns  = 400
	shownInstruct = 12
	shownPreview  = 6 // lines of a preview, in a terminal with few rows
)

// arguments lists a call's arguments for a person, one "key: value" a line;
// longer values say how much is left out.
func arguments(raw json.RawMessage, most int) []row {
	var rows []row
	for _, f := range fields(raw) {
		all := lines(f.value)
		if len(all) <= 1 && columns(clean(f.value)) <= shownColumns {
			rows = append(rows, row{in(dim, "  "+f.name+": "), in(normal, strings.Join(all, ""))})
			continue
		}
		rows = append(rows, row{in(dim, "  "+f.name+":")})
		rows = append(rows, excerpt(f.value, "    ", most)...)
	}
	return rows
}

// excerpt is the beginning of a long text, indented, and what was left out.
func excerpt(text, indent string, most int) []row {
	all := lines(text)
	var rows []row
	for _, l := range all[:min(most, len(all))] {
		cut := head(l, shownColumns)
		if cut != l {
			cut += fmt.Sprintf("… (%s of this line left out)", plural(len([]rune(l))-len([]rune(cut)), "character"))
		}
		rows = append(rows, say(indent+cut))
	}
	if more := len(all) - most; more > 0 {
		rows = append(rows, row{in(dim, fmt.Sprintf("%s… %s left out (%s in all)", indent, plural(more, "line"),
			plural(len([]rune(text)), "character")))})
	}
	return rows
}

// doing is what a strand does right now, "" for nothing.
func doing(r agent.Run, id agent.StrandID) string {
	s := r.Strands[id]
	for _, c := range r.OpenCheckpoints() {
		if c.Strand == id {
			return "waiting for an answer"
		}
	}
	if s.Call != nil {
		return thinking[string(s.Call.Purpose)]
	}
	var names []string
	for _, c := range openCalls(s) {
		if c.Intent != nil {
			names = append(names, phrase(c.Intent.Tool, c.Intent.Arguments))
		}
	}
	switch len(names) {
	case 0:
		if s.Finishing != nil {
			return thinking["judge"]
		}
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// thinking says what a model is asked for.
var thinking = map[string]string{
	"intake": "reading the goal", "plan": "planning anew", "work": "thinking", "judge": "checking the result",
	"report": "writing the report", "check-in": "checking in", "compact": "summing up",
}

func openCalls(s agent.Strand) []agent.OpenCall {
	var open []agent.OpenCall
	for _, in := range s.Talks {
		open = append(open, in.Talk.Open...)
	}
	slices.SortFunc(open, func(a, b agent.OpenCall) int { return strings.Compare(string(a.Effect), string(b.Effect)) })
	return open
}

// executes reports whether a model is being asked or a tool runs.
func executes(r agent.Run) bool {
	for _, s := range r.Strands {
		if s.Ended {
			continue
		}
		if s.Call != nil {
			return true
		}
		for _, c := range openCalls(s) {
			if c.Intent != nil && c.Until.IsZero() && !asks(r, c.Checkpoint) {
				return true
			}
		}
	}
	return false
}

// asks reports whether the checkpoint is there and open.
func asks(r agent.Run, id agent.CheckpointID) bool {
	c, known := r.Checks[id]
	return known && c.Open()
}
