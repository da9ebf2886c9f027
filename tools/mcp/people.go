package mcp

// This file carries what a server says and asks while a call goes on: how far it
// is, and questions for people.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Bounds of a question of a server's.
const (
	maxQuestions = 5
	maxChoices   = 10
	maxChoice    = 60  // characters
	maxAsked     = 500 // characters
)

// callsUnderWay are those of one connection.
type callsUnderWay struct {
	mu   sync.Mutex
	list map[string]agent.Call // by progress token
}

// token names a call to its server.
func token(c agent.Call) string { return string(c.Run) + "/" + string(c.Effect) }

// begin notes a call until it ends.
func (u *callsUnderWay) begin(c agent.Call) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = map[string]agent.Call{}
	}
	u.list[token(c)] = c
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.list, token(c))
	}
}

// of is the call of the token.
func (u *callsUnderWay) of(token any) (agent.Call, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	name, _ := token.(string)
	c, is := u.list[name]
	return c, is
}

// only is the one call that can have a question; none where several could: a
// question does not say which call it is of.
func (u *callsUnderWay) only() (agent.Call, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.list) != 1 {
		return agent.Call{}, false
	}
	for _, c := range u.list {
		return c, c.Ask != nil
	}
	return agent.Call{}, false
}

// progressed passes on how far a call is.
func (n *session) progressed(p *mcp.ProgressNotificationParams, hide func(string) string) {
	c, is := n.calls.of(p.ProgressToken)
	if !is || c.Progress == nil {
		return
	}
	parts := []string(nil)
	if p.Total > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", number(p.Progress), number(p.Total)))
	}
	if p.Message != "" {
		parts = append(parts, hide(p.Message))
	}
	if len(parts) == 0 {
		parts = append(parts, number(p.Progress))
	}
	c.Progress(strings.Join(parts, ": "))
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// elicit puts a server's question to people in the thread of the run whose call is
// under way. Where nobody can be asked, the server is told so, and the call's
// result says it.
func (s *Server) elicit(ctx context.Context, n *session, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	c, is := n.calls.only()
	fields, readable := fieldsOf(p.RequestedSchema)
	if !is || !readable || p.URL != "" {
		return n.decline(p)
	}
	title := fmt.Sprintf("The tool server %s asks: %s", s.c.Name, format.Line(format.Visible(s.hidden.hide(p.Message)), maxAsked))
	answers, answered := c.Ask(ctx, title, questionsOf(fields, p.Message))
	if !answered {
		return n.decline(p)
	}
	content, fits := contentOf(fields, answers)
	if !fits {
		return n.decline(p)
	}
	if len(fields) == 0 && !agrees(answers[confirms]) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// decline answers a question that nobody is asked, and has the call say so.
func (n *session) decline(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	select {
	case n.asked <- p.Message:
	default:
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

// field is one value that a server asks for.
type field struct {
	name     string
	Type     string            `json:"type"`
	Title    string            `json:"title"`
	About    string            `json:"description"`
	Enum     []json.RawMessage `json:"enum"`
	required bool
}

// fieldsOf reads the flat schema of a question; false: it is none that people can
// be asked by.
func fieldsOf(schema any) (fields []field, readable bool) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, false
	}
	var s struct {
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	}
	if string(text) != "null" && json.Unmarshal(text, &s) != nil || len(s.Properties) > maxQuestions {
		return nil, false
	}
	for name, f := range s.Properties {
		if !slices.Contains([]string{"string", "number", "integer", "boolean"}, f.Type) {
			return nil, false
		}
		f.name, f.required = name, slices.Contains(s.Required, name)
		fields = append(fields, f)
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return fields, true
}

// confirms is the id of the question whether somebody agrees.
const confirms = "agree"

// questionsOf are the fields as questions to people.
func questionsOf(fields []field, message string) []agent.Question {
	if len(fields) == 0 {
		return []agent.Question{{ID: confirms, Question: format.Line(format.Visible(message), maxAsked), Choices: []string{"yes", "no"}}}
	}
	list := make([]agent.Question, len(fields))
	for i, f := range fields {
		q := agent.Question{ID: f.name, Question: format.Line(format.Visible(strings.TrimSpace(f.Title+" "+f.About)), maxAsked)}
		if q.Question == "" {
			q.Question = format.Line(format.Visible(f.name), maxChoice)
		}
		if f.Type == "boolean" {
			q.Choices = []string{"yes", "no"}
		}
		for _, e := range f.Enum[:min(len(f.Enum), maxChoices)] {
			q.Choices = append(q.Choices, format.Line(format.Visible(plainly(e)), maxChoice))
		}
		list[i] = q
	}
	return list
}

// plainly is a JSON value as people write it.
func plainly(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

func agrees(answer string) bool {
	return slices.Contains([]string{"yes", "y", "true", "ok", "ja", "oui", "si", "sí"}, strings.ToLower(strings.TrimSpace(answer)))
}

// contentOf are people's answers as values of the fields; false: one that is
// needed is missing, or does not fit.
func contentOf(fields []field, answers map[string]string) (content map[string]any, fits bool) {
	content = map[string]any{}
	for _, f := range fields {
		answer := strings.TrimSpace(answers[f.name])
		if answer == "" {
			if f.required {
				return nil, false
			}
			continue
		}
		value, fits := f.value(answer)
		if !fits {
			return nil, false
		}
		content[f.name] = value
	}
	return content, true
}

// value is an answer as the field's type has it.
func (f field) value(answer string) (v any, fits bool) {
	if len(f.Enum) > 0 {
		i := slices.IndexFunc(f.Enum, func(e json.RawMessage) bool { return strings.EqualFold(plainly(e), answer) })
		if i < 0 {
			return nil, false
		}
		return plainly(f.Enum[i]), true
	}
	switch f.Type {
	case "boolean":
		return agrees(answer), true
	case "integer":
		n, err := strconv.ParseInt(answer, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(answer, 64)
		return n, err == nil
	}
	return answer, true
}
