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
}

// history is what a strand knows, by whose words it is.
type history struct {
	own   []string // people's words, the first plan's, and what was known before any stranger's text
	reads []read   // the newest last
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
	h := history{own: people(r)}
	task, works := s.Task()
	if works {
		h.inputs(r, task)
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
	for _, e := range r.Strands.Of(s).Talks.Of(llm.Work).Entries.All() {
		switch {
		case e.Answer != nil:
			for _, c := range e.Answer.Calls {
				calls[c.ID] = c
			}
		case e.Reply != nil:
			h.reply(*e.Reply, calls[e.Reply.Call], spec)
		case e.Note != nil && !e.Note.Trusted:
			h.reads = append(h.reads, read{text: e.Note.Text, from: "words of " + noteOf(*e.Note), model: e.Note.By == agent.Deckhand})
		}
	}
	return h
}

// remembers reports whether the run was told what earlier ones left.
func remembers(r *agent.Run) bool {
	return r.Recalled != nil && len(r.Recalled.Episodes)+len(r.Recalled.Precedents) > 0
}

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

// inputs are what other tasks left to the one: a model's words over what it read.
func (h *history) inputs(r *agent.Run, id agent.TaskID) {
	task, _ := r.Plan.Task(id)
	for _, t := range r.Plan.Tasks {
		st := r.Tasks[t.ID]
		if t.ID == id || st.Ended.IsZero() {
			continue
		}
		from := "the result of “" + format.Line(t.Title, 60) + "”"
		for _, o := range st.Outputs {
			if slices.Contains(task.Inputs, o.Name) {
				h.reads = append(h.reads, read{text: o.Name + "\n" + o.File + "\n" + string(o.Value), from: from, model: true})
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
	}
}

// private reports whether the strand holds private data.
func (h *history) private() bool {
	return slices.ContainsFunc(h.reads, func(r read) bool { return r.private })
}

// strange reports whether the strand holds what strangers may have written, beyond
// mere names of files.
func (h *history) strange() bool {
	return slices.ContainsFunc(h.reads, func(r read) bool { return r.tool != listFiles && !r.hint })
}

// raw reports whether the strand itself read a stranger's text, and not only what
// models made of one.
func (h *history) raw() bool {
	return slices.ContainsFunc(h.reads, func(r read) bool { return r.tool != listFiles && !r.hint && !r.model })
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
