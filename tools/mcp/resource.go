package mcp

// This file makes a server's resources readable: two tools beside its own, one
// lists them and one reads them.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// The names of the tools for resources. A server's own tool of that name wins.
const (
	listResources = "list_resources"
	readResource  = "read_resource"
)

// resourceTools are the tools for a server's resources whose names are free.
func (s *Server) resourceTools(taken map[string]bool) []agent.Tool {
	var list []agent.Tool
	if !taken[listResources] {
		list = append(list, tool{server: s, call: listed, spec: s.spec(listResources,
			"Lists the resources of "+s.c.Name+": documents and records that "+readResource+" reads. Give the cursor of an earlier list for the rest of a long one.",
			json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"cursor":{"type":"string"}}}`))})
	}
	if !taken[readResource] {
		list = append(list, tool{server: s, call: read, spec: s.spec(readResource,
			"Reads one resource of "+s.c.Name+" by its URI, as "+listResources+" shows it.",
			json.RawMessage(`{"type":"object","additionalProperties":false,"required":["uri"],"properties":{"uri":{"type":"string","minLength":1,"maxLength":4096}}}`))})
	}
	return list
}

// listed lists resources, and the patterns of those that are made on demand.
func listed(ctx context.Context, now *session, c agent.Call) (answer, error) {
	var args struct {
		Cursor string `json:"cursor"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return answer{}, fmt.Errorf("the arguments do not fit: %w", err)
	}
	r, err := now.ListResources(ctx, &mcp.ListResourcesParams{Cursor: args.Cursor})
	if err != nil {
		return answer{}, err
	}
	var text strings.Builder
	for _, one := range r.Resources {
		fmt.Fprintf(&text, "%s  %s%s\n", one.URI, one.Name, about(one.MIMEType, one.Description))
	}
	if args.Cursor == "" {
		patterns, err := now.ListResourceTemplates(ctx, nil)
		if err == nil { // many servers have none, and some say so as an error
			for _, one := range patterns.ResourceTemplates {
				fmt.Fprintf(&text, "%s  %s%s (fill in the parts in braces)\n", one.URITemplate, one.Name, about(one.MIMEType, one.Description))
			}
		}
	}
	if r.NextCursor != "" {
		fmt.Fprintf(&text, "There are more: cursor %q\n", r.NextCursor)
	}
	if text.Len() == 0 {
		text.WriteString("There are no resources now.")
	}
	return answer{text: text.String()}, nil
}

// about is what a list says of a resource beside its name.
func about(kind, description string) string {
	text := ""
	if kind != "" {
		text = " [" + kind + "]"
	}
	if description != "" {
		text += ": " + format.Line(description, 200)
	}
	return text
}

// read reads one resource.
func read(ctx context.Context, now *session, c agent.Call) (answer, error) {
	var args struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return answer{}, fmt.Errorf("the arguments do not fit: %w", err)
	}
	r, err := now.ReadResource(ctx, &mcp.ReadResourceParams{URI: args.URI})
	if err != nil {
		return answer{}, err
	}
	if len(r.Contents) == 0 {
		return answer{}, errors.New("the resource is empty")
	}
	return answer{resources: r.Contents}, nil
}
