package gate

// Put before goals and calls, behind results, and at reports.

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Words tells people that something was refused.
func (r Refusal) Words() string {
	return "Refused: " + r.Reason + ". This does not go by who asks or why, and no model decides it (rule " + r.Rule + ")."
}

// Goal is what is written into the journal of a run whose goal is prohibited, in
// place of any work; nil: nothing is.
func (g *Gate) Goal(goal string) []agent.Body {
	r, refused := g.Asks(goal)
	if !refused {
		return nil
	}
	return []agent.Body{
		agent.Finding{Rule: r.Rule, Severity: agent.FindingInfo, Strand: agent.Main, Events: []uint64{1}, Message: "the goal is prohibited: " + r.Reason},
		agent.Reported{Headline: "I do not do this", Body: r.Words(), Artifacts: agent.Texts{}, Skipped: agent.Texts{}},
		agent.RunEnded{State: agent.RunFailed, Reason: r.Words(), Cost: new(agent.Nano)},
	}
}

// Policy is the policy with the gate before it: a call whose arguments ask for
// what is prohibited, or tell how to, is denied.
func (g *Gate) Policy(p agent.Policy) agent.Policy { return gatedPolicy{p, g} }

type gatedPolicy struct {
	agent.Policy
	gate *Gate
}

// Permit implements agent.Policy.
func (p gatedPolicy) Permit(r *agent.Run, a agent.Act) agent.Permission {
	if found, refused := p.gate.Either(texts(a.Arguments)); refused {
		return agent.Permission{Verdict: agent.Deny, Rule: found.Rule, Reason: found.Reason + "; do not try it in other words, and say so in the report"}
	}
	return p.Policy.Permit(r, a)
}

// Result is a tool's result, unless it is untrusted and tells how to do what is
// prohibited: then it is withheld.
func (g *Gate) Result(r agent.Result) agent.Result {
	if r.Trust == agent.Trusted {
		return r
	}
	if found, refused := g.Tells(r.Text); refused {
		r.State, r.Trust = agent.OutcomeError, agent.Trusted
		r.Text = "error: the result was withheld (" + found.Rule + "): " + found.Reason + "; go on without it, and say so in the report"
	}
	return r
}

// Model is the model with the gate behind its reports and its answers to people:
// each text in them that tells how to do what is prohibited is replaced.
func (g *Gate) Model(m llm.Model) llm.Model { return gatedModel{m, g} }

type gatedModel struct {
	llm.Model
	gate *Gate
}

// reporting are the purposes whose answers people read.
var reporting = []llm.Purpose{llm.Intake, llm.Report, llm.Hear}

// Complete implements llm.Model.
func (m gatedModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := m.Model.Complete(ctx, r)
	if err != nil || !slices.Contains(reporting, r.Purpose) {
		return resp, err
	}
	resp.Message.Content = m.clean(resp.Message.Content)
	calls := slices.Clone(resp.Message.Calls)
	for i, c := range calls {
		var value any
		if json.Unmarshal([]byte(c.Arguments), &value) != nil {
			calls[i].Arguments = m.clean(c.Arguments)
			continue
		}
		if _, refused := m.gate.Tells(texts([]byte(c.Arguments))); !refused {
			continue
		}
		clean, err := format.JSON(m.cleanValue(value))
		if err != nil {
			return llm.Response{}, err
		}
		calls[i].Arguments = string(clean)
	}
	resp.Message.Calls = calls
	return resp, nil
}

func (m gatedModel) clean(text string) string {
	if r, refused := m.gate.Tells(text); refused {
		return r.Words()
	}
	return text
}

// cleanValue replaces the texts of a value that tell too much.
func (m gatedModel) cleanValue(value any) any {
	switch v := value.(type) {
	case string:
		return m.clean(v)
	case []any:
		for i := range v {
			v[i] = m.cleanValue(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = m.cleanValue(v[k])
		}
	}
	return value
}

// texts are the texts of a JSON value, one after the other; of what is no JSON
// the text itself.
func texts(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	var all []byte
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(append(all, v...), '\n')
		case []any:
			for _, e := range v {
				add(e)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				add(v[k])
			}
		}
	}
	add(value)
	return string(all)
}
