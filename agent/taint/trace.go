package taint

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds and thresholds.
const (
	maxLeaves   = 200 // strings of one call's arguments that are looked up one by one
	maxSources  = 6   // that people are shown
	maxQuote    = 160 // characters
	derives     = 0.3 // so much of an argument in a text, and it derives from it
	privateRun  = 24  // letters and digits in a row that private data is known by
	opaqueRun   = 24  // of which nobody can say what they are
	longNumber  = 5   // digits: an account, a telephone number
	leastLetter = 3   // shorter values decide nothing
)

// tools are the tools that there are, sorted by name.
type tools []agent.ToolSpec

// spec is what a tool says of itself.
func (t tools) spec(name string) (spec agent.ToolSpec, known bool) {
	if i, known := slices.BinarySearchFunc(t, name, func(s agent.ToolSpec, n string) int { return strings.Compare(s.Name, n) }); known {
		return t[i], true
	}
	return agent.ToolSpec{}, false
}

// open reports whether a tool's arguments leave this host.
func open(spec agent.ToolSpec) bool {
	return spec.Class == agent.ClassSend || spec.Open
}

// foreign reports whether others wrote what the tool says of itself.
func foreign(spec agent.ToolSpec) bool { return spec.Source != "" || strings.Contains(spec.Name, "__") }

// private reports whether a tool's results are the team's own data.
func (t tools) private(name string) bool {
	spec, known := t.spec(name)
	return name == readFile || name == searchFiles || known && spec.Private
}

// reads reports whether a tool changes nothing; one that nobody knows may.
func (t tools) reads(name string) bool {
	spec, known := t.spec(name)
	return known && spec.Class == agent.ClassRead
}

// Tracer looks up where arguments came from. It keeps texts indexed from call to
// call; what it says depends on the run alone. The zero Tracer is ready.
type Tracer struct{ cache cache }

// leaf is one string of a call's arguments.
type leaf struct {
	at    string // its place: "rows.0.name"
	text  string
	value value
}

// trace is the work on one call.
type trace struct {
	t    *Tracer
	r    *agent.Run
	a    agent.Act
	h    history
	own  []*index
	docs []*index // of h.reads, nil where the bound was reached
	out  agent.Taint
}

// Of is the taint of a call that a strand is about to make; specs are the tools that
// there are, sorted by name.
//
// A file's content is not looked at: writing down what strangers wrote is what
// agents do all day. Where a call reaches others, runs a program or deletes, every
// argument has to be a person's, the plan's or Deckhand's own; where it writes a
// file of the workspace, its path must not be a stranger's; where it only reads but
// leaves the host, it must not carry private data.
func (t *Tracer) Of(r *agent.Run, s agent.StrandID, a agent.Act, specs []agent.ToolSpec) agent.Taint {
	out := open(a.Tool)
	if a.Class == agent.ClassRead && !out {
		return agent.Taint{}
	}
	w := &trace{t: t, r: r, a: a, h: lookBack(r, s, specs)}
	if len(w.h.reads) == 0 {
		return agent.Taint{}
	}
	w.prepare()
	leaves := leavesOf(a.Arguments)
	switch a.Class {
	case agent.ClassCreate, agent.ClassWrite:
		w.paths(leaves)
	case agent.ClassRead:
		w.carried(leaves)
	default:
		w.decisive(leaves)
		w.out.Exposed = out && w.h.strange() && (w.h.private() || r.Brief.Direct)
		w.carried(leaves)
	}
	w.out.Sources = w.out.Sources[:min(len(w.out.Sources), maxSources)]
	return w.out
}

// prepare indexes the texts, the newest reads first.
func (w *trace) prepare() {
	for _, text := range w.h.own {
		w.own = append(w.own, w.t.cache.index(text))
	}
	w.docs = make([]*index, len(w.h.reads))
	left := maxTexts
	for i, r := range slices.Backward(w.h.reads) {
		if left -= min(len(r.text), maxText); left < 0 {
			break
		}
		w.docs[i] = w.t.cache.index(r.text)
	}
}

// decisive judges the arguments of a call that reaches beyond the workspace.
func (w *trace) decisive(leaves []leaf) {
	if len(leaves) > maxLeaves {
		w.unknown(leaves[maxLeaves], "more arguments than can be traced")
		leaves = leaves[:maxLeaves]
	}
	for _, l := range leaves {
		if w.harmless(l) || w.vouched(l) || !w.h.strange() && w.listed(l.text) {
			continue
		}
		if w.isPath(l) && (w.named(l) || w.made(l)) || w.found(l, derives) {
			continue
		}
		if w.h.strange() {
			w.unknown(l, "")
		}
	}
}

// paths judges the paths of a call that writes into the workspace.
func (w *trace) paths(leaves []leaf) {
	for _, l := range leaves {
		if !w.isPath(l) || w.vouched(l) || w.named(l) || w.made(l) || w.composed(l) {
			continue
		}
		if w.a.Class == agent.ClassWrite && !w.a.New && w.h.raw() && !w.listed(l.text) && !w.wasRead(l.text) {
			w.unknown(l, "")
		}
	}
}

