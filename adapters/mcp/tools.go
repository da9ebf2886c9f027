package mcp

// This file is what other agents can do: run, status, answer, cancel.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
)

// host does what the tools say.
type host struct{ c Config }

// longestWait is how long a call may wait for news of a run, in seconds.
const longestWait = 600

// listed is how many runs a list has.
const listed = 20

// goalInput is the input of run.
type goalInput struct {
	Goal string  `json:"goal" jsonschema:"what is to be done, in plain words, with everything that has to be known"`
	Wait float64 `json:"wait,omitempty" jsonschema:"seconds to wait for an end or a question, at most 600; 0: return at once"`
}

func (h host) run(ctx context.Context, _ *sdk.CallToolRequest, in goalInput) (*sdk.CallToolResult, any, error) {
	run, err := h.c.Desk.Start(ctx, in.Goal)
	if err != nil {
		return nil, nil, err
	}
	return h.show(ctx, run, in.Wait)
}

// statusInput is the input of status.
type statusInput struct {
	Run      string  `json:"run,omitempty" jsonschema:"the run's id; without it the newest runs are listed"`
	Wait     float64 `json:"wait,omitempty" jsonschema:"seconds to wait for an end or a question, at most 600"`
	Artifact string  `json:"artifact,omitempty" jsonschema:"the path of one of the run's files, to read it"`
}

func (h host) status(ctx context.Context, _ *sdk.CallToolRequest, in statusInput) (*sdk.CallToolResult, any, error) {
	switch {
	case in.Run == "" && in.Artifact != "":
		return nil, nil, errors.New("artifact needs run")
	case in.Run == "":
		return h.list(ctx)
	case in.Artifact == "":
		return h.show(ctx, agent.RunID(in.Run), in.Wait)
	}
	one, err := h.file(ctx, agent.RunID(in.Run), in.Artifact)
	if err != nil {
		return nil, nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: one}}}, nil, nil
}

// answerInput is the input of answer.
type answerInput struct {
	Run        string            `json:"run" jsonschema:"the run's id"`
	Checkpoint string            `json:"checkpoint,omitempty" jsonschema:"the question's id; without it the oldest open one"`
	Decision   string            `json:"decision,omitempty" jsonschema:"one of the question's choices"`
	Text       string            `json:"text,omitempty" jsonschema:"an answer in words, or the reason of the decision"`
	Answers    map[string]string `json:"answers,omitempty" jsonschema:"answers by the ids of the questions"`
	Wait       float64           `json:"wait,omitempty" jsonschema:"seconds to wait afterwards for an end or the next question, at most 600"`
}

func (h host) answer(ctx context.Context, _ *sdk.CallToolRequest, in answerInput) (*sdk.CallToolResult, any, error) {
	r, err := h.load(ctx, agent.RunID(in.Run))
	if err != nil {
		return nil, nil, err
	}
	line, err := json.Marshal(struct {
		Checkpoint string            `json:"checkpoint,omitempty"`
		Decision   string            `json:"decision,omitempty"`
		Text       string            `json:"text,omitempty"`
		Answers    map[string]string `json:"answers,omitempty"`
	}{in.Checkpoint, in.Decision, in.Text, in.Answers})
	if err != nil {
		return nil, nil, err
	}
	d, err := h.c.Desk.Read(r, string(line), h.c.By.ID)
	if err != nil {
		return nil, nil, err
	}
	if err := h.c.Desk.Decide(ctx, h.c.By, d); err != nil {
		return nil, nil, err
	}
	return h.show(ctx, r.ID, in.Wait)
}

// cancelInput is the input of cancel.
type cancelInput struct {
	Run    string `json:"run" jsonschema:"the run's id"`
	Reason string `json:"reason,omitempty" jsonschema:"why, in a sentence"`
}

func (h host) cancel(ctx context.Context, _ *sdk.CallToolRequest, in cancelInput) (*sdk.CallToolResult, any, error) {
	r, err := h.load(ctx, agent.RunID(in.Run))
	if err != nil {
		return nil, nil, err
	}
	if err := h.c.Desk.Control(ctx, r.ID, h.c.By, agent.RunControlled{Word: agent.WordCancel, Reason: in.Reason}); err != nil {
		return nil, nil, err
	}
	return h.show(ctx, r.ID, 0)
}

// load is a run that the other agent may see: others do not exist for it.
func (h host) load(ctx context.Context, id agent.RunID) (agent.Run, error) {
	r, err := h.c.Desk.Load(ctx, id)
	if errors.Is(err, agent.ErrNoRun) || err == nil && !h.c.Desk.MayShow(r, h.c.By) {
		return agent.Run{}, fmt.Errorf("there is no run %q: status without a run lists them", id)
	}
	return r, err
}

// show is a run as it is, or as it is once it ended or asks something.
func (h host) show(ctx context.Context, id agent.RunID, wait float64) (*sdk.CallToolResult, any, error) {
	r, err := h.load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	bound, cancel := context.WithTimeout(ctx, time.Duration(max(0, min(wait, longestWait))*float64(time.Second)))
	defer cancel()
	for r.Ended == nil && r.OpenCheckpoint() == nil && bound.Err() == nil {
		if h.c.Desk.Await(bound, id, r.Seq) != nil {
			break // it is over, or the store is away: what is known is told
		}
		if r, err = h.load(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	v := h.view(r)
	return &sdk.CallToolResult{Content: v.content()}, v, nil
}

// list is the newest runs.
func (h host) list(ctx context.Context) (*sdk.CallToolResult, any, error) {
	all, err := h.c.Desk.Newest(ctx, listed)
	if err != nil {
		return nil, nil, err
	}
	list := runList{Runs: []view{}}
	for _, r := range all {
		if h.c.Desk.MayShow(r, h.c.By) {
			v := h.view(r)
			v.Report = nil
			list.Runs = append(list.Runs, v)
		}
	}
	return nil, list, nil
}
