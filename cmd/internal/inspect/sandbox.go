package inspect

// This file defines `deckhand env`, which shows what a task's programs had in
// their sandbox and runs them again on a clean folder, here or elsewhere.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// TaskEnv is the command `env`.
func TaskEnv(e Env) *cobra.Command {
	c := &cobra.Command{Use: "env", Short: "Look at what a task's programs have in their sandbox"}
	var again bool
	show := &cobra.Command{
		Use:   "show RUN TASK",
		Short: "What a task's sandbox holds, and what ran in it",
		Long: "What a task's sandbox holds: driver, image, packages, files, environment, network and bounds, and the programs\n" +
			"that ran in it. --run runs them again on a clean folder and says where a result differs. --json has the files\n" +
			"with it, so that `deckhand env run FILE` does the same on another host.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return e.Usage("env show needs RUN and TASK: `deckhand status` lists runs, `deckhand trace RUN` their tasks")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.Open(cmd.Context(), func(cfg config.Config, s app.Store) error {
				t, err := e.taskEnv(cmd.Context(), cfg, s, agent.RunID(args[0]), agent.TaskID(args[1]))
				if err != nil {
					return err
				}
				if again {
					return e.runAgain(cmd.Context(), cfg, t)
				}
				return e.showTask(t)
			})
		},
	}
	show.Flags().BoolVar(&again, "run", false, "run the task's programs again on a clean folder")
	run := &cobra.Command{
		Use: "run FILE|-", Short: "Run again what `env show --json` printed, on this host",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return e.Usage("env run needs one FILE that `deckhand env show RUN TASK --json` printed, or - for standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := e.readTask(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return e.Open(cmd.Context(), func(cfg config.Config, _ app.Store) error { return e.runAgain(cmd.Context(), cfg, t) })
		},
	}
	c.AddCommand(show, run)
	return c
}

// task is a task's sandbox as --json prints it. Files carry their contents.
type task struct {
	Run     agent.RunID    `json:"run"`
	Task    agent.TaskID   `json:"task"`
	Title   string         `json:"title"`
	Driver  string         `json:"driver"`
	Problem string         `json:"problem,omitempty"` // why its programs could not run here
	Env     *agent.Env     `json:"env"`               // what the plan says, null: nothing
	Sandbox sandbox.Spec   `json:"sandbox"`           // what follows from it here
	Files   []sandbox.File `json:"files"`
	Calls   []call         `json:"calls"`
}

// call is a program that ran.
type call struct {
	Effect    agent.EffectID     `json:"effect"`
	Tool      string             `json:"tool"`
	Arguments json.RawMessage    `json:"arguments"`
	State     agent.OutcomeState `json:"state,omitempty"`
	Text      string             `json:"text,omitempty"`
	Cut       bool               `json:"cut,omitempty"` // Text is head and tail of a longer one
}

// taskEnv gathers a task's sandbox from the journal of its run.
func (e Env) taskEnv(ctx context.Context, cfg config.Config, s app.Store, run agent.RunID, id agent.TaskID) (task, error) {
	events, err := s.Read(ctx, run, 0)
	if err != nil {
		return task{}, e.NoRun(string(run), err)
	}
	t := task{Run: run, Task: id, Files: []sandbox.File{}, Calls: []call{}}
	folder, planned := gather(&t, events)
	if !planned {
		return t, e.Usage("run %s has no task %q: `deckhand trace %s` lists them", run, id, run)
	}
	if t.Driver, t.Sandbox, err = kit.TaskSandbox(ctx, cfg, t.Env); err != nil {
		t.Problem = err.Error()
	}
	t.Files, err = kit.TaskFiles(cfg, folder, paths(t))
	return t, err
}

// gather reads what the events say of a task, and the run's folder.
func gather(t *task, events []agent.Event) (folder string, planned bool) {
	places := map[agent.EffectID]int{}
	for _, event := range events {
		switch b := event.Body.(type) { //nolint:gochecksumtype // the other kinds say nothing of a task's sandbox
		case agent.RunStarted:
			folder = b.Folder
		case agent.PlanAccepted:
			if p, is := b.Plan.Task(t.Task); is {
				t.Title, t.Env, planned = p.Title, p.Env, true
			}
		case agent.ToolIntent:
			_, seen := places[b.Effect]
			if id, is := event.Strand.Task(); is && id == t.Task && slices.Contains(kit.Sandboxed, b.Tool) && !seen {
				places[b.Effect] = len(t.Calls)
				t.Calls = append(t.Calls, call{Effect: b.Effect, Tool: b.Tool, Arguments: b.Arguments})
			}
		case agent.ToolOutcome:
			if i, is := places[b.Effect]; is {
				t.Calls[i].State, t.Calls[i].Text, t.Calls[i].Cut = b.State, b.Text, b.Artifact != ""
			}
		}
	}
	return folder, planned
}

