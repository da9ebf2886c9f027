// Package playbooks defines `deckhand playbook`, and makes what `run --playbook` and
// `run --steps` begin a run with.
package playbooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/plan"
	"github.com/deckhand-bot/deckhand/agent/playbook"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/source"
)

// Host is the program that the commands belong to.
type Host struct {
	Out, Err io.Writer
	JSON     *bool // --json, once the flags are read
	Load     func() (config.Config, error)
	// Single accepts one argument, and says what to do about another number.
	Single func(what, hint string) cobra.PositionalArgs
	// Usage is an error of the command line, Fail one without words of its own.
	Usage     func(format string, args ...any) error
	Fail      func() error
	Printable func(text string) string
}

// Command is `deckhand playbook`.
func Command(h Host) *cobra.Command {
	c := &cobra.Command{Use: "playbook", Short: "How the team works: playbooks and roles as files"}
	list := &cobra.Command{
		Use: "list", Short: "List the playbooks, and what is wrong in files; exit 1 where something is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return h.list(cmd.Context()) },
	}
	show := &cobra.Command{
		Use: "show NAME", Short: "Show a playbook: its inputs and stages, and the roles in it; with --json its plan",
		Args: h.Single("NAME", "`deckhand playbook list` names them"),
		RunE: func(cmd *cobra.Command, args []string) error { return h.show(cmd.Context(), args[0]) },
	}
	c.AddCommand(list, show)
	return c
}

// shelf reads everything, and holds it against the tools that there are.
func shelf(ctx context.Context, c config.Config) (*playbook.Library, []playbook.Fault, *source.Registry, error) {
	box, err := kit.NewTools(c)
	if err != nil {
		return nil, nil, nil, err
	}
	box.Load(ctx)
	l, faults := kit.NewShelf(c, nil).Read()
	return l, append(faults, l.Check(names(box))...), box, nil
}

func names(box *source.Registry) []string {
	var list []string
	for _, s := range box.Specs() {
		list = append(list, s.Name)
	}
	return list
}

// line is a playbook as --json lists it.
type line struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	When        string   `json:"when,omitempty"`
	Stages      []string `json:"stages"`
	File        string   `json:"file"`
}

func (h Host) list(ctx context.Context) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	l, faults, box, err := shelf(ctx, cfg)
	if err != nil {
		return err
	}
	defer box.Close()
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	enc := format.Encoder(h.Out)
	for _, b := range l.Playbooks {
		if *h.JSON {
			v := line{Name: b.Name, Description: b.Description, When: b.When, File: b.File}
			for _, s := range b.Stages {
				v.Stages = append(v.Stages, s.Name)
			}
			if err := enc.Encode(v); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", b.Name, h.Printable(b.Description), h.Printable(b.File))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range faults {
		fmt.Fprintln(h.Err, h.Printable(f.String()))
	}
	if len(faults) > 0 {
		return h.Fail()
	}
	return nil
}

func (h Host) show(ctx context.Context, name string) error {
	cfg, err := h.Load()
	if err != nil {
		return err
	}
	l, _, box, err := shelf(ctx, cfg)
	if err != nil {
		return err
	}
	defer box.Close()
	b, known := l.Playbook(name)
	if !known {
		return h.Usage("there is no playbook %q%s: `deckhand playbook list` names them", name, l.Nearest(name))
	}
	if *h.JSON {
		example := map[string]string{}
		for _, in := range b.Inputs {
			if in.Default == nil {
				example[in.Name] = "<" + in.Name + ">"
			}
		}
		p, err := l.Complete(agent.Plan{Playbook: name}, example, names(box))
		if err != nil {
			return h.Usage("%w", err)
		}
		p, _ = plan.Check(p, plan.Options{})
		return format.Encoder(h.Out).Encode(p)
	}
	_, err = io.WriteString(h.Out, h.told(l, b))
	return err
}

