package pack

// Kind script: JavaScript, by the engine of run_code.

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/data"
)

// computing runs tools of kind script.
type computing struct {
	engine agent.Tool // run_code
	space  *data.Space
}

func (q computing) run(ctx context.Context, t tool, c agent.Call, args map[string]any) (agent.Result, error) {
	input := map[string]any{"args": args}
	if t.d.Script.SQL != "" {
		_, _, err := q.space.Use(ctx, c, t.p.Name, func(set *data.Set) (string, error) {
			found, err := set.Query(t.d.Script.SQL, t.bound(c, args), data.MaxRows)
			input["rows"] = found.Objects()
			return "", err
		})
		if err != nil {
			return agent.Result{}, err
		}
	}
	raw, err := format.JSON(map[string]any{"code": t.d.Script.text, "input": input})
	if err != nil {
		return agent.Result{}, err
	}
	inner := c
	inner.Tool, inner.Arguments = q.engine.Spec().Name, json.RawMessage(raw)
	r := q.engine.Run(ctx, inner)
	if r.State != agent.OutcomeOK {
		text := strings.TrimPrefix(strings.TrimPrefix(r.Text, "error: "), inner.Tool+": ")
		text = strings.TrimPrefix(text, "the program failed: ")
		return r, errors.New(text)
	}
	r.Trust = t.trust()
	return r, nil
}
