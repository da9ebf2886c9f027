package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// refusal turns what was not done into what the person is told, alone. Errors
// of the store stay errors: the event has to come again.
func (req *request) refusal(ctx context.Context, err error) (bot.Answer, error) {
	if errors.Is(err, agent.ErrSeen) {
		return bot.Answer{}, err
	}
	if no, is := errors.AsType[*refusedError](err); is {
		return bot.Answer{Private: no.text}, nil
	}
	if no, is := errors.AsType[*form.FieldError](err); is { // said where nothing can be filled in
		return bot.Answer{Private: text.Escape(no.Why)}, nil
	}
	if no, is := errors.AsType[*ambiguousError](err); is {
		return req.which(ctx, no.runs)
	}
	if no, is := errors.AsType[*undecidedError](err); is {
		return req.undecided(ctx, no)
	}
	switch {
	case errors.Is(err, form.ErrUneditable):
		return private("This is too long to be edited in a form, or not in a shape that a form has. Deny it and say what should change."), nil
	case errors.Is(err, runs.ErrEmptyGoal):
		return private("Say what is to be done."), nil
	case errors.Is(err, agent.ErrNoRun):
		return private("There is no such run here; `runs` lists yours."), nil
	case errors.Is(err, runs.ErrEnded):
		return private("That run has ended."), nil
	case errors.Is(err, runs.ErrNotEnded):
		return private("That run has not ended yet; rate its report."), nil
	case errors.Is(err, agent.ErrDamaged):
		req.cfg.Log.Error("a journal cannot be read", "where", req.in.Where.String(), "err", err)
		req.alarm(ctx, err)
		return bot.Answer{Private: whyInVain(err)}, nil
	}
	return bot.Answer{}, err
}

// inVain answers what could not be taken in, however often that was tried, once
// over all processes, and tells the administrators. People who talk to each
// other are not interrupted.
func (req *request) inVain(ctx context.Context) (bot.Answer, error) {
	if said, is := req.in.Act.(bot.Said); is && !said.To && !said.Direct {
		run, err := req.cfg.Store.Value(ctx, agent.ThreadName(req.in.Where.String()))
		if err != nil || run == "" {
			return bot.Answer{}, err
		}
	}
	a, err := req.once(ctx, bot.Answer{Private: whyInVain(req.in.InVain)})
	if errors.Is(err, agent.ErrSeen) {
		return bot.Answer{}, nil
	}
	if err != nil {
		return bot.Answer{}, fmt.Errorf("what %s did at %s can neither be taken in nor answered: %w", req.in.By.ID, req.in.Where, err)
	}
	req.alarm(ctx, req.in.InVain)
	return a, nil
}

// whyInVain says why nothing came of what a person did, and what to do.
func whyInVain(err error) string {
	switch {
	case errors.Is(err, agent.ErrNewer):
		return "This run cannot be read here: a newer version of me has written to it, and I am still the older one. Nothing was done. " +
			"Say it again once the update is through; an administrator has been told."
	case errors.Is(err, agent.ErrDamaged):
		return "This run cannot be read: its journal is damaged, so nothing was done. Start its goal again in a new thread; an administrator has been told."
	}
	return "I could not act on this, however often I tried, so nothing was done. Please say it again, or start anew in another thread; an administrator has been told."
}

// undecided says why a decision does not count: to whom it belongs, or who was
// faster and when.
func (req *request) undecided(ctx context.Context, no *undecidedError) (bot.Answer, error) {
	run := no.check.Run()
	switch {
	case errors.Is(no.err, runs.ErrNoCheckpoint):
		return private("I do not know this question (any more)."), nil
	case errors.Is(no.err, runs.ErrEnded):
		return bot.Answer{Private: "The run has ended, so this question is not open any more.", Run: run}, nil
	case errors.Is(no.err, bot.ErrNotAnAnswer), errors.Is(no.err, runs.ErrVoted), errors.Is(no.err, runs.ErrNotAllowed), errors.Is(no.err, runs.ErrDecided):
	case isRaise(no.err):
		return bot.Answer{Private: raised(no.err), Run: run}, nil
	default:
		return req.refusal(ctx, no.err)
	}
	r, err := req.cfg.Runs.Load(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	c := r.Checks[no.check]
	r = r.Asking(c)
	a := bot.Answer{Run: run}
	switch {
	case errors.Is(no.err, runs.ErrVoted):
		a.Private = "You approved this already; " + format.Count(r.Brief.Quorum-len(c.Votes), "more approval") + " needed."
	case errors.Is(no.err, runs.ErrNotAllowed):
		req.log("a decision was refused", r, "question", string(c.Ask))
		a.Private = req.deciders(r, c.Ask)
	case errors.Is(no.err, runs.ErrDecided):
		a.Private = card.Already(c, req.in.By.ID)
	default:
		a.Private = "That is no answer to “" + text.Quoted(c.Title, 150) + "”. Say one of: " + text.Quoted(strings.Join(c.Choices, ", "), 500) +
			", or press a button of the question."
	}
	return a, nil
}

func isRaise(err error) bool {
	_, is := errors.AsType[*runs.RaiseError](err)
	return is
}

// raised says how far a requester may raise a budget.
func raised(err error) string {
	e, _ := errors.AsType[*runs.RaiseError](err)
	said := e.Error()
	return strings.ToUpper(said[:1]) + said[1:] + "."
}

// deciders says who may decide a question of the kind.
func (req *request) deciders(r agent.Run, ask agent.CheckpointKind) string {
	who := req.cfg.Runs.Authority.Audience(r, ask)
	if len(who) == 0 {
		return "You cannot decide this, and nobody is named here who can. An administrator can name approvers."
	}
	return "Only " + bot.Mentions(who, "or") + " can decide this."
}
