package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Terminal is the principal of whoever has the store itself in hand: the
// person at the command line. It may do everything.
const Terminal = "terminal"

// Errors of the desk. Each is wrapped with what it was about.
var (
	ErrNotAllowed   = errors.New("not allowed")
	ErrNoCheckpoint = errors.New("no such checkpoint")
	ErrDecided      = errors.New("already decided")
	ErrEnded        = errors.New("the run has ended")
	ErrEmptyGoal    = errors.New("the goal is empty: say what is to be done")
)

// Journals is what the desk needs of a store.
type Journals interface {
	Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error)
	Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error)
	Runs(ctx context.Context) ([]agent.RunInfo, error)
	Await(ctx context.Context, run agent.RunID, after uint64) error
}

// Desk is the one way in for people. Everything it does is one commit.
type Desk struct {
	Journals  Journals
	Authority Authority
}

// Authority says who may do what, beside the requester of a run. Entries are
// principals: "slack:U1", "discord:42", "terminal", or a bare id of any platform.
type Authority struct {
	Operators           []string
	Approvers           []string
	RequesterMayApprove bool
}

// Start opens a run and makes it due. Once holds keys of the message that it
// comes from: a key that was used before makes it agent.ErrSeen.
func (d *Desk) Start(ctx context.Context, brief agent.RunStarted, once ...string) (agent.RunID, error) {
	brief.Goal = strings.TrimSpace(brief.Goal)
	if brief.Goal == "" {
		return "", ErrEmptyGoal
	}
	run := agent.RunID(agent.NewID())
	_, err := d.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Once: once,
		Events: []agent.Event{{Strand: agent.Main, Body: brief}},
		Wake:   map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
	if err != nil {
		return "", fmt.Errorf("start the run: %w", err)
	}
	return run, nil
}

// Load folds the run's whole journal.
func (d *Desk) Load(ctx context.Context, run agent.RunID) (agent.Run, error) {
	events, err := d.Journals.Read(ctx, run, 0)
	if err != nil {
		return agent.Run{}, fmt.Errorf("run %s: %w", run, err)
	}
	return agent.Run{}.Fold(events), nil
}

// Decide answers a checkpoint on behalf of By, with a word that it offers and
// what that word needs; anything else is ErrNotAnAnswer. The first decision
// counts: a later one is ErrDecided.
func (d *Desk) Decide(ctx context.Context, decision agent.CheckpointDecided) error {
	run := decision.ID.Run()
	for {
		r, err := d.Load(ctx, run)
		if errors.Is(err, agent.ErrNoRun) {
			return fmt.Errorf("%w: %s", ErrNoCheckpoint, decision.ID)
		}
		if err != nil {
			return err
		}
		check, known := r.Checks[decision.ID]
		switch {
		case !known:
			return fmt.Errorf("%w: %s", ErrNoCheckpoint, decision.ID)
		case !check.Open():
			return fmt.Errorf("checkpoint %s: %w: %s by %s", check.ID, ErrDecided, check.Decision.Decision, check.Decision.By)
		case r.Ended != nil:
			return fmt.Errorf("run %s: %w (%s)", run, ErrEnded, r.Ended.State)
		case !d.Authority.may(r, check.Ask, decision.By):
			return fmt.Errorf("%s may not decide this %s of run %s: %w", decision.By, check.Ask, run, ErrNotAllowed)
		}
		if err := whole(check, decision); err != nil {
			return err
		}
		settled, err := settle(check, decision)
		if err != nil {
			return fmt.Errorf("checkpoint %s: %w", check.ID, err)
		}
		err = d.fact(ctx, r, check.Strand, settled, true)
		if errors.Is(err, agent.ErrStale) {
			continue // somebody else wrote: look again
		}
		return err
	}
}

// Control pauses, resumes or cancels a run.
func (d *Desk) Control(ctx context.Context, run agent.RunID, c agent.RunControlled) error {
	r, err := d.Load(ctx, run)
	if err != nil {
		return err
	}
	if r.Ended != nil {
		return fmt.Errorf("run %s: %w (%s)", run, ErrEnded, r.Ended.State)
	}
	if !d.Authority.steers(r, c.By) {
		return fmt.Errorf("%s may not %s run %s: %w", c.By, c.Word, run, ErrNotAllowed)
	}
	return d.fact(ctx, r, agent.Main, c, false)
}

// Say adds a person's words to a run. Words of people without authority over
// the run are kept as context that is not trusted.
func (d *Desk) Say(ctx context.Context, run agent.RunID, by, text string, once ...string) error {
	r, err := d.Load(ctx, run)
	if err != nil {
		return err
	}
	if r.Ended != nil {
		return fmt.Errorf("run %s: %w (%s)", run, ErrEnded, r.Ended.State)
	}
	return d.fact(ctx, r, agent.Main, agent.PersonSaid{By: by, Text: text, Trusted: d.Authority.steers(r, by)}, false, once...)
}

// fact appends what happened outside and makes every strand look at it.
func (d *Desk) fact(ctx context.Context, r agent.Run, s agent.StrandID, b agent.Body, strict bool, once ...string) error {
	_, err := d.Journals.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: r.ID, Seen: r.Seq, Strict: strict, Once: once,
		Events: []agent.Event{{Strand: s, Body: b}}, Wake: r.Wakeful()})
	return err
}

func has(list []string, principal string) bool {
	_, bare, _ := strings.Cut(principal, ":")
	return (principal != "" && slices.Contains(list, principal)) || (bare != "" && slices.Contains(list, bare))
}

// steers reports whether the principal may steer and stop the run.
func (a Authority) steers(r agent.Run, by string) bool {
	return by == Terminal || by == r.Brief.Requester || has(a.Operators, by)
}

// may reports whether the principal may decide a checkpoint of the kind:
// clarify and stuck are for the requester and the operators, budget for
// approvers and operators too, the rest for the approvers (where none are
// named: the requester and the operators).
func (a Authority) may(r agent.Run, ask agent.CheckpointKind, by string) bool {
	if by == Terminal {
		return true
	}
	approvers := r.Brief.Approvers
	if len(approvers) == 0 {
		approvers = a.Approvers
	}
	requester := by == r.Brief.Requester
	switch ask {
	case agent.CheckClarify, agent.CheckStuck:
		return requester || has(a.Operators, by)
	case agent.CheckBudget:
		return has(approvers, by) || has(a.Operators, by) || (len(approvers) == 0 && requester)
	case agent.CheckPlan, agent.CheckApproval, agent.CheckUncertain:
	}
	if requester && !a.RequesterMayApprove {
		return false // not as an operator or approver either: four eyes
	}
	if len(approvers) == 0 {
		return requester || has(a.Operators, by)
	}
	return has(approvers, by)
}
