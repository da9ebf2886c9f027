package loop

import (
	"context"
	"fmt"
	"strings"

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
func (o offerer) answer(ctx context.Context, c agent.OpenCall, a wanted) {
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
	documentation := ""
	if d, says := tool.(agent.Documented); says {
		documentation = d.Documentation(ctx)
	}
	o.event(agent.ToolsOffered{Query: name, Names: []string{name}, Scores: []float64{1}})
	o.reply(c, "The tool, in the words of whoever made it:\n"+prompt.Frame(artifact.Head(tool.Spec().Help(documentation), artifact.MaxText), agent.Untrusted))
}
