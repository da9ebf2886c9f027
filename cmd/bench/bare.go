package main

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	goredis "github.com/redis/go-redis/v9"
	goopenai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// bare is the baseline: a loop that makes the same model calls with go-openai,
// keeps its conversation in memory, and does one XADD a call. Nothing of it
// survives a crash.
func bare(ctx context.Context, e *environment, model string, l load) (cost, error) {
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return cost{}, err
	}
	opts.PoolSize = 32
	rdb := goredis.NewClient(opts)
	defer rdb.Close()
	cfg := goopenai.DefaultConfig("")
	cfg.BaseURL = model
	transport := &http.Transport{MaxIdleConnsPerHost: l.runs, MaxIdleConns: l.runs}
	cfg.HTTPClient = &http.Client{Transport: transport}
	client := goopenai.NewClientWithConfig(cfg)
	requests, err := conversation(e, l)
	if err != nil {
		return cost{}, err
	}
	m := measure()
	errs := make(chan error, l.runs)
	var all sync.WaitGroup
	for i := range l.runs {
		all.Go(func() {
			for _, req := range requests {
				resp, err := client.CreateChatCompletion(ctx, req)
				if err != nil {
					errs <- err
					return
				}
				if l.watch != nil {
					l.watch()
				}
				err = rdb.XAdd(ctx, &goredis.XAddArgs{Stream: "bench:" + strconv.Itoa(i),
					Values: map[string]any{"answer": resp.Choices[0].Message.ToolCalls[0].Function.Arguments}}).Err()
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	c := m.stop()
	select {
	case err := <-errs:
		return c, err
	default:
		return c, nil
	}
}

// conversation is the requests that the engine makes for one run of the load:
// same prompts, same functions, same growing history.
func conversation(e *environment, l load) ([]goopenai.ChatCompletionRequest, error) {
	book, err := prompt.Open()
	if err != nil {
		return nil, err
	}
	box, err := l.box(e)
	if err != nil {
		return nil, err
	}
	specs := box.Specs()
	run := agent.Run{}.Apply(agent.Event{Run: "bench", Seq: 1, Body: agent.RunStarted{Goal: l.goal(0)}})
	intake, _, err := book.Request(&run, agent.Main, specs, prompt.Rendering{})
	if err != nil {
		return nil, err
	}
	run = run.Apply(agent.Event{Run: "bench", Seq: 2, Strand: agent.Main, Body: agent.PlanAccepted{Plan: agent.Plan{
		Tasks: []agent.Task{{ID: "t1", Title: "Write the notes down", Instructions: "note each"}}}}})
	run = run.Apply(agent.Event{Run: "bench", Seq: 3, Strand: agent.Main, Body: agent.TaskStarted{Task: "t1", Instructions: "note each"}})
	work, _, err := book.Request(&run, agent.TaskStrand("t1"), specs, prompt.Rendering{})
	if err != nil {
		return nil, err
	}
	all := []goopenai.ChatCompletionRequest{wire(intake)}
	history := wire(work)
	for i := range l.steps + 3 {
		req := history
		req.Messages = append([]goopenai.ChatCompletionMessage(nil), history.Messages...)
		all = append(all, req)
		if i < l.steps {
			id := "call_" + strconv.Itoa(i)
			called := goopenai.FunctionCall{Name: "note", Arguments: `{"text":"step ` + strconv.Itoa(i) + `"}`}
			if l.whole {
				called = goopenai.FunctionCall{Name: "calculator", Arguments: `{"expression":"1+` + strconv.Itoa(i) + `"}`}
			}
			history.Messages = append(history.Messages,
				goopenai.ChatCompletionMessage{Role: "assistant", ToolCalls: []goopenai.ToolCall{{ID: id, Type: "function", Function: called}}},
				goopenai.ChatCompletionMessage{Role: "tool", ToolCallID: id, Content: prompt.Frame("noted", agent.Trusted)})
		}
	}
	return all, nil
}

func wire(r prompt.Ready) goopenai.ChatCompletionRequest {
	req := goopenai.ChatCompletionRequest{Model: "bench", ToolChoice: "required", MaxCompletionTokens: 4096}
	for _, m := range r.Messages {
		req.Messages = append(req.Messages, goopenai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content})
	}
	for _, f := range r.Functions {
		req.Tools = append(req.Tools, goopenai.Tool{Type: "function", Function: &goopenai.FunctionDefinition{
			Name: f.Name, Description: f.Description, Parameters: f.Parameters}})
	}
	return req
}