// paths are the files that go along: those of the plan, and programs that ran.
func paths(t task) []string {
	var list []string
	if t.Env != nil {
		list = append(list, t.Env.Files...)
	}
	for _, c := range t.Calls {
		var a struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(c.Arguments, &a) == nil && a.Path != "" && !slices.Contains(list, a.Path) {
			list = append(list, a.Path)
		}
	}
	return list
}

func (e Env) showTask(t task) error {
	if *e.JSON {
		return format.Encoder(e.Out).Encode(t)
	}
	var b strings.Builder
	row := func(name, value string) {
		if value == "" {
			value = "–"
		}
		fmt.Fprintf(&b, "%-12s  %s\n", name, e.Printable(value))
	}
	env := agent.Env{}
	if t.Env != nil {
		env = *t.Env
	}
	row("task", string(t.Task)+": "+t.Title)
	row("driver", t.Driver)
	if t.Problem != "" {
		row("problem", t.Problem)
	}
	row("image", t.Sandbox.Image)
	row("runtime", env.Runtime)
	row("packages", strings.Join(env.Packages, ", "))
	row("environment", strings.Join(slices.Sorted(maps.Keys(env.Environment)), ", "))
	row("network", strings.Join(t.Sandbox.Network, ", "))
	row("memory", fmt.Sprintf("%d MiB", t.Sandbox.Memory>>20))
	row("processes", strconv.Itoa(t.Sandbox.Processes))
	row("disk", fmt.Sprintf("%d MiB", t.Sandbox.Disk>>20))
	row("wall", t.Sandbox.Wall.String())
	for _, f := range t.Files {
		row("file", fmt.Sprintf("%s, %d bytes", f.Path, len(f.Data)))
	}
	for i, c := range t.Calls {
		row(fmt.Sprintf("call %d", i+1), fmt.Sprintf("%s %s: %s", c.Tool, format.Line(string(c.Arguments), 300), c.State))
	}
	_, err := io.WriteString(e.Out, b.String())
	return err
}

// readTask reads what `env show --json` printed.
func (e Env) readTask(stdin io.Reader, name string) (t task, err error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return t, e.Usage("%w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	if err := json.NewDecoder(io.LimitReader(in, 256<<20)).Decode(&t); err != nil {
		return t, e.Usage("%s is nothing that `deckhand env show RUN TASK --json` printed: %w", name, err)
	}
	return t, nil
}

// errDiffers is the cause where a program did something else than it did then.
var errDiffers = errors.New("differ from what the journal says")

// runAgain runs a task's programs on a clean folder and compares.
func (e Env) runAgain(ctx context.Context, cfg config.Config, t task) error {
	if len(t.Calls) == 0 {
		return e.Fail(fmt.Errorf("no program of task %s ran in the sandbox: there is nothing to run again", t.Task))
	}
	calls := make([]agent.Call, 0, len(t.Calls))
	for _, c := range t.Calls {
		calls = append(calls, agent.Call{Run: t.Run, Effect: c.Effect, Tool: c.Tool, Arguments: c.Arguments, Env: t.Env})
	}
	at, differ := 0, 0
	err := kit.Rerun(ctx, cfg, t.Files, calls, func(c agent.Call, r agent.Result) error {
		was := t.Calls[at]
		at++
		same := r.State == was.State && (was.Cut || r.Text == was.Text)
		if !same {
			differ++
		}
		if *e.JSON {
			return format.Encoder(e.Out).Encode(map[string]any{"effect": c.Effect, "tool": c.Tool, "state": r.State, "text": r.Text, "same": same})
		}
		word := "same"
		if !same {
			word = "differs"
		}
		_, err := fmt.Fprintf(e.Out, "call %d  %s  %s, %s\n%s\n", at, c.Tool, r.State, word, e.Printable(r.Text))
		return err
	})
	if err != nil {
		return e.Fail(err)
	}
	if differ > 0 {
		return e.Fail(fmt.Errorf("%d of %d results %w", differ, len(calls), errDiffers))
	}
	return nil
}
