package policy

// The rules that are in force, for people.

import "github.com/deckhand-bot/deckhand/agent"

// Line is a rule that is in force.
type Line struct {
	Rule   string `json:"rule"`
	Effect string `json:"effect"`
	Says   string `json:"says"`
	From   string `json:"from"` // the file
	Line   int    `json:"line"`
	When   string `json:"when,omitempty"`
	Own    bool   `json:"own"` // of the installation, not shipped
}

// Rules are the rules that count for a run, in their order.
func (p *Policy) Rules(r *agent.Run) (list []Line) {
	own := p.own(r)
	add := func(l *layer, is bool) {
		for _, u := range l.file.Rules {
			list = append(list, Line{u.Name, string(u.Effect), u.Says(), u.File, u.Line, u.When, is})
		}
	}
	all := layers()
	add(all["base"], false)
	open := true
	for _, l := range own {
		add(l, true)
		open = open && !l.file.Closed
	}
	if level, known := all[string(autonomyOf(r))]; known && (open || autonomyOf(r) == agent.Suggest) {
		add(level, false)
	}
	return list
}
