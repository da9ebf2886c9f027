package taint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// read is a text that a strand holds and that a stranger may have written.
type read struct {
	text    string
	from    string // what it is, for people: "page.html"
	tool    string // that read it; empty: it is no tool's result
	private bool
	names   []string // of files, where a tool of Deckhand's lists them: names alone say nothing
	hint    bool     // what a tool of others says of itself: it counts where it is found
	model   bool     // a model's words, which it wrote after it read others
	ours    bool     // it vouches for what it says, and is looked up as private data alone
	said    bool     // the strand's own model's words, while texts stood there that were taken out since
}

// history is what a strand knows, by whose words it is.
type history struct {
	own   []string // people's words, the first plan's, and what was known before any stranger's text
	reads []read   // the newest last
	gone  gone
}

// gone is what stood in a conversation once. Nobody can look anything up in it any
// more: whatever was written while it stood there may be a part of it.
type gone struct {
	private bool     // data of the team
	strange bool     // what strangers may have written, beyond mere names of files
	files   []string // that were read
}

// goneOf is what a provenance tells.
func goneOf(p agent.Provenance, spec tools) gone {
	var g gone
	for _, from := range p {
		g.private = g.private || from.Tool == listFiles || spec.private(from.Tool)
		g.strange = g.strange || from.Untrusted && from.Tool != listFiles
		if from.Tool == readFile {
			g.files = from.Files
		}
	}
	return g
}

// The tools of Deckhand that read files of the workspace: their results are the
// team's own data, and their first lines and the names before a colon are
// Deckhand's own.
const (
	readFile    = "read_file"
	listFiles   = "list_files"
	searchFiles = "search_files"
)

// lookBack is what the strand knows at this point.
func lookBack(r *agent.Run, s agent.StrandID, spec tools) history {
	st := r.Strands.Of(s)
	h := history{own: people(r), gone: goneOf(st.Provenance, spec)}
	task, works := s.Task()
	if works {
		h.inputs(r, task, spec)
	}
	if remembers(r) {
		if text, err := json.Marshal(r.Recalled); err == nil {
			h.reads = append(h.reads, read{text: string(text), from: "what earlier runs left", model: true})
		}
	}
	for _, t := range spec {
		if foreign(t) {
			h.reads = append(h.reads, read{text: t.Description + "\n" + string(t.Parameters), from: "what " + t.Name + " says of itself", hint: true})
		}
	}
	calls := map[string]llm.Call{}
	for i, e := range st.Talks.Of(llm.Work).Entries.All() {
		switch {
		case e.Answer != nil:
			if i < st.Window.Kept {
				h.said(*e.Answer, spec)
			}
			for _, c := range e.Answer.Calls {
				calls[c.ID] = c
			}
		case e.Reply != nil:
			h.reply(*e.Reply, calls[e.Reply.Call], spec)
		case e.Note != nil && !e.Note.Trusted:
			h.note(*e.Note, i == 0 && st.Window.Made > 0)
		}
	}
	return h
}

// note takes in words of nobody who may steer; summary is whether they stand for
// what was taken out.
func (h *history) note(n agent.Note, summary bool) {
	in := read{text: n.Text, from: "words of " + noteOf(n), model: n.By == agent.Deckhand}
	if summary && in.model {
		in.from, in.private = "the summary of what was done before", h.gone.private
	}
	if in.model && n.Author != "" { // the documentation of a tool
		in.from, in.model, in.hint = "what "+n.Author+" says of itself", false, true
	}
	h.reads = append(h.reads, in)
}

// remembers reports whether the run was told what earlier ones left that strangers
// may have had a hand in.
func remembers(r *agent.Run) bool { return r.Recalled != nil && r.Recalled.Strange() }

func noteOf(n agent.Note) string {
	if n.By == agent.Deckhand {
		return "a check-in"
	}
	if n.Author != "" {
		return n.Author
	}
	return n.By
}

// people are the words of people who may steer, and the plan that was made of them
// before anything was read.
func people(r *agent.Run) []string {
	own := []string{r.Brief.Goal}
	for _, n := range r.Said {
		if n.Trusted {
			own = append(own, n.Text)
		}
	}
	for _, id := range r.Asked {
		c := r.Checks[id]
		if c.Open() || c.Decision.By == agent.Deckhand {
			continue
		}
		own = append(own, c.Decision.Text, c.Decision.Decision)
		for _, a := range c.Decision.Answers {
			own = append(own, a)
		}
		own = append(own, string(c.Decision.Arguments))
	}
	if r.Plans <= 1 && !remembers(r) {
		for _, t := range r.Plan.Tasks {
			own = append(own, t.Title, t.Instructions, t.Acceptance)
		}
	}
	return slices.DeleteFunc(own, func(s string) bool { return s == "" })
}

// said takes in what the model said and called before the newest compaction: the
// texts that it had before it then are gone, or short. What left the host was
// judged when it did, and is no private data now.
func (h *history) said(answer llm.Message, spec tools) {
	if !h.strange() && !h.private() {
		return
	}
	within, left := []string{answer.Content}, []string(nil)
	for _, c := range answer.Calls {
		to := &within
		if t, _ := spec.spec(c.Name); open(t) {
			to = &left
		}
		for _, l := range leavesOf(json.RawMessage(c.Arguments)) {
			*to = append(*to, l.text)
		}
	}
	from := "what the model wrote before"
	h.reads = append(h.reads, read{text: strings.Join(within, "\n"), from: from, model: true, said: true, private: h.private()},
		read{text: strings.Join(left, "\n"), from: from, model: true, said: true})
}

