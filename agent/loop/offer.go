package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/artifact"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// offerer chooses among many tools.
type offerer struct{ *turn }

// Bounds of what is chosen.
const (
	fewestOffered = 5    // foreign tools, however many are built in
	faintest      = 0.05 // a tool that has less to do with the text is not offered
	mostFound     = 5    // for a request of the model
)

// offer chooses tools before the first question of a strand, where there are too
// many for a request: those nearest to the text of its task, or to the goal. What
// was chosen is journalled, and counts from then on.
func (o offerer) offer(view *agent.Run) {
	s := o.lease.Strand
	finder, finds := o.Tools.(Finder)
	if p := o.purpose(view); !finds || view.Strands.Of(s).Offered != nil || p != llm.Intake && p != llm.Plan && p != llm.Work {
		return
	}
	specs := o.Tools.Specs()
	if !prompt.TooMany(specs, o.Offer, o.OfferTokens) {
		return
	}
	text := view.Brief.Goal
	if id, works := s.Task(); works {
		task, _ := view.Plan.Task(id)
		if len(task.Tools) > 0 {
			return // it has those that it names
		}
		text = task.Title + "\n" + view.Tasks[id].Instructions + "\n" + task.Acceptance
	}
	foreign := map[string]bool{}
	for _, t := range specs {
		foreign[t.Name] = t.Source != ""
	}
	most := max(fewestOffered, o.Offer-(len(specs)-countTrue(foreign)))
	chosen := agent.ToolsOffered{Names: []string{}, Scores: []float64{}}
	for _, m := range finder.Rank(text, len(specs)) {
		if foreign[m.Name] && m.Score >= faintest && len(chosen.Names) < most {
			chosen.Names, chosen.Scores = append(chosen.Names, m.Name), append(chosen.Scores, m.Score)
		}
	}
	o.event(chosen)
}

func countTrue(m map[string]bool) int {
	n := 0
	for _, is := range m {
		if is {
			n++
		}
	}
	return n
}

// wanted is what a model asks about tools.
type wanted struct {
	Query string `json:"query"` // find_tools
	Name  string `json:"name"`  // tool_help
}

// answer finds tools for the model, or tells it all about one. From then on they
// are offered.
func (o offerer) answer(ctx context.Context, view *agent.Run, c agent.OpenCall, a wanted) {
	if c.Name == agent.CallToolHelp {
		o.help(ctx, c, a.Name)
		return
	}
	finder, finds := o.Tools.(Finder)
	if !finds {
		o.refuse(c, "tools cannot be searched here")
		return
	}
	found := agent.ToolsOffered{Query: a.Query, Names: []string{}, Scores: []float64{}}
	var lines []string
	for _, m := range finder.Find(a.Query, mostFound) {
		if tool, is := o.Tools.Tool(m.Name); is {
			found.Names, found.Scores = append(found.Names, m.Name), append(found.Scores, m.Score)
			lines = append(lines, fmt.Sprintf("%.2f %s", m.Score, prompt.Line(tool.Spec())))
		}
	}
	if len(lines) == 0 {
		o.reply(c, "No tool fits that request. Say it in other words, or go on with the tools that you have.")
		return
	}
	found.Documents = o.unread(ctx, view, found.Names, roomFound)
	o.event(found)
	o.reply(c, "These tools fit, the best first; you can call them now:\n"+prompt.Frame(strings.Join(lines, "\n"), agent.Untrusted))
}

// help is the whole documentation of a tool.
func (o offerer) help(ctx context.Context, c agent.OpenCall, name string) {
	tool, is := o.Tools.Tool(name)
	if !is {
		text := fmt.Sprintf("there is no tool %q", name)
		if near := o.Tools.Nearest(name); len(near) > 0 {
			text += "; there are " + strings.Join(near, ", ")
		}
		o.refuse(c, text)
		return
	}
	found := agent.ToolsOffered{Query: name, Names: []string{name}, Scores: []float64{1}}
	documentation := documentationOf(ctx, tool)
	if documentation != "" { // the reply has it
		found.Documents = []agent.Document{{Tool: name, Hash: hashOf(documentation)}}
	}
	o.event(found)
	o.reply(c, "The tool, in the words of whoever made it:\n"+prompt.Frame(artifact.Head(tool.Spec().Help(documentation), artifact.MaxText), agent.Untrusted))
}