// told is a playbook in words.
func (h Host) told(l *playbook.Library, b playbook.Playbook) string {
	var s strings.Builder
	say := func(f string, args ...any) { s.WriteString(h.Printable(fmt.Sprintf(f, args...)) + "\n") }
	say("%s (%s)", b.Name, b.File)
	say("%s", b.Description)
	if b.When != "" {
		say("It fits when: %s", strings.TrimSpace(b.When))
	}
	for _, in := range b.Inputs {
		if in.Default == nil {
			say("Input %s: %s (has to be given: --input %s=…)", in.Name, in.Description, in.Name)
		} else {
			say("Input %s: %s; by itself %s", in.Name, in.Description, *in.Default)
		}
	}
	var roles []string
	for i, st := range b.Stages {
		roles = append(roles, st.Role, st.Reviewer)
		say("\n%d. %s, by the role %s", i+1, st.Name, st.Role)
		if st.Title != "" {
			say("   %s", st.Title)
		}
		for _, in := range st.In {
			say("   takes %s", in.Name)
		}
		for _, out := range st.Out {
			say("   gives %s", strings.TrimSpace(out.Name+" "+out.Type))
		}
		if st.Check != nil {
			say("   checked by the %s", st.Check.Says())
		}
		if st.Reviewer != "" {
			say("   reviewed by the role %s", st.Reviewer)
		}
	}
	s.WriteString("\nRoles:\n")
	slices.Sort(roles)
	for _, name := range slices.Compact(roles) {
		if r, known := l.Role(name); known {
			say("  %s: %s (%s)", r.Name, r.Description, r.File)
		}
	}
	return s.String()
}

// Order is what a run is to begin with: a playbook with its inputs, or steps.
type Order struct {
	Playbook string
	Inputs   []string // NAME=VALUE
	Steps    string   // the text of the steps
}

// errPlan is the cause where a plan cannot be worked here.
var errPlan = errors.New("the plan cannot be worked here")

// Begin is what a run begins with, nil: the model plans. What would stop the run is
// said before it starts.
func Begin(ctx context.Context, c config.Config, goal string, o Order) (agent.Body, error) {
	if o.Playbook == "" && o.Steps == "" {
		if len(o.Inputs) > 0 {
			return nil, errors.New("--input is for a playbook: name it with --playbook")
		}
		return nil, nil //nolint:nilnil // nothing is no error
	}
	if o.Playbook != "" && o.Steps != "" {
		return nil, errors.New("--playbook and --steps: a run follows one of them")
	}
	l, faults, box, err := shelf(ctx, c)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	p := agent.Plan{Playbook: o.Playbook}
	by, inputs := "steps", map[string]string{}
	if o.Steps != "" {
		if p, err = playbook.Steps(o.Steps); err != nil {
			return nil, err
		}
	} else {
		by = "playbook " + o.Playbook
		if inputs, err = pairs(o.Inputs); err != nil {
			return nil, err
		}
		if err := unusable(l, o.Playbook, faults); err != nil {
			return nil, err
		}
	}
	whole, err := l.Complete(p, inputs, names(box))
	if err != nil {
		return nil, err
	}
	_, found := plan.Check(whole, plan.Options{Goal: goal, GoalInputs: []string{"text"}, Tools: box.Specs(), Lacks: lacks(box)})
	for _, f := range found {
		if f.Severity == agent.SeverityError {
			err = errors.Join(err, fmt.Errorf("%w: %s: %s", errPlan, f.Code, f.Message))
		}
	}
	if err != nil {
		return nil, err
	}
	return playbook.Given(by, p, inputs)
}

// unusable are the faults that concern a playbook, with its roles.
func unusable(l *playbook.Library, name string, faults []playbook.Fault) error {
	b, known := l.Playbook(name)
	files := []string{b.File}
	for _, s := range b.Stages {
		for _, role := range []string{s.Role, s.Reviewer} {
			if r, is := l.Role(role); is {
				files = append(files, r.File)
			}
		}
	}
	var err error
	for _, f := range faults {
		if !known || slices.Contains(files, f.File) {
			err = errors.Join(err, errors.New(f.String()))
		}
	}
	return err
}

// lacks says what is missing here for a check.
func lacks(box *source.Registry) func(c agent.Check) string {
	tool, _ := box.Tool(agent.ToolCheck)
	if l, says := tool.(interface{ Lacks(c agent.Check) string }); says {
		return l.Lacks
	}
	return nil
}

// pairs reads NAME=VALUE.
func pairs(list []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range list {
		name, value, is := strings.Cut(text, "=")
		if !is || name == "" {
			return nil, fmt.Errorf("--input %q: write NAME=VALUE", text)
		}
		all[name] = value
	}
	return all, nil
}
