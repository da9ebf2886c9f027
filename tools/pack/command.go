package pack

// Kind command: a program in the sandbox.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// Runner runs programs where they see nothing else. *sandbox.Sandbox is one.
type Runner interface {
	Isolates(ctx context.Context) bool
	Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error)
}

// running runs tools of kind command.
type running struct {
	sandbox Runner
	root    string   // the workspace
	hide    []string // of it
}

// errOpen is said where a program would see the host.
var errOpen = errors.New("no sandbox here keeps programs from the host's files and network; install bubblewrap, or set sandbox.driver")

func (q running) run(ctx context.Context, t tool, c agent.Call, args map[string]any) (agent.Result, error) {
	if q.sandbox == nil || !q.sandbox.Isolates(ctx) {
		return agent.Result{}, errOpen
	}
	if t.p.Dir == "" {
		return agent.Result{}, errors.New("the pack is in no folder; take it over with `deckhand pack add`")
	}
	if err := t.p.unchanged(); err != nil {
		return agent.Result{}, err
	}
	s := sandbox.Spec{Command: words(t.d.Command.Run, args), Dir: t.p.Dir, ReadOnly: true, Network: t.d.Command.Network, Wall: t.d.Timeout,
		Env: map[string]string{"PACK": t.p.Dir}, Stdin: c.Arguments}
	if t.d.Command.Input != "" {
		s.Stdin = []byte(filled(t.d.Command.Input, args, flat))
	}
	if t.d.Command.Workspace {
		s.Dir, s.Hide, s.Read = filepath.Join(q.root, filepath.FromSlash(c.Folder)), q.hide, []string{t.p.Dir}
	}
	done, err := q.sandbox.Run(ctx, s)
	if err != nil {
		return agent.Result{}, err
	}
	text := strings.ToValidUTF8(strings.TrimRight(string(done.Stdout), "\n"), "�")
	switch {
	case done.Limit != "":
		return agent.Result{}, fmt.Errorf("%s was ended: %s", t.d.Command.Run[0], done.Limit)
	case done.Code != 0:
		return agent.Result{}, fmt.Errorf("%s ended with code %d: %s", t.d.Command.Run[0], done.Code,
			format.Cut(strings.ToValidUTF8(strings.TrimSpace(string(done.Stderr)+"\n"+text), "�"), 4000))
	case text == "":
		text = "done, without output"
	}
	return agent.Result{State: agent.OutcomeOK, Trust: t.trust(), Text: text}, nil
}

// words are a program and its arguments: none of them is ever a shell's.
func words(template []string, args map[string]any) []string {
	var list []string
	for _, word := range template {
		if name, is := whole(word); is && args[name] == nil {
			continue
		}
		list = append(list, strings.ReplaceAll(filled(word, args, flat), "\x00", ""))
	}
	return list
}

// unchanged is nil while the files that programs are made of are what was accepted.
func (p *Pack) unchanged() error {
	for name, was := range p.files {
		if !program(name) {
			continue
		}
		if now, _, err := sumOf(p.fsys, name); err != nil || now != was {
			return fmt.Errorf("%s of the pack changed; `deckhand tools accept %s` takes it over", name, p.Name)
		}
	}
	return nil
}
