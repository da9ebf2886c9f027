package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/thought"
)

// maxGoal is where the goal's text is shortened in a prompt, in characters (MODEL.md).
const maxGoal = 2000

// maxDoubt is where a warning about the plan is shortened in a prompt, in characters.
const maxDoubt = 300

// Ready is a request with what the journal says of it.
type Ready struct {
	llm.Request
	Hash string // prompt id, version and content hash
	Fast bool   // the prompt is pinned to the fast model
}

// view is what the templates see.
type view struct {
	Goal         string
	Tools        []agent.ToolSpec
	PlanJSON     string
	Tasks        []taskView
	Task         agent.Task
	Role         string
	RolePrompt   string   // of the role or the reviewer, as its file says it
	Playbooks    []string // that fit the goal
	Instructions string
	Inputs       []value
	Outputs      []value
	Summary      string
	Evidence     []string
	DoneWhen     []string
	Said         []string
	Earlier      string // what earlier runs of the goal came to, framed
	Remembered   string // what else may bear on it, framed
	Lessons      string // of check-ins, framed
	Advice       string // for the new plan, framed
	Why          string // a new plan is wanted although no task failed
	Doubts       string // about the plan, framed
	Digest       *digest
	Schedulable  bool // the goal may turn out to be a schedule
	Thinks       bool // a thought is asked for with each call
	Hear         *hearing
	Compact      *compaction
}

type taskView struct {
	ID      agent.TaskID
	Title   string
	State   agent.TaskState
	Summary string
	Reason  string
	Outputs []value
}

type value struct{ Name, JSON string }

// Rendering is a conversation as it was last sent. A strand that keeps it pays
// for what is new only, and its requests keep their beginning byte for byte
// even when the run around it changes. The zero Rendering begins anew.
type Rendering struct {
	purpose   llm.Purpose
	topic     string
	messages  []llm.Message
	functions []llm.Function
	encoding  *llm.Encoding // the client's own
	offered   int           // tools that were chosen for the strand
	entries   int           // rendered so far, after system and brief
	last      agent.Entry   // the newest of them: another one means another conversation
}

// continues reports whether the conversation is the rendered one, or that and more.
func (d Rendering) continues(p llm.Purpose, topic string, entries agent.History) bool {
	switch {
	case d.purpose != p || d.topic != topic || d.entries > entries.Len():
		return false
	case d.entries == 0:
		return p == llm.CheckIn // its topic says it all
	}
	return same(entries.At(d.entries-1), d.last)
}

// same reports whether two entries say the same.
func same(a, b agent.Entry) bool {
	switch {
	case a.Answer != nil && b.Answer != nil:
		return a.Answer.Content == b.Answer.Content && slices.Equal(a.Answer.Calls, b.Answer.Calls)
	case a.Reply != nil && b.Reply != nil:
		return *a.Reply == *b.Reply
	}
	return a.Note != nil && b.Note != nil && *a.Note == *b.Note
}

// Request builds what the strand asks the model next, and the rendering for the
// request after that. Its messages begin with the same bytes in every call of
// a conversation: system, brief, then the entries, which only grow.
func (b *Book) Request(r *agent.Run, s agent.StrandID, tools []agent.ToolSpec, before Rendering) (Ready, Rendering, error) {
	purpose := r.Purpose(s)
	pg, known := b.prompts[purpose]
	if !known {
		return Ready{}, Rendering{}, fmt.Errorf("there is no prompt for %q", purpose)
	}
	entries := r.Talk(s).Entries
	if s == agent.Hear {
		entries = agent.History{} // each of its questions is whole
	}
	d, about := before, topic(*r, s, purpose)
	if !d.continues(purpose, about, entries) {
		system, brief, err := pg.open(b.look(*r, s, tools))
		if err != nil {
			return Ready{}, Rendering{}, err
		}
		d = Rendering{purpose: purpose, topic: about, encoding: &llm.Encoding{}, functions: b.Offered(r, s, tools), messages: []llm.Message{
			{Role: llm.System, Content: system}, b.redacted(llm.Message{Role: llm.User, Content: brief}),
		}}
	}
	if chosen := r.Strands.Of(s).Offered; chosen != nil && d.offered != len(chosen.Names) {
		d.functions, d.offered = b.Offered(r, s, tools), len(chosen.Names) // more tools were found
	}
	for ; d.entries < entries.Len(); d.entries++ {
		d.last = entries.At(d.entries)
		m := Message(d.last)
		if words := differs(entries, d.entries); words != "" {
			m.Content += "\n" + words
		}
		d.messages = append(d.messages, b.redacted(m))
	}
	task, _ := s.Task()
	fast := pg.Model == "fast"
	if role, plays := roleOf(r, s, purpose); plays && role.Model != "" {
		fast = role.Model == agent.RoleFast
	}
	return Ready{Hash: pg.hash, Fast: fast && r.Strands.Of(s).CheckIn.First == nil, Request: llm.Request{
		Purpose: purpose, Run: string(r.ID), Strand: string(s), Task: string(task),
		Messages: d.messages, Functions: d.functions, Required: true, Encoding: d.encoding,
	}}, d, nil
}

