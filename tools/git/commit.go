package git

// The tool git_commit.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

type commit struct{ git }

// Spec describes git_commit.
func (commit) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "git_commit",
		Description: "Commits the changes of a repository in the workspace, all of them or those of some files, in the agent's name. Nothing is pushed.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["message"],"properties":{` + pathProperty + `,
			"message":{"type":"string","minLength":1,"maxLength":10000},
			"files":{"type":"array","maxItems":1000,"items":{"type":"string","minLength":1},"description":"Relative to the repository; default all changes"}}}`),
		Class: agent.ClassWrite, Repeat: agent.RepeatProbeable, Trust: agent.Untrusted, Timeout: 5 * lookTime,
		Example: json.RawMessage(`{"path":"example","message":"README: say how it is built"}`),
	}
}

// change is what is committed.
type change struct {
	Path    string   `json:"path"`
	Message string   `json:"message"`
	Files   []string `json:"files"`
}

// noCommit stands for the newest commit of a repository that has none.
const noCommit = "none"

// open reads a call and finds its repository.
func (t commit) open(c agent.Call) (ch change, whole string, err error) {
	if err := read(c, &ch); err != nil {
		return ch, "", err
	}
	if strings.TrimSpace(ch.Message) == "" {
		return ch, "", errors.New("the message is empty")
	}
	whole, err = t.at(c, ch.Path)
	return ch, whole, err
}

// head is the newest commit.
func (t commit) head(ctx context.Context, whole string) (string, error) {
	out, err := t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, "for-each-ref", "--count=1", "--format=x")
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(out) == "" {
		return noCommit, nil
	}
	out, err = t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, "rev-parse", "HEAD")
	return strings.TrimSpace(out), err
}

// Prepare shows what would be committed.
func (t commit) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	ch, whole, err := t.open(c)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("git_commit: %w", err)
	}
	head, err := t.head(ctx, whole)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("git_commit: %w", err)
	}
	status, err := t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, append([]string{"status", "--short", "--ignore-submodules=all", "--"}, literal(ch.Files)...)...)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("git_commit: %w", err)
	}
	if strings.TrimSpace(status) == "" {
		return agent.Prepared{}, errors.New("git_commit: there is nothing to commit")
	}
	return agent.Prepared{
		Target: head + "\n" + status, Mark: head,
		Preview: format.Visible(fmt.Sprintf("Commits in `%s` as %s <%s>:\n\n> %s\n\n```\n%s\n```", ch.Path, t.c.Name, t.c.Email,
			strings.ReplaceAll(ch.Message, "\n", "\n> "), strings.ReplaceAll(format.Cut(strings.TrimRight(status, "\n"), 3000), "```", "'''"))),
	}, nil
}

// literal are paths in which no sign means more than itself.
func literal(files []string) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = ":(literal)" + f
	}
	return list
}

// Run makes the commit, unless it was made before.
func (t commit) Run(ctx context.Context, c agent.Call) agent.Result {
	done, r, err := t.Probe(ctx, c)
	if err == nil && !done {
		r, err = t.commit(ctx, c)
	}
	if err != nil {
		return agent.Failed("git_commit: " + err.Error())
	}
	return r
}

func (t commit) commit(ctx context.Context, c agent.Call) (agent.Result, error) {
	ch, whole, err := t.open(c)
	if err != nil {
		return agent.Result{}, err
	}
	spec := sandbox.Spec{Dir: whole, Wall: lookTime}
	add := append([]string{"add", "--all", "--"}, literal(ch.Files)...)
	if len(ch.Files) == 0 {
		add = append(add, ".")
	}
	if _, err := t.run(ctx, spec, add...); err != nil {
		return agent.Result{}, err
	}
	spec.Stdin = []byte(ch.Message)
	args := append([]string{"commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-", "--only", "--"}, literal(ch.Files)...)
	if len(ch.Files) == 0 {
		args = []string{"commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"}
	}
	if _, err := t.run(ctx, spec, args...); err != nil {
		return agent.Result{}, err
	}
	return t.told(ctx, whole)
}

// told is the newest commit as the model reads it.
func (t commit) told(ctx context.Context, whole string) (agent.Result, error) {
	out, err := t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, "show", "--no-ext-diff", "--no-textconv", "--no-color", "--stat", "--format=committed %h as %an: %s", "HEAD")
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: strings.TrimSpace(out)}, err
}

// Probe reports whether the commit was made: the newest one has its message, and
// follows the one that was the newest when the call was prepared.
func (t commit) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	ch, whole, err := t.open(c)
	if err != nil {
		return false, agent.Result{}, err
	}
	head, err := t.head(ctx, whole)
	if err != nil || head == noCommit || head == c.Mark {
		return false, agent.Result{}, err
	}
	out, err := t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, "log", "-1", "--format=%P%n%B")
	if err != nil {
		return false, agent.Result{}, err
	}
	parent, message, _ := strings.Cut(out, "\n")
	if parent == "" {
		parent = noCommit
	}
	if parent != c.Mark || strings.TrimSpace(message) != strings.TrimSpace(ch.Message) {
		return false, agent.Result{}, fmt.Errorf("the repository has other commits than when this one was prepared (it was at %s): look at it and decide anew", format.Cut(c.Mark, 12))
	}
	r, err := t.told(ctx, whole)
	return err == nil, r, err
}
