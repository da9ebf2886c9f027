package git

// The tools git_log and git_diff.

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

const pathProperty = `"path":{"type":"string","description":"The repository's folder in the workspace; default the workspace"}`

var logSpec = agent.ToolSpec{
	Name:        "git_log",
	Description: "Lists commits of a repository in the workspace, newest first: hash, date, author, subject.",
	Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` + pathProperty + `,
		"from":{"type":"string","description":"Branch, tag or commit; default the present one"},
		"file":{"type":"string","description":"Only commits that change it, relative to the repository"},
		"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"Default 20"}}}`),
	Class: agent.ClassRead, Repeat: agent.RepeatRead, Trust: agent.Untrusted, Timeout: 2 * lookTime,
	Example: json.RawMessage(`{"path":"example","limit":5}`),
}

var diffSpec = agent.ToolSpec{
	Name:        "git_diff",
	Description: "Shows what changed in a repository in the workspace: since its last commit with new files listed, or between two revisions.",
	Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` + pathProperty + `,
		"from":{"type":"string","description":"Revision; default the last commit"},
		"to":{"type":"string","description":"Revision; default the files as they are"},
		"file":{"type":"string","description":"Only this file or folder, relative to the repository"}}}`),
	Class: agent.ClassRead, Repeat: agent.RepeatRead, Trust: agent.Untrusted, Timeout: 3 * lookTime,
	Example: json.RawMessage(`{"path":"example","from":"HEAD~1"}`),
}

// question is what is asked about a repository.
type question struct {
	Path, From, To, File string
	Limit                tools.Whole
}

// logArguments are git's arguments, one command after the other.
func logArguments(q question) [][]string {
	if q.Limit == 0 {
		q.Limit = 20
	}
	return [][]string{append([]string{"log", "--max-count=" + strconv.Itoa(int(q.Limit)), "--date=iso", "--format=%h %ad %an: %s"}, q.rest(q.From)...)}
}

func diffArguments(q question) [][]string {
	diff := []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "--stat", "--patch"}
	if q.From == "" && q.To == "" {
		return [][]string{append([]string{"status", "--short", "--branch", "--ignore-submodules=all"}, q.rest()...), append(diff, q.rest("HEAD")...)}
	}
	from := q.From
	if from == "" {
		from = "HEAD"
	}
	return [][]string{append(diff, q.rest(from, q.To)...)}
}

// rest are revisions and the file.
func (q question) rest(revisions ...string) []string {
	var list []string
	for _, r := range revisions {
		if r != "" {
			list = append(list, r)
		}
	}
	list = append(list, "--")
	if q.File != "" {
		list = append(list, ":(literal)"+q.File)
	}
	return list
}

// look is a tool that changes nothing.
type look struct {
	git
	spec      agent.ToolSpec
	arguments func(q question) [][]string
}

// Spec describes the tool.
func (t look) Spec() agent.ToolSpec { return t.spec }

// Run asks git.
func (t look) Run(ctx context.Context, c agent.Call) agent.Result {
	text, err := t.look(ctx, c)
	if err != nil {
		return agent.Failed(t.spec.Name + ": " + err.Error())
	}
	if text == "" {
		text = "(nothing)"
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: text}
}

func (t look) look(ctx context.Context, c agent.Call) (string, error) {
	var q question
	if err := read(c, &q); err != nil {
		return "", err
	}
	if err := checkRevision(q.From, q.To); err != nil {
		return "", err
	}
	whole, err := t.at(c, q.Path)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, args := range t.arguments(q) {
		out, err := t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, args...)
		if err != nil {
			return "", err
		}
		if out = strings.TrimRight(out, "\n"); out != "" {
			parts = append(parts, out)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}