// private reports whether private data was before the task, in its own
// conversation or in what it was given.
func private(r *agent.Run, id agent.TaskID, spec tools, seen map[agent.TaskID]bool) bool {
	if seen[id] {
		return false
	}
	seen[id] = true
	if goneOf(r.Strands.Of(agent.TaskStrand(id)).Provenance, spec).private {
		return true
	}
	task, _ := r.Plan.Task(id)
	return slices.ContainsFunc(r.Plan.Tasks, func(t agent.Task) bool {
		return t.ID != id && slices.ContainsFunc(t.Outputs, func(o agent.OutputSpec) bool { return slices.Contains(task.Inputs, o.Name) }) &&
			private(r, t.ID, spec, seen)
	})
}

// inputs are what other tasks left to the one: a model's words over what it read.
func (h *history) inputs(r *agent.Run, id agent.TaskID, spec tools) {
	task, _ := r.Plan.Task(id)
	for _, t := range r.Plan.Tasks {
		st := r.Tasks[t.ID]
		if t.ID == id || st.Ended.IsZero() {
			continue
		}
		from := "the result of “" + format.Line(t.Title, 60) + "”"
		for _, o := range st.Outputs {
			if slices.Contains(task.Inputs, o.Name) {
				h.reads = append(h.reads, read{text: o.Name + "\n" + o.File + "\n" + string(o.Value), from: from, model: true,
					private: private(r, t.ID, spec, map[agent.TaskID]bool{})})
			}
		}
	}
	if instructions := r.Tasks[id].Instructions; r.Plans > 1 {
		h.reads = append(h.reads, read{text: instructions + "\n" + task.Instructions, from: "a plan that was changed on the way", model: true})
	}
}

// reply takes in a result. A trusted one that was asked for before any stranger's
// text vouches for what it says; later ones may repeat what they were given.
func (h *history) reply(e agent.Reply, c llm.Call, spec tools) {
	switch {
	case e.Trust == "":
		return // Deckhand's own words, which quote the call
	case e.Name == agent.CallRead: // of a text that may be gone, whatever a tool says of itself
		h.reads = append(h.reads, read{text: e.Text, from: "an earlier result", tool: e.Name, private: h.private(), model: e.Trust == agent.Trusted})
	case e.Name == listFiles:
		h.reads = append(h.reads, read{text: e.Text, from: "a list of file names", tool: e.Name, private: true, names: namesIn(e.Text)})
	case e.Trust == agent.Untrusted:
		in := read{text: e.Text, from: from(c, e.Name), tool: e.Name, private: spec.private(e.Name)}
		switch e.Name {
		case readFile: // its first line is Deckhand's
			_, in.text, _ = strings.Cut(e.Text, "\n")
		case searchFiles:
			in.text, in.names = apart(e.Text)
		}
		h.reads = append(h.reads, in)
	case !spec.reads(e.Name) || strings.HasPrefix(e.Text, "error: "):
		// what an effect says of itself, and a refusal, quote the call
	case h.strange() || h.private():
		h.reads = append(h.reads, read{text: e.Text, from: from(c, e.Name), tool: e.Name, private: h.private(), model: true})
	default:
		h.own = append(h.own, e.Text)
		if spec.private(e.Name) { // it vouches, and is not for everybody
			h.reads = append(h.reads, read{text: e.Text, from: from(c, e.Name), tool: e.Name, private: true, hint: true, ours: true})
		}
	}
}

// private reports whether the strand holds private data.
func (h *history) private() bool {
	return h.gone.private || slices.ContainsFunc(h.reads, func(r read) bool { return r.private })
}

// strange reports whether the strand holds what strangers may have written, beyond
// mere names of files.
func (h *history) strange() bool {
	return h.gone.strange || slices.ContainsFunc(h.reads, func(r read) bool { return r.tool != listFiles && !r.hint })
}

// raw reports whether the strand itself read a stranger's text, and not only what
// models made of one.
func (h *history) raw() bool {
	return h.gone.strange || slices.ContainsFunc(h.reads, func(r read) bool { return r.tool != listFiles && !r.hint && !r.model })
}

// namesIn are the names in a list of files: each line begins with one, and in JSON
// each text is one.
func namesIn(text string) []string {
	var names []string
	if strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		d := json.NewDecoder(strings.NewReader(text))
		for token, err := d.Token(); err == nil; token, err = d.Token() {
			if name, is := token.(string); is {
				names = append(names, name)
			}
		}
		return names
	}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		names = append(names, strings.Trim(name, `"`))
	}
	return names
}

// apart takes the names that a search puts before each line away from the lines.
func apart(text string) (lines string, names []string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		name, rest, is := strings.Cut(line, ":")
		number, said, numbered := strings.Cut(rest, ": ")
		if is && numbered && number != "" && strings.Trim(number, "0123456789") == "" {
			names = append(names, strings.Trim(name, `"`))
			line = said
		}
		b.WriteString(line)
	}
	return b.String(), names
}

// from says what a call read, in its own words: its path, its address, its query.
func from(c llm.Call, tool string) string {
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return tool
	}
	for _, k := range []string{"path", "file", "url", "uri", "query", "name", "id", "channel"} {
		var s string
		if json.Unmarshal(args[k], &s) == nil && s != "" {
			return format.Line(s, 120)
		}
	}
	return tool
}
