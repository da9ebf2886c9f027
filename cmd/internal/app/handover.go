package app

// This file is the way in to a store's runs for other agents (adapters/mcp).

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Handover hands goals of one other agent over to whoever works the store.
type Handover struct {
	*runs.Client
	brief agent.RunStarted
	files kit.Files
}

// NewHandover is the way in for somebody: the terminal, or an agent with a name of
// its own, which starts runs where anybody may or authority.start names it, and
// decides what a requester that is no full member may: questions, and no approvals
// unless authority names it.
func NewHandover(c config.Config, s Store, by bot.Person, notice io.Writer) (*Handover, error) {
	brief, err := TerminalBrief(c, "", nil, notice)
	if err != nil {
		return nil, err
	}
	brief.Requester = by.ID
	who := authorityOf(c)
	if !by.AtTerminal() {
		if len(who.Start) > 0 && !authority.Includes(slices.Concat(who.Start, who.Operators), by) {
			return nil, fmt.Errorf("%s may not start runs: name it under authority.start", by.ID)
		}
		brief.Quorum = c.Authority.Quorum
	}
	space, err := workspace.New(workspace.Config{Dir: c.Workspace, Private: []string{c.DataDir}})
	if err != nil {
		return nil, err
	}
	return &Handover{Client: NewClient(c, s), brief: brief, files: kit.Files{Space: space}}, nil
}

// Start writes a goal down.
func (h *Handover) Start(ctx context.Context, goal string) (agent.RunID, error) {
	brief := h.brief
	brief.Goal = goal
	return h.Client.Start(ctx, brief)
}

// Await returns when the run has more than so many events.
func (h *Handover) Await(ctx context.Context, run agent.RunID, after uint64) error {
	return h.Journals.Await(ctx, run, after)
}

// Newest lists the newest runs; those that cannot be read are left out.
func (h *Handover) Newest(ctx context.Context, most int) ([]agent.Run, error) {
	infos, err := h.Journals.Runs(ctx, agent.RunFilter{Most: most})
	if err != nil {
		return nil, err
	}
	var list []agent.Run
	for _, info := range infos {
		if r, err := h.LoadListed(ctx, info); err == nil {
			list = append(list, r)
		}
	}
	return list, ctx.Err()
}

// MayShow reports whether somebody may look at a run.
func (h *Handover) MayShow(r agent.Run, by bot.Person) bool { return h.Authority.MayShow(r, by) }

// Read reads a line as the answer to a question of the run.
func (h *Handover) Read(r agent.Run, line, by string) (agent.CheckpointDecided, error) {
	return runs.ReadDecision(r, line, by)
}

// Waits says what the run waits for.
func (h *Handover) Waits(r agent.Run) string { return card.StatusOf(r).WaitingFor }

// Open opens a file of a run's folder.
func (h *Handover) Open(folder, path string) (io.ReadCloser, int64, error) {
	return h.files.Open(folder, path)
}
