package policy

// The policy: the rules of every installation, those of this one, and those of
// the run's autonomy, in the order in which they count.

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
)

// shippedVersion names the shipped rules as far as what was approved under others
// is to be asked for again. A rule that asks more often than before changes nothing
// for a call that people were asked about.
const shippedVersion = "default-2"

//go:embed base.yaml suggest.yaml ask-each.yaml ask-risky.yaml within-budget.yaml
var shipped embed.FS

// layers are the shipped policies by name.
var layers = sync.OnceValue(func() map[string]*layer {
	all := map[string]*layer{}
	for _, name := range []string{"base", string(agent.Suggest), string(agent.AskEach), string(agent.AskRisky), string(agent.WithinBudget)} {
		data, err := shipped.ReadFile(name + ".yaml")
		if err != nil {
			panic(err) // it is part of the program
		}
		f, err := read("policy/"+name+".yaml", data, true)
		if err != nil {
			panic(err)
		}
		all[name] = newLayer(f)
	}
	return all
})

// Options are what an installation adds to the shipped rules.
type Options struct {
	// Everywhere are the rules of the whole installation, nil: none.
	Everywhere *File
	// Places are the rules of places ("platform:workspace:channel", or
	// "platform:workspace"); they stand before those of the whole installation.
	Places map[string]*File
	// Role says what the requester of a run is; nil: by the run alone.
	Role func(r *agent.Run) string
}

// Policy decides about calls. It is pure and safe for many goroutines.
type Policy struct {
	everywhere *layer
	places     map[string]*layer
	role       func(r *agent.Run) string
}

// New is the policy of an installation.
func New(o Options) *Policy {
	p := &Policy{places: map[string]*layer{}, role: o.Role}
	if p.role == nil {
		p.role = RoleOf
	}
	if o.Everywhere != nil {
		p.everywhere = newLayer(o.Everywhere)
	}
	for place, f := range o.Places {
		p.places[place] = newLayer(f)
	}
	return p
}

// Default is the policy of an installation without rules of its own.
type Default struct{}

var plain = sync.OnceValue(func() *Policy { return New(Options{}) })

// Permit decides about a call.
func (Default) Permit(r *agent.Run, a agent.Act) agent.Permission { return plain().Permit(r, a) }

// own are the layers of the installation that count for a run, the most
// particular first.
func (p *Policy) own(r *agent.Run) (list []*layer) {
	if len(p.places) > 0 {
		place := placeOf(r)
		for ; place != ""; place = place[:max(0, strings.LastIndexByte(place, ':'))] {
			if l := p.places[place]; l != nil {
				list = append(list, l)
			}
		}
	}
	if p.everywhere != nil {
		list = append(list, p.everywhere)
	}
	return list
}

// Version names the rules that are in force for a run.
func (p *Policy) Version(r *agent.Run) string {
	return versionOf(p.own(r))
}

func versionOf(own []*layer) string {
	version := make([]string, 1, 1+len(own))
	version[0] = shippedVersion
	for _, l := range own {
		version = append(version, l.file.hash[:12])
	}
	return strings.Join(version, "+")
}

// Permit decides about a call. A denial of any rule goes before everything else;
// otherwise the first rule that is about the call decides: the base, the rules of
// the place, those of the installation, those of the run's autonomy. What none is
// about and would change something is denied.
func (p *Policy) Permit(r *agent.Run, a agent.Act) agent.Permission {
	own := p.own(r)
	x := &call{run: r, act: a, version: versionOf(own), role: p.role}
	found := decision{x: x}
	all := layers()
	found.look(all["base"])
	open := true
	for _, l := range own {
		found.look(l)
		open = open && !l.file.Closed
	}
	if level, known := all[string(autonomyOf(r))]; known {
		if open || autonomyOf(r) == agent.Suggest {
			found.look(level)
		}
	} else if a.Class != agent.ClassRead {
		found.deny(agent.Permission{Verdict: agent.Deny, Rule: "unknown-autonomy", Version: x.version,
			Reason: fmt.Sprintf("the run's autonomy %q is unknown, so %s is not run; it must be suggest, ask-each, ask-risky or within-budget", r.Brief.Autonomy, a.Tool.Name)})
	}
	word := found.word(a)
	word.Journal = len(own) > 0
	return word
}

