package web

// The tool web_search.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools"
)

type search struct{ searching }

// usualResults are so many results where nobody says how many.
const usualResults = 8

// Spec describes web_search.
func (search) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "web_search",
		Description: "Searches the web and returns titles, addresses and excerpts. browse_website reads what is found.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{
			"query":{"type":"string","minLength":1,"maxLength":400,"description":"A few words, as one would type them"},
			"limit":{"type":"integer","minimum":1,"maximum":20,"description":"Default 8"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead, Open: true, Trust: agent.Untrusted, Timeout: 2 * time.Minute,
		Example: json.RawMessage(`{"query":"go 1.26 release notes","limit":5}`),
	}
}

// Run asks the engine.
func (s search) Run(ctx context.Context, c agent.Call) agent.Result {
	a := struct {
		Query string      `json:"query"`
		Limit tools.Whole `json:"limit"`
	}{Limit: usualResults}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return agent.Failed("web_search: the arguments do not fit: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	found, err := s.ask(ctx, strings.TrimSpace(a.Query), int(a.Limit))
	if err != nil {
		return agent.Failed("web_search: " + err.Error())
	}
	if len(found) == 0 {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: fmt.Sprintf("nothing was found for %q: use other words", a.Query)}
	}
	var b strings.Builder
	for i, f := range found {
		fmt.Fprintf(&b, "%d. %s\n   <%s>\n", i+1, format.Visible(format.Line(f.Title, 200)), format.Visible(format.Line(f.URL, 1000)))
		if f.Excerpt != "" {
			fmt.Fprintf(&b, "   %s\n", format.Visible(format.Line(f.Excerpt, 500)))
		}
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: strings.TrimRight(b.String(), "\n")}
}
