package pack

// Kind data: SQL over the pack's dataset. A read works on a copy; a change is kept
// in the run's own dataset of the pack's name.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/data"
)

// querying runs tools of kind data.
type querying struct{ space *data.Space }

func (q querying) run(ctx context.Context, t tool, c agent.Call, args map[string]any) (agent.Result, error) {
	r := agent.Result{State: agent.OutcomeOK, Trust: t.trust()}
	do := func(set *data.Set) (string, error) { return t.query(set, c, args) }
	var err error
	if t.d.Effect == "read" {
		r.Text, _, err = q.space.Use(ctx, c, t.p.Name, do)
		return r, err
	}
	var file string
	r.Text, file, err = q.space.Change(ctx, c, t.p.Name, false, do)
	r.Files = []string{file}
	return r, err
}

// bound are the arguments as SQL has them: all that the tool takes, and what every
// statement may ask for.
func (t tool) bound(c agent.Call, args map[string]any) map[string]any {
	now := time.Now().UTC()
	all := map[string]any{"person": c.Person, "now": now.Format(time.RFC3339), "today": now.Format(time.DateOnly), "call": string(c.Effect)}
	for _, name := range t.d.names {
		all[name] = nil
	}
	maps.Copy(all, args)
	return all
}

// query holds the requirements, runs the statements and returns the last one's rows.
func (t tool) query(set *data.Set, c agent.Call, args map[string]any) (string, error) {
	bound := t.bound(c, args)
	if err := t.required(set, bound, args); err != nil {
		return "", err
	}
	text := "done"
	for _, statement := range t.d.Data.SQL {
		if !selects(statement) {
			n, err := set.Exec(statement, bound)
			if err != nil {
				return "", err
			}
			text = format.Count(int(n), "row") + " changed"
			continue
		}
		found, err := set.Query(statement, bound, t.d.Data.Limit)
		if err != nil {
			return "", err
		}
		if text = found.Text(); len(found.Values) == 0 && t.d.Data.None != "" {
			text = filled(t.d.Data.None, args, flat)
		}
	}
	return text, nil
}

// selects reports whether a statement gives rows and changes nothing.
func selects(statement string) bool {
	word := strings.ToUpper(strings.TrimLeft(statement, " \t\r\n("))
	return strings.HasPrefix(word, "SELECT") || strings.HasPrefix(word, "WITH") || strings.HasPrefix(word, "VALUES")
}

// required is nil where each requirement gives a row.
func (t tool) required(set *data.Set, bound, args map[string]any) error {
	for _, r := range t.d.Data.Require {
		found, err := set.Query(r.SQL, bound, 1)
		if err != nil {
			return err
		}
		if len(found.Values) == 0 {
			return errors.New(filled(r.Else, args, flat))
		}
	}
	return nil
}

// changing is a tool of kind data that changes the dataset.
type changing struct {
	tool
	space *data.Space
}

// Prepare holds the requirements before anybody is asked, and shows what the change
// is about.
func (t changing) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	p, err := t.prepare(ctx, c)
	if err != nil {
		return p, fmt.Errorf("%s: %w", t.d.Name, err)
	}
	return p, nil
}

func (t changing) prepare(ctx context.Context, c agent.Call) (p agent.Prepared, err error) {
	args, err := decodeArguments(c.Arguments)
	if err != nil {
		return p, err
	}
	if p, err = t.space.Prepare(c, t.p.Name); err != nil {
		return p, err
	}
	p.Class = "" // as the definition says
	if t.spec.Class == agent.ClassSend {
		p.Changes, p.New = nil, false // what it stands for leaves the workspace
	}
	p.Preview = t.preview(args)
	shown, _, err := t.space.Use(ctx, c, t.p.Name, func(set *data.Set) (string, error) {
		bound := t.bound(c, args)
		if err := t.required(set, bound, args); err != nil || t.d.Data.Show == "" {
			return "", err
		}
		found, err := set.Query(t.d.Data.Show, bound, 5)
		return found.Text(), err
	})
	if shown != "" {
		p.Preview += "\n\n```\n" + strings.ReplaceAll(format.Visible(format.Cut(shown, 2000)), "```", "` ` `") + "\n```"
	}
	return p, err
}

// Probe reports whether the call's change was made.
func (t changing) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	done, err := t.space.Done(ctx, c, t.p.Name)
	return done, agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: "this was done before"}, err
}