// roleOf is the role in which a strand asks: its task's, or its reviewer's.
func roleOf(r *agent.Run, s agent.StrandID, purpose llm.Purpose) (agent.Role, bool) {
	id, _ := s.Task()
	task, _ := r.Plan.Task(id)
	switch purpose {
	case llm.Work:
		return r.Plan.Role(task.Role)
	case llm.Judge:
		return r.Plan.Role(task.Reviewer)
	default:
		return agent.Role{}, false
	}
}

// open renders the beginning of a conversation.
func (p page) open(v view) (system, brief string, err error) {
	var text strings.Builder
	if err := p.text.ExecuteTemplate(&text, "system", v); err != nil {
		return "", "", fmt.Errorf("prompt %s: %w", p.ID, err)
	}
	system = text.String()
	text.Reset()
	if err := p.text.ExecuteTemplate(&text, "brief", v); err != nil {
		return "", "", fmt.Errorf("prompt %s: %w", p.ID, err)
	}
	return system, text.String(), nil
}

// offer is what a list of functions follows from. Tools are known by their
// place in memory.
type offer struct {
	purpose llm.Purpose
	tools   *agent.ToolSpec
	n       int
	named   string // by the task; of words, which form of the question they are
	later   bool   // schedules can be kept
	read    bool   // results were taken out of the conversation
}

// maxOffers is how many lists are kept.
const maxOffers = 256

