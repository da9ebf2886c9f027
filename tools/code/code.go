package code

// The tool, and what goes over the pipes between it and its child.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Bounds on what is handed to a child.
const (
	longestCode  = 256 << 10
	largestInput = 16 << 20
)

// Config bounds one program. Zero values are the defaults.
type Config struct {
	// Command starts the child: this program with the argument that makes it
	// call Child. It is required.
	Command []string
	Memory  int64         // resident bytes; default 256 MiB
	CPU     time.Duration // processor time; default 5 s
	Wall    time.Duration // default 10 s
	Output  int           // bytes of output; default 64 KiB
	// Sandbox keeps the child besides; nil: it keeps itself.
	Sandbox *sandbox.Sandbox
	// Parallel is how many children run at once; default 4. Others wait.
	Parallel int
}

// Tool is the tool run_code. It may be used from many goroutines.
type Tool struct {
	c     Config
	slots chan struct{}
}

// ErrCommand is returned by New where no command is configured.
var ErrCommand = errors.New("run_code: Config.Command is empty: name the program that calls code.Child")

// New returns the tool.
func New(c Config) (*Tool, error) {
	if len(c.Command) == 0 {
		return nil, ErrCommand
	}
	if c.Memory <= 0 {
		c.Memory = 256 << 20
	}
	if c.CPU <= 0 {
		c.CPU = 5 * time.Second
	}
	if c.Wall <= 0 {
		c.Wall = 10 * time.Second
	}
	if c.Output <= 0 {
		c.Output = 64 << 10
	}
	if c.Parallel <= 0 {
		c.Parallel = 4
	}
	return &Tool{c: c, slots: make(chan struct{}, c.Parallel)}, nil
}

// Spec describes the tool.
func (t *Tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "run_code",
		Description: "Runs JavaScript (ECMAScript 2015 and later) without files, network, timers or modules. The lines of console.log and the value of the last expression " +
			"are the result: strings as they are, objects and arrays as JSON. input is a global with the value given. No return at the top level, no import, no require.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["code"],"properties":{
			"code":{"type":"string","minLength":1,"maxLength":262144,"description":"For example: input.rows.map(r => r.n).reduce((a, b) => a + b, 0)"},
			"input":{"description":"Any JSON value, the global input of the program"}}}`),
		Class: agent.ClassRead, Repeat: agent.RepeatRead,
		Timeout: time.Duration(1+t.c.Parallel)*t.c.Wall + 5*time.Second,
	}
}

// Run runs the program in a child and returns what it put out. The result is
// trusted as far as the arguments are: a program sees nothing else.
func (t *Tool) Run(ctx context.Context, c agent.Call) agent.Result {
	var args struct {
		Code  string          `json:"code"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return agent.Failed("run_code: the arguments do not fit: " + err.Error())
	}
	if len(args.Code) > longestCode || len(args.Input) > largestInput {
		return agent.Failed(fmt.Sprintf("run_code: code may have %d bytes and input %d; it is %d and %d", longestCode, largestInput, len(args.Code), len(args.Input)))
	}
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return agent.Failed("run_code: stopped before it began: " + ctx.Err().Error())
	}
	out, err := t.execute(ctx, request{
		Code: args.Code, Input: args.Input,
		Memory: t.c.Memory, CPU: t.c.CPU, Wall: t.c.Wall, Output: t.c.Output,
	})
	if err != nil {
		text := "run_code: " + err.Error()
		if lines := out.text(t.c.Output); lines != "" {
			text += "\nOutput before that:\n" + lines
		}
		return agent.Failed(text)
	}
	text := out.text(t.c.Output)
	if text == "" {
		text = "no output: end the program with an expression or call console.log"
	}
	return agent.Result{State: agent.OutcomeOK, Text: text, Trust: agent.Trusted}
}

// request is the one line that the child reads.
type request struct {
	Code   string          `json:"code"`
	Input  json.RawMessage `json:"input,omitempty"`
	Memory int64           `json:"memory"` // bytes
	CPU    time.Duration   `json:"cpu"`    // nanoseconds
	Wall   time.Duration   `json:"wall"`   // nanoseconds
	Output int             `json:"output"` // bytes
}

// frame is a line that the child writes. Value and Error are the last one;
// Limit marks an Error that says which limit was passed.
type frame struct {
	Log   *string `json:"log,omitempty"`
	Cut   bool    `json:"cut,omitempty"`
	Value *string `json:"value,omitempty"`
	Error *string `json:"error,omitempty"`
	Limit bool    `json:"limit,omitempty"`
}

// output is what a child put out.
type output struct {
	lines []string
	cut   bool
	ended bool // the last frame was seen
}

func (o output) text(limit int) string {
	s := strings.Join(o.lines, "\n")
	if o.cut {
		s += fmt.Sprintf("\n(output cut at %d bytes)", limit)
	}
	return s
}
