package file

// The six tools, and what all of them begin with.

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Config is what the file tools need.
type Config struct {
	Workspace *workspace.Workspace
	// Trust labels what read_file and search_files return. Empty is untrusted:
	// files may have come from anywhere.
	Trust agent.Trust
}

// New returns the six file tools.
func New(c Config) []agent.Tool {
	if c.Trust == "" {
		c.Trust = agent.Untrusted
	}
	return []agent.Tool{
		read{c}, list{c}, search{c},
		&effect{c, writeSpec, writing{}},
		&effect{c, appendSpec, appending{}},
		&effect{c, deleteSpec, deleting{}},
	}
}

// openFolder opens the call's folder and reads its arguments.
func openFolder(c Config, call agent.Call, into any) (*workspace.Folder, error) {
	if err := json.Unmarshal(call.Arguments, into); err != nil {
		return nil, fmt.Errorf("the arguments do not fit: %w", err)
	}
	return c.Workspace.Open(call.Folder)
}

// inFolder runs do in the call's folder; its error becomes the result.
func inFolder(ctx context.Context, c Config, call agent.Call, into any, do func(context.Context, *workspace.Folder) (agent.Result, error)) agent.Result {
	f, err := openFolder(c, call, into)
	if err != nil {
		return agent.Failed(err.Error())
	}
	defer func() { _ = f.Close() }()
	r, err := do(ctx, f)
	if err != nil {
		return agent.Failed(err.Error())
	}
	return r
}

func succeeded(text string, trust agent.Trust, files ...string) agent.Result {
	return agent.Result{State: agent.OutcomeOK, Text: text, Trust: trust, Files: files}
}