// Bounds of the documentation that is put before a model.
const (
	maxDocument   = 6 << 10  // bytes of one tool's
	roomBefore    = 12 << 10 // bytes of all that a task's first request has
	roomFound     = 6 << 10  // bytes of all that come with tools that were found
	mostDocuments = 5        // tools whose documentation a task's first request has
	documentWait  = 10 * time.Second
)

// document puts the documentation of the tools that a task is about before its
// first question: of those that it names, those that were chosen for it, or all
// foreign ones where they are few.
func (o offerer) document(ctx context.Context, view *agent.Run) {
	s := o.lease.Strand
	id, works := s.Task()
	if st := view.Strands.Of(s); !works || o.purpose(view) != llm.Work || len(st.Documents) > 0 || st.Talks.Of(llm.Work).Entries.Len() > 0 {
		return
	}
	task, _ := view.Plan.Task(id)
	names, chosen := task.Tools, view.Strands.Of(s).Offered
	switch {
	case len(names) > 0:
	case chosen != nil:
		names = chosen.Names
	default:
		for _, t := range o.Tools.Specs() {
			if t.Source != "" {
				names = append(names, t.Name)
			}
		}
		if len(names) > mostDocuments {
			return // each before its first call
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		tool, is := o.Tools.Tool(name)
		return !is || tool.Spec().Source == ""
	})
	if list := o.unread(ctx, view, names[:min(len(names), mostDocuments)], roomBefore); len(list) > 0 {
		o.event(agent.ToolsOffered{Names: []string{}, Scores: []float64{}, Documents: list})
	}
}

// hold puts the documentation of a tool before the model instead of its call,
// where the model does not have it as it is now: the call is made again.
func (o offerer) hold(ctx context.Context, view *agent.Run, c agent.OpenCall) (held bool) {
	list := o.unread(ctx, view, []string{c.Name}, 2*maxDocument)
	if len(list) == 0 {
		return false
	}
	again := "Nothing was done yet: read the documentation of " + c.Name + " first, which follows. Then make the call as it says."
	if slices.ContainsFunc(view.Strands.Of(o.lease.Strand).Documents, func(d agent.Document) bool { return d.Tool == c.Name }) {
		again = "Nothing was done: the documentation of " + c.Name + " has changed, and follows as it is now. Make the call as it says."
	}
	o.event(agent.ToolsOffered{Names: []string{}, Scores: []float64{}, Documents: list})
	o.reply(c, again)
	return true
}

// unread is the documentation of those of the tools that have one which the
// strand's model was not shown as it is now, within so many bytes.
func (o offerer) unread(ctx context.Context, view *agent.Run, names []string, room int) []agent.Document {
	if _, works := o.lease.Strand.Task(); !works {
		return nil
	}
	var list []agent.Document
	for _, name := range names {
		tool, is := o.Tools.Tool(name)
		if !is {
			continue
		}
		text := documentationOf(ctx, tool)
		known := slices.ContainsFunc(view.Strands.Of(o.lease.Strand).Documents, func(d agent.Document) bool {
			return d.Tool == name && d.Hash == hashOf(text)
		})
		if text == "" || known {
			continue
		}
		d := agent.Document{Tool: name, Hash: hashOf(text), Text: artifact.Head(text, maxDocument)}
		if len(d.Text) < len(text) {
			d.Text += "\n[… the rest is left out; the schema of the arguments is whole …]"
		}
		if room -= len(d.Text); room < 0 {
			break // it is shown before the first call
		}
		list = append(list, d)
	}
	return list
}

// documentationOf is what is written about a tool, empty: nothing.
func documentationOf(ctx context.Context, tool agent.Tool) string {
	d, says := tool.(agent.Documented)
	if !says {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, documentWait)
	defer cancel()
	return d.Documentation(ctx)
}

// hashOf tells documentations apart.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