// carried judges what leaves the host with a call: is it private data?
func (w *trace) carried(leaves []leaf) {
	if !w.h.private() && !w.r.Brief.Direct {
		return
	}
	for _, l := range leaves[:min(len(leaves), maxLeaves)] {
		if w.harmless(l) || w.vouched(l) || w.a.Class == agent.ClassRead && w.stands(l) {
			continue
		}
		i, through := w.leaks(l)
		if i < 0 && (w.a.Class != agent.ClassRead || !w.h.strange() || !opaque(l.text)) {
			continue
		}
		w.out.Private = true
		w.out.Exposed = w.out.Exposed || w.h.strange()
		if i < 0 {
			w.unknown(l, "nobody can tell what it says")
			w.out.Untrusted = w.a.Class != agent.ClassRead
			continue
		}
		w.source(l, i, agent.OriginPrivate, through)
	}
}

// harmless reports whether a value decides nothing: too short, or a word that the
// tool's own schema has.
func (w *trace) harmless(l leaf) bool {
	if len(l.value.plain) < leastLetter {
		return true
	}
	quoted, err := json.Marshal(l.text)
	return err == nil && bytes.Contains(w.a.Tool.Parameters, quoted)
}

// vouched reports whether a person or Deckhand itself wrote the value.
func (w *trace) vouched(l leaf) bool {
	return slices.ContainsFunc(w.own, func(x *index) bool { return x.whole(l.value) }) ||
		w.isPath(l) && slices.ContainsFunc(w.own, func(x *index) bool { return word(x.lower, strings.ToLower(path.Base(l.text))) })
}

// made reports whether the value is a file that this run wrote.
func (w *trace) made(l leaf) bool {
	return slices.ContainsFunc(w.r.Touched, func(p string) bool { return p == path.Clean(l.text) || p == path.Join(w.r.Brief.Folder, l.text) })
}

// listed reports whether Deckhand listed a file of that name.
func (w *trace) listed(p string) bool {
	p = path.Clean(p)
	return slices.ContainsFunc(w.h.reads, func(r read) bool {
		return slices.ContainsFunc(r.names, func(name string) bool {
			name = path.Clean(name)
			return name == p || strings.HasSuffix(p, "/"+name)
		})
	})
}

// wasRead reports whether the strand read the file.
func (w *trace) wasRead(p string) bool {
	p = path.Clean(p)
	return slices.ContainsFunc(w.h.reads, func(r read) bool { return r.tool == readFile && path.Clean(r.from) == p }) ||
		slices.ContainsFunc(w.h.gone.files, func(read string) bool { return path.Clean(read) == p })
}

// isPath reports whether the value is one of the files that the call would change.
func (w *trace) isPath(l leaf) bool {
	if w.a.Class != agent.ClassCreate && w.a.Class != agent.ClassWrite && w.a.Class != agent.ClassDelete {
		return false
	}
	if len(w.a.Changes) == 0 {
		return strings.HasSuffix(l.at, "path") || strings.HasSuffix(l.at, "file")
	}
	p := path.Clean(l.text)
	return slices.ContainsFunc(w.a.Changes, func(c string) bool { return c == p || strings.HasSuffix(c, "/"+p) })
}

// named finds a path, or its last part, in a stranger's text.
func (w *trace) named(l leaf) bool {
	values := []value{l.value}
	if base := path.Base(l.text); len(base) > leastLetter && base != l.text {
		values = append(values, valueOf(base))
	}
	for i, x := range slices.Backward(w.docs) {
		if x == nil || w.h.reads[i].ours || w.h.reads[i].tool == listFiles || w.h.reads[i].said && w.made(l) { // it was judged when it was made
			continue
		}
		for _, v := range values {
			if form, is := x.holds(v); is {
				w.out.Untrusted = true
				w.source(l, i, agent.OriginUntrusted, form)
				return true
			}
		}
	}
	return false
}

// composed finds a path that is put together from words of strangers' texts.
func (w *trace) composed(l leaf) bool {
	base := strings.ToLower(path.Base(l.text))
	for i, x := range slices.Backward(w.docs) {
		if x == nil || w.h.reads[i].ours || w.h.reads[i].said || w.h.reads[i].tool == listFiles {
			continue
		}
		for cut := 2; cut <= len(base)-2; cut++ {
			if !word(x.lower, base[:cut]) {
				continue
			}
			rest := base[cut:]
			if slices.ContainsFunc(w.docs, func(y *index) bool { return y != nil && word(y.lower, rest) }) {
				w.out.Untrusted = true
				w.source(l, i, agent.OriginUntrusted, "pieces")
				return true
			}
		}
	}
	return false
}