// Offered lists the functions that the strand may call now, sorted by name:
// the decisions of its purpose and, for work, the tools of its task. The same
// offer is the same list, which nobody changes; nor do tools change.
func (b *Book) Offered(r *agent.Run, s agent.StrandID, tools []agent.ToolSpec) []llm.Function {
	o := offer{purpose: r.Purpose(s), later: b.schedules && r.Brief.Schedulable()}
	if id, works := s.Task(); works && (o.purpose == llm.Work || o.purpose == llm.Check) && len(tools) > 0 {
		task, _ := r.Plan.Task(id)
		o.tools, o.n, o.named = &tools[0], len(tools), strings.Join(task.Tools, " ")+chosen(*r, s)
	}
	o.read = o.purpose == llm.Work && r.Strands.Of(s).Window.Made > 0
	if o.purpose == llm.Hear {
		o.named = strings.Join(hears(*r), " ")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, is := b.offers[o]; is {
		return known
	}
	if b.offers == nil || len(b.offers) >= maxOffers {
		b.offers = map[offer][]llm.Function{}
	}
	offered := slices.Clip(b.list(o, *r, s, tools))
	b.offers[o] = offered
	return offered
}

// list puts the functions of an offer together.
func (b *Book) list(o offer, r agent.Run, s agent.StrandID, tools []agent.ToolSpec) []llm.Function {
	var offered []llm.Function
	names := b.prompts[o.purpose].Functions
	if o.purpose == llm.Hear {
		names = hears(r)
	}
	for _, name := range names {
		if name != agent.CallSchedule || o.later {
			offered = append(offered, b.functions[name])
		}
	}
	if o.read {
		offered = append(offered, b.functions[agent.CallRead])
	}
	if i := slices.IndexFunc(tools, isCheck); o.purpose == llm.Check && i >= 0 {
		offered = append(offered, llm.Function{Name: tools[i].Name, Description: tools[i].Description, Parameters: tools[i].Parameters})
	}
	if o.purpose == llm.Work {
		for _, t := range Allowed(r, s, tools) {
			f := llm.Function{Name: t.Name, Description: brief(t), Parameters: t.Parameters}
			if b.thoughts {
				f.Parameters = thought.Offer(f.Parameters)
			}
			offered = append(offered, f)
		}
		if r.Strands.Of(s).Offered != nil {
			offered = append(offered, b.functions[agent.CallFindTools], b.functions[agent.CallToolHelp])
		}
	}
	slices.SortFunc(offered, func(x, y llm.Function) int { return strings.Compare(x.Name, y.Name) })
	return offered
}

// Allowed lists the tools that the strand's task may use: those it names, all
// where it names none.
func Allowed(r agent.Run, s agent.StrandID, tools []agent.ToolSpec) []agent.ToolSpec {
	id, ok := s.Task()
	if !ok {
		return nil
	}
	task, _ := r.Plan.Task(id)
	if len(task.Tools) == 0 {
		return Chosen(r, s, tools)
	}
	var allowed []agent.ToolSpec
	for _, t := range tools {
		if slices.Contains(task.Tools, t.Name) {
			allowed = append(allowed, t)
		}
	}
	return allowed
}

func (b *Book) look(r agent.Run, s agent.StrandID, tools []agent.ToolSpec) view {
	v := view{Goal: Shorten(r.Brief.Goal, maxGoal), Tools: briefly(Chosen(r, s, tools)), DoneWhen: r.Plan.DoneWhen,
		Schedulable: b.schedules && r.Brief.Schedulable(), Thinks: b.thoughts}
	if id, ok := s.Task(); ok {
		v.lookAtTask(r, s, id)
		return v
	}
	if s == agent.Hear {
		v.hear(r)
		return v
	}
	v.Earlier, v.Lessons = earlier(r.Recalled, maxEpisodes), lessonsOf(r)
	v.Remembered = remembered(agent.RecalledFor(&r, agent.Main))
	if r.Rethink != nil {
		v.Why, v.Advice = r.Rethink.Reason, advised(r.Rethink.Advice)
	}
	for _, n := range r.Said {
		if n.Text == "" && !n.Trusted { // it is kept no more
			continue
		}
		v.Said = append(v.Said, Message(agent.Entry{Note: &n}).Content)
	}
	v.lookAtPlan(r)
	if b.playbooks != nil && r.Plans == 0 && s == agent.Main {
		v.Playbooks = b.playbooks(r.Brief.Goal)
	}
	v.Doubts = doubts(r)
	if r.Plans > 0 {
		v.PlanJSON = planJSON(r.Plan)
	}
	return v
}

// maxSaid is how many words of people a task's brief has.
const maxSaid = 20

// told are the newest words of those who may steer: they hold for all work
// that begins later.
func told(said []agent.Note) []string {
	var list []string
	for _, n := range said {
		if n.Trusted {
			list = append(list, Message(agent.Entry{Note: &n}).Content)
		}
	}
	return list[max(0, len(list)-maxSaid):]
}

// maxAdvice is where a piece of advice is shortened, in characters.
const maxAdvice = 600

// advised is the advice as data: it quotes what tools and models said.
func advised(list []string) string {
	lines := make([]string, len(list))
	for i, l := range list {
		lines[i] = "- " + format.LineStart(l, maxAdvice)
	}
	if len(lines) == 0 {
		return ""
	}
	return Frame(strings.Join(lines, "\n"), agent.Untrusted)
}

// doubts are the warnings about the plan, in words that quote it.
func doubts(r agent.Run) string {
	lines := make([]string, len(r.Doubts))
	for i, f := range r.Doubts {
		lines[i] = "- " + format.LineStart(f.Message, maxDoubt)
	}
	if len(lines) == 0 {
		return ""
	}
	return Frame(strings.Join(lines, "\n"), agent.Untrusted)
}

func (v *view) lookAtPlan(r agent.Run) {
	for _, t := range r.Plan.Tasks {
		st := r.Tasks[t.ID]
		v.Tasks = append(v.Tasks, taskView{ID: t.ID, Title: t.Title, State: st.State,
			Summary: st.Summary, Reason: st.Reason, Outputs: values(st.Outputs)})
	}
}

func (v *view) lookAtTask(r agent.Run, s agent.StrandID, id agent.TaskID) {
	v.Task, _ = r.Plan.Task(id)
	v.Role = v.Task.Role
	v.Instructions = r.Tasks[id].Instructions
	v.Earlier = earlier(r.Recalled, maxWorkEpisodes)
	v.Remembered = remembered(agent.RecalledFor(&r, s))
	if role, plays := roleOf(&r, s, r.Purpose(s)); plays {
		v.RolePrompt = role.Prompt
		if role.Memory == agent.MemoryNone {
			v.Earlier, v.Remembered = "", ""
		}
	}
	v.Said = told(r.Said[:min(r.Tasks[id].Heard, len(r.Said))])
	all := agent.Values(r)
	for _, name := range v.Task.Inputs {
		if o, ok := all[name]; ok {
			v.Inputs = append(v.Inputs, values([]agent.Output{o})...)
		}
	}
	v.Lessons = learnt(r.Strands.Of(s).CheckIn.Learnt)
	if r.Purpose(s) == llm.Compact {
		v.compaction(r, s)
	}
	if r.Purpose(s) == llm.CheckIn {
		v.lookAtPlan(r)
		v.Digest, v.Lessons = digested(r, s, v.Task), learnt(r.Lessons.Of(id))
	}
	if f := r.Strands.Of(s).Finishing; f != nil {
		if v.Task.Deliverable {
			v.Doubts = doubts(r)
		}
		v.Summary, v.Outputs = f.Summary, values(f.Outputs)
		v.Evidence = evidence(r.Strands.Of(s).Talks.Of(llm.Work).Entries)
	}
}

// planJSON is the plan on one line. < and & stay as they are: the model is to
// give finished tasks back as it got them.
func planJSON(p agent.Plan) string {
	line, _ := format.JSON(p) // it was read from JSON, which has no infinite numbers
	return string(line)
}

// values renders outputs as JSON: the value, or the path where it is a file.
func values(outputs []agent.Output) []value {
	list := make([]value, 0, len(outputs))
	for _, o := range outputs {
		var parts []string
		var line bytes.Buffer // one line, however the model wrote it
		if len(o.Value) > 0 && json.Compact(&line, o.Value) == nil {
			parts = append(parts, line.String())
		}
		if o.File != "" {
			file, _ := json.Marshal(map[string]string{"file": o.File}) //nolint:errchkjson // a string always encodes
			parts = append(parts, string(file))
		}
		if len(parts) == 0 {
			parts = []string{"null"}
		}
		list = append(list, value{o.Name, strings.Join(parts, " in ")})
	}
	return list
}