// decision is what the rules that were looked at come to.
type decision struct {
	x      *call
	first  *agent.Permission // of the first rule that is about the call
	stands bool              // it is a denial: nothing goes before it
}

func (d *decision) deny(p agent.Permission) {
	if !d.stands {
		d.first, d.stands = &p, true
	}
}

// look looks at the rules of a layer.
func (d *decision) look(l *layer) {
	if d.stands {
		return
	}
	if d.x.zone != l.file.Zone {
		d.x.zone, d.x.known, d.x.words = l.file.Zone, nil, nil
	}
	l.each(d.x.act.Tool.Name, d.x.class(), func(u *Rule) (more bool) {
		if !d.changedBy(u.Effect) {
			return true
		}
		detail, is := u.holds(d.x)
		if !is {
			return true
		}
		word := u.permission(d.x, detail)
		switch {
		case u.Effect == agent.Deny:
			d.deny(word)
			return false
		case d.first == nil:
			d.first = &word
		case word.Verdict == agent.Ask && saysWhom(word): // asked already: of whom is said here
			d.first.Approvers, d.first.Quorum, d.first.Expires = word.Approvers, word.Quorum, word.Expires
		}
		return true
	})
}

// changedBy reports whether a rule of an effect could still change the decision: a
// denial always, another one where there is none yet, and one that asks where it
// is asked without a word of whom.
func (d *decision) changedBy(effect agent.Verdict) bool {
	if effect == agent.Deny || d.first == nil {
		return true
	}
	return effect == agent.Ask && d.first.Verdict == agent.Ask && !saysWhom(*d.first)
}

// saysWhom reports whether a question says who is to answer it.
func saysWhom(p agent.Permission) bool { return p.Quorum > 0 || len(p.Approvers) > 0 }

// word is the decision: what no rule is about is denied where it would change something.
func (d *decision) word(a agent.Act) agent.Permission {
	switch {
	case d.first != nil:
		return *d.first
	case a.Class == agent.ClassRead:
		return agent.Permission{Verdict: agent.Allow, Rule: "reads", Version: d.x.version}
	}
	return agent.Permission{Verdict: agent.Deny, Rule: "default", Version: d.x.version,
		Reason: fmt.Sprintf("no rule of this installation allows %s", a.Tool.Name)}
}

// layer is a file's rules, found by tool and class.
type layer struct {
	file  *File
	tools map[string][]int // of rules that name their tools: places in file.Rules
	class map[string][]int // of the others
}

func newLayer(f *File) *layer {
	l := &layer{file: f, tools: map[string][]int{}, class: map[string][]int{}}
	for i, u := range f.Rules {
		if names := u.named(); names != nil {
			for _, name := range names {
				l.tools[name] = append(l.tools[name], i)
			}
			continue
		}
		of := u.Classes
		if len(of) == 0 {
			of = classes
		}
		for _, c := range of {
			l.class[c] = append(l.class[c], i)
		}
	}
	return l
}

// each goes through the rules that may be about a call, in their order.
func (l *layer) each(tool, class string, do func(u *Rule) (more bool)) {
	named, others := l.tools[tool], l.class[class]
	for len(named)+len(others) > 0 {
		var i int
		if len(others) == 0 || len(named) > 0 && named[0] < others[0] {
			i, named = named[0], named[1:]
		} else {
			i, others = others[0], others[1:]
		}
		if u := l.file.Rules[i]; u.about(tool, class) && !do(u) {
			return
		}
	}
}
