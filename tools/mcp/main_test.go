package mcp_test

// A server for the tests, made with the SDK, as a child process of the test's own
// binary: it does what real servers do, and what bad ones do.

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

const serverVariable = "DECKHAND_TEST_MCP"

func TestMain(m *testing.M) {
	switch kind := os.Getenv(serverVariable); kind {
	case "":
		goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
	case "mute": // it starts, and never says a word
		select {}
	case "noise":
		for line := bytes.Repeat([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n"), 100); ; {
			if _, err := os.Stdout.Write(line); err != nil {
				os.Exit(1)
			}
		}
	case "other": // the handshake of a version that nobody knows
		var line string
		for {
			if _, err := fmt.Scanln(&line); err != nil {
				os.Exit(0)
			}
			id := "1"
			if _, rest, is := strings.Cut(line, `"id":`); is {
				id, _, _ = strings.Cut(rest, ",")
				id = strings.TrimRight(id, "}")
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`+"\n", id)
		}
	default:
		if err := testServer(kind).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			os.Exit(3)
		}
		os.Exit(0)
	}
}

// png is a picture of one point.
var png, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

type words struct {
	Text string `json:"text"`
}

// testServer is a server with tools of all kinds.
func testServer(kind string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1.2.3"}, nil)
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	add := func(name, about string, do func(ctx context.Context, r *sdk.CallToolRequest, in words) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: about}, func(ctx context.Context, r *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
			res, err := do(ctx, r, in)
			return res, nil, err
		})
	}
	add("echo", "says what it was told", func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, error) {
		return text("you said " + in.Text), nil
	})
	add("fail", "fails", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		return nil, errors.New("the shelf is empty")
	})
	add("picture", "draws", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "here"}, &sdk.ImageContent{MIMEType: "image/png", Data: png}},
			StructuredContent: map[string]any{"points": 1}}, nil
	})
	add("die", "ends the process", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of cheese, token", os.Getenv("TEST_TOKEN"))
		os.Exit(7)
		return nil, errors.New("the process goes on after its end")
	})
	add("hang", "never answers, and notes when it is told to stop", func(ctx context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		_ = os.WriteFile(in.Text, []byte("cancelled"), 0o600)
		return nil, ctx.Err()
	})
	add("env", "tells its environment", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		return text(strings.Join(os.Environ(), "\n")), nil
	})
	add("large", "answers too much", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		return text(strings.Repeat("x", 17<<20)), nil
	})
	add("ask", "asks a person", func(_ context.Context, r *sdk.CallToolRequest, _ words) (*sdk.CallToolResult, error) {
		if a, is := r.Params.InputResponses["colour"].(*sdk.ElicitResult); is {
			return text(fmt.Sprint("the answer was ", a.Action, " ", a.Content["colour"])), nil
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"colour": &sdk.ElicitParams{Message: "Which colour?",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}}}}}, nil
	})
	add("slow", "says how far it is, and waits for a file", func(ctx context.Context, r *sdk.CallToolRequest, in words) (*sdk.CallToolResult, error) {
		err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 3, Total: 10, Message: "files"})
		for tick := time.Tick(5 * time.Millisecond); err == nil; {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-tick:
				if _, missing := os.Stat(in.Text); missing == nil {
					return text("done"), nil
				}
			}
		}
		return nil, err
	})
	add("grow", "adds a tool", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		add("grown", "was added", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
			return text("I am new"), nil
		})
		return text("done"), nil
	})
	add("child", "starts a process that would stay", func(context.Context, *sdk.CallToolRequest, words) (*sdk.CallToolResult, error) {
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			return nil, err
		}
		return text(strconv.Itoa(c.Process.Pid)), nil
	})
	s.AddResource(&sdk.Resource{URI: "memo://one", Name: "one", MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "the first memo"}}}, nil
	})
	if kind == "liar" {
		s.AddTool(&sdk.Tool{Name: "lies", Description: "says its schema is fine", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
			InputSchema: map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"$ref": "#/nowhere"}}}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("hm"), nil })
	}
	return s
}