// found finds the text that shares most with the value, and at least so much.
func (w *trace) found(l leaf, least float64) bool {
	best, most, through := -1, 0.0, ""
	for i, x := range slices.Backward(w.docs) {
		if x == nil || w.h.reads[i].ours {
			continue
		}
		if share, form := x.most(l.value); share >= least && share > most {
			best, most, through = i, share, form
		}
	}
	if best < 0 {
		return false
	}
	w.out.Untrusted = true
	w.source(l, best, agent.OriginUntrusted, through)
	return true
}

// stands reports whether the whole value stands in one of the texts, where nobody
// who holds private data can have put it.
func (w *trace) stands(l leaf) bool {
	for i, x := range w.docs {
		if r := w.h.reads[i]; x != nil && x.whole(l.value) && (!r.model || !r.private) && (!r.said || !w.h.private()) {
			return true
		}
	}
	return false
}

// leaks finds the private text that a value carries a part of; -1: none.
func (w *trace) leaks(l leaf) (i int, through string) {
	forms := append([]part{{l.text, ""}}, decoded(l.text)...)
	for _, p := range append(forms, part{reversed(l.text), "upside down"}) {
		v := valueOf(p.text)
		for i, x := range slices.Backward(w.docs) {
			if x != nil && w.h.reads[i].private && w.h.reads[i].tool != listFiles && x.run(v.plain, privateRun) {
				return i, p.through
			}
		}
	}
	return -1, ""
}

// reversed is a text from its end.
func reversed(s string) string {
	letters := []rune(s)
	slices.Reverse(letters)
	return string(letters)
}

// source tells of a text that an argument derives from.
func (w *trace) source(l leaf, i int, o agent.Origin, through string) {
	r := w.h.reads[i]
	if r.model && o == agent.OriginUntrusted {
		through = strings.TrimPrefix(through+", in the words of a model", ", ")
	}
	w.out.Sources = append(w.out.Sources, agent.Source{Argument: l.at, Origin: o, From: format.Visible(r.from), Tool: r.tool,
		Quote: format.Visible(quote(r.text, l.text, w.docs[i])), Through: through})
}

// unknown tells of an argument that a model wrote after it read a stranger's text.
func (w *trace) unknown(l leaf, why string) {
	w.out.Untrusted = true
	for _, r := range slices.Backward(w.h.reads) {
		if r.tool != listFiles && !r.hint {
			w.out.Sources = append(w.out.Sources, agent.Source{Argument: l.at, Origin: agent.OriginUnknown, From: format.Visible(r.from), Tool: r.tool, Through: why})
			return
		}
	}
}

// quote is the part of a text that a value stands in, or its beginning.
func quote(text, value string, x *index) string {
	lower := strings.ToLower(text)
	at := strings.Index(lower, strings.ToLower(strings.TrimSpace(value)))
	if at < 0 || len(lower) != len(text) {
		if x != nil && x.coded != nil && strings.Contains(x.coded.plain, squeeze(value)) {
			return quote(x.coded.lower, value, nil)
		}
		at = 0
		for _, word := range strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if i := strings.Index(lower, word); len(word) > leastLetter && i >= 0 && len(lower) == len(text) {
				at = i
				break
			}
		}
	}
	start := max(0, at-maxQuote/3)
	for start > 0 && !startsRune(text[start]) {
		start--
	}
	return format.LineStart(strings.ToValidUTF8(text[start:], ""), maxQuote)
}

func startsRune(b byte) bool { return b&0xC0 != 0x80 }

// opaque reports whether a value has a long run of letters and digits that is no
// word: what a secret, or something encoded, looks like.
func opaque(s string) bool {
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '%' && r != '='
	}) {
		if len(run) >= opaqueRun && strings.ContainsAny(run, "0123456789") && strings.IndexFunc(run, unicode.IsLetter) >= 0 {
			return true
		}
		if len(run) >= opaqueRun+opaqueRun/2 {
			return true
		}
	}
	return false
}

// leavesOf are the strings of arguments, the keys of objects with free names and
// long numbers among them.
func leavesOf(args json.RawMessage) []leaf {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return []leaf{{text: string(args), value: valueOf(string(args))}}
	}
	return walk(nil, "", v)
}

func walk(list []leaf, at string, v any) []leaf {
	if len(list) > maxLeaves {
		return list
	}
	under := func(k string) string { return strings.TrimPrefix(at+"."+k, ".") }
	switch v := v.(type) {
	case string:
		list = append(list, leaf{at, v, valueOf(v)})
	case json.Number:
		if len(v) >= longNumber {
			list = append(list, leaf{at, v.String(), valueOf(v.String())})
		}
	case []any:
		for i, e := range v {
			list = walk(list, under(strconv.Itoa(i)), e)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if at != "" { // below the tool's own parameters names are free
				list = append(list, leaf{under(k), k, valueOf(k)})
			}
			list = walk(list, under(k), v[k])
		}
	}
	return list
}
