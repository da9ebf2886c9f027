package data

// A query drawn as a chart.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Drawer is the tool that draws charts: plot.
type Drawer interface {
	agent.Tool
	agent.Preparer
}

// chart is the tool chart_data.
type chart struct {
	s    *Space
	draw Drawer
}

// Spec describes the tool.
func (chart) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "chart_data",
		Description: "Draws the rows of a SELECT on a dataset as a PNG in the workspace: the first column are the labels (or x), the second the values. " +
			"Of one column the values alone are drawn.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["dataset","sql","kind","path"],"properties":{` + setSchema + `,
			"sql":{"type":"string","minLength":1,"maxLength":20000},
			"parameters":{"type":"object","description":"Values of :name in the SQL"},
			"kind":{"type":"string","enum":["bar","line","scatter","pie","histogram"]},
			"title":{"type":"string","maxLength":300},
			"path":{"type":"string","minLength":1,"description":"PNG file, relative to the workspace, for example charts/sales.png"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatIdempotent,
		Example: json.RawMessage(`{"dataset":"sales","sql":"SELECT region, sum(total) FROM orders GROUP BY region","kind":"bar","title":"Sales by region","path":"charts/sales.png"}`),
	}
}

// drawing is the call of plot that a call means.
func (t chart) drawing(ctx context.Context, c agent.Call, rows bool) (agent.Call, error) {
	var a struct {
		arguments
		Kind  string `json:"kind"`
		Title string `json:"title"`
	}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return c, fmt.Errorf("the arguments do not fit: %w", err)
	}
	args := map[string]any{"kind": a.Kind, "title": a.Title, "path": a.Path, "values": []any{}}
	if rows {
		_, _, err := t.s.Use(ctx, c, a.Dataset, func(set *Set) (string, error) {
			found, err := set.Query(a.SQL, a.Parameters, MaxRows)
			if err == nil {
				err = series(found, args)
			}
			return "", err
		})
		if err != nil {
			return c, err
		}
	}
	text, err := format.JSON(args)
	c.Arguments, c.Tool = text, t.draw.Spec().Name
	return c, err
}

// series puts the rows into the arguments of plot.
func series(found Rows, args map[string]any) error {
	if len(found.Values) == 0 {
		return errors.New("the query gives no rows to draw")
	}
	if len(found.Columns) > 2 {
		return fmt.Errorf("the query gives %d columns; select the labels and the values", len(found.Columns))
	}
	labels, values := []any{}, []any{}
	for _, row := range found.Values {
		if row[len(row)-1] == nil {
			continue
		}
		values = append(values, row[len(row)-1])
		if len(row) == 2 {
			labels = append(labels, fmt.Sprint(row[0]))
		}
	}
	args["values"], args["y_label"] = values, found.Columns[len(found.Columns)-1]
	if len(labels) > 0 {
		args["labels"], args["x_label"] = labels, found.Columns[0]
	}
	return nil
}

// Prepare says what drawing would do to the path.
func (t chart) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	drawing, err := t.drawing(ctx, c, false)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("chart_data: %w", err)
	}
	return t.draw.Prepare(ctx, drawing)
}

// Run queries and draws.
func (t chart) Run(ctx context.Context, c agent.Call) agent.Result {
	drawing, err := t.drawing(ctx, c, true)
	if err != nil {
		return agent.Failed("chart_data: " + err.Error())
	}
	return t.draw.Run(ctx, drawing)
}
