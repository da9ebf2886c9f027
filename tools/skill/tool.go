package skill

// This file is the tool by which a model reads a skill that fits.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// Tool is the tool read_skill.
type Tool struct{ Shelf *Shelf }

// Spec describes the tool.
func (Tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "read_skill",
		Description: "Reads a skill of this installation, a procedure that people wrote or accepted: its steps, and the names of its files. " +
			"With file the text of that file. Follow the steps where they fit the task.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["name"],"properties":{
			"name":{"type":"string","minLength":1,"maxLength":64},
			"file":{"type":"string","minLength":1,"maxLength":500,"description":"A file of the skill, as its list names it"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
	}
}

// Run reads.
func (t Tool) Run(_ context.Context, c agent.Call) agent.Result {
	var args struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Failed("read_skill: the arguments do not fit: " + err.Error())
	}
	k, is := t.Shelf.find(args.Name)
	if !is {
		names := make([]string, len(t.Shelf.list))
		for i, k := range t.Shelf.list {
			names[i] = k.Name
		}
		return agent.Failed(fmt.Sprintf("read_skill: there is no skill %q; there are %s", args.Name, strings.Join(names, ", ")))
	}
	if args.File != "" {
		data, err := readUpTo(k.dir, args.File, maxFile)
		if err != nil {
			return agent.Failed(fmt.Sprintf("read_skill: the file of %s cannot be read: %v", k.Name, err))
		}
		return agent.Result{State: agent.OutcomeOK, Text: string(data), Trust: agent.Trusted}
	}
	text := k.Steps
	if len(k.Files) > 0 {
		text += "\n\nFiles: " + strings.Join(k.Files, ", ")
	}
	return agent.Result{State: agent.OutcomeOK, Text: text, Trust: agent.Trusted}
}
