package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// minAnswer is the smallest answer worth a call, in tokens: a call is refused
// when not even its prompt and this fit the budget (RULES.md, "Cost").
const minAnswer = 256

// reservationPause is how long a strand rests when the budget is held by the
// reservations of calls under way.
const reservationPause = 500 * time.Millisecond

// ask reserves the price of a model call, makes it and settles it. The
// reservation is committed together with everything before it.
func (t *turn) ask(ctx context.Context, view agent.Run) (waits bool, err error) {
	purpose := view.Purpose(t.lease.Strand)
	if stuck, err := t.reflect(ctx, view); stuck || err != nil {
		return false, err
	}
	if err := t.recall(ctx, view); err != nil {
		return false, err
	}
	view = t.view() // with what the model was told just now
	if view.Purpose(t.lease.Strand) != purpose {
		return false, nil // something else comes first
	}
	ready, err := t.request(view)
	if err != nil {
		return false, err
	}
	price, priced := t.price(ready.Model)
	if view.Limits().USD > 0 && !priced {
		t.unpriced(view, ready.Model)
		return false, nil
	}
	prompt := llm.Count(ready.Request)
	ready.MaxTokens = answerRoom(view, prompt, t.MaxAnswer, price)
	if ready.MaxTokens < minAnswer {
		return t.broke(ctx, view, exhausted(view))
	}
	asked := agent.ModelAsked{
		Call:    fmt.Sprintf("%s.%d", t.lease.Strand, view.Strands[t.lease.Strand].Calls+1),
		Purpose: ready.Purpose, Model: ready.Model, PromptHash: ready.Hash,
		ReserveTokens: prompt + ready.MaxTokens,
	}
	if priced {
		cost := price.of(llm.Usage{Prompt: prompt, Completion: ready.MaxTokens})
		asked.Reserve = &cost
	}
	t.event(asked)
	settled := len(t.spend) // what earlier calls give back stays, also where this one does not fit
	t.spend = append(t.spend, t.charges(view, reserved(asked), 1, true)...)
	var over *agent.BudgetError
	if err := t.commit(ctx, false); errors.As(err, &over) {
		t.batch, t.upTo, t.spend = t.batch[:len(t.batch)-1], 0, t.spend[:settled]
		return t.broke(ctx, view, agent.BudgetOf(over.Counter))
	} else if err != nil {
		return false, err
	}
	if cut := t.settle(ctx, ready, asked, prompt); cut {
		return false, t.flush(ctx) // and learn why
	}
	return false, nil
}

// request builds the question and chooses the model.
func (t *turn) request(view agent.Run) (prompt.Ready, error) {
	before := &t.talk
	if t.checking(view) {
		before = &t.aside
	}
	ready, talk, err := t.book.Request(view, t.lease.Strand, t.Tools.Specs(), *before)
	if err != nil {
		return prompt.Ready{}, err
	}
	*before = talk
	ready.Model = t.ModelName
	if ready.Fast && t.FastName != "" {
		ready.Model = t.FastName
	}
	ready.Watch = chants
	return ready, nil
}

// unpriced stops a run whose money cannot be counted. A check-in is only missed.
func (t *turn) unpriced(view agent.Run, model string) {
	if t.checking(view) {
		t.miss(view, "the model "+model+" has no price")
		return
	}
	t.event(agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: fmt.Sprintf(
		"this run has a money limit, and the model %s has no price: set model.prices.%s and resume", model, model)})
}

// stopLook is how long a call runs before anybody looks whether its run was
// stopped meanwhile: most calls are over by then.
const stopLook = 500 * time.Millisecond

// untilStopped is ctx that also ends when people end the run: nobody waits for
// an answer that is not wanted any more. A run that was ending when the call
// began wants it: that is its report. Call release when the call is over.
func (t *turn) untilStopped(ctx context.Context) (bound context.Context, release func()) {
	bound, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	begun := t.run
	look := time.AfterFunc(stopLook, func() {
		defer close(over)
		for run := begun; ; {
			if run.Cancelled != nil || (run.Finish && !begun.Finish) {
				stop()
				return
			}
			if t.Blobs.Await(bound, run.ID, run.Seq) != nil {
				return
			}
			var err error
			if run, err = t.folds.load(bound, t.lease.Run); err != nil {
				return
			}
		}
	})
	return bound, func() {
		stop()
		if !look.Stop() {
			<-over
		}
	}
}

// settle makes the call and puts its answer and the difference to the
// reservation into the batch. A call that was cut off by the end of the
// process or of the run leaves the reservation as it is.
func (t *turn) settle(ctx context.Context, ready prompt.Ready, asked agent.ModelAsked, prompt int) (cut bool) {
	bound, release := t.untilStopped(ctx)
	began := time.Now()
	resp, err := t.Model.Complete(bound, ready.Request)
	cut = err != nil && bound.Err() != nil
	release()
	answered := agent.ModelAnswered{
		Call: asked.Call, Purpose: asked.Purpose, Model: asked.Model,
		PromptHash: asked.PromptHash, Took: time.Since(began),
	}
	switch {
	case cut:
		t.add(nil, t.run.Lost(t.lease.Strand)...)
		return cut
	case err != nil:
		t.failed(&answered, err)
	default:
		t.usage(&answered, resp, prompt)
		judgeAnswer(&answered, resp)
	}
	t.event(answered)
	back := charge{nano: nanoOf(answered.Cost) - nanoOf(asked.Reserve),
		tokens: int64(answered.Prompt+answered.Completion) - int64(asked.ReserveTokens)}
	t.spend = append(t.spend, t.charges(t.run, back, 0, false)...)
	for _, n := range notices(t.view()) {
		t.event(n)
	}
	return false
}

func (t *turn) failed(a *agent.ModelAnswered, err error) {
	a.Error = err.Error()
	zero := agent.Nano(0)
	a.Cost = &zero
	if fault, is := errors.AsType[*llm.Error](err); is {
		a.Refused = fault.Refused()
	}
	t.Log.Warn("model call failed", "run", t.lease.Run, "strand", t.lease.Strand, "purpose", a.Purpose, "err", err)
}

func (t *turn) usage(a *agent.ModelAnswered, resp llm.Response, prompt int) {
	a.Prompt, a.Completion, a.Cached = resp.Usage.Prompt, resp.Usage.Completion, resp.Usage.Cached
	a.Estimated = resp.Estimated
	if a.Prompt == 0 && a.Completion == 0 {
		a.Prompt, a.Completion, a.Estimated = prompt, llm.CountAnswer(resp.Message), true
	}
	if price, priced := t.price(a.Model); priced {
		cost := price.of(llm.Usage{Prompt: a.Prompt, Completion: a.Completion, Cached: a.Cached})
		a.Cost = &cost
	}
}

// judgeAnswer decides whether an answer can be used at all. Its calls are
// looked at one by one later.
func judgeAnswer(a *agent.ModelAnswered, resp llm.Response) {
	m := resp.Message
	spelt := len(m.Calls) > 0 && strings.HasPrefix(strings.TrimSpace(m.Content), "{") // the text is the call: model.mode json
	if words, is := chanted(m.Content); is && !spelt {
		m.Content, m.Calls = words, nil
		a.Message, a.Problem = &m, reflect.Advice(agent.RuleChant)
		return
	}
	switch {
	case m.Refusal != "":
		a.Error = "the model declined: " + m.Refusal
	case resp.Finish == "content_filter":
		a.Error = "the provider's content filter stopped the answer"
	case len(m.Calls) > 0:
		a.Message = &m
	case resp.Finish == "length":
		a.Message, a.Problem = &m, "Your answer was cut off at its maximum length before it called a function. Answer again, shorter, by calling one of the functions."
	case strings.TrimSpace(m.Content) == "":
		a.Problem = "Your answer was empty. Answer by calling one of the functions."
	default:
		a.Message, a.Problem = &m, "Text alone does nothing here, and neither does JSON in the text. Answer by calling one of the functions."
	}
}

// broke opens the question about a budget, unless reservations of other
// strands may be given back soon.
func (t *turn) broke(ctx context.Context, view agent.Run, budget string) (waits bool, err error) {
	if t.checking(view) {
		t.miss(view, "it does not fit the budget ("+budget+")")
		return false, nil
	}
	for id, s := range view.Strands {
		if id != t.lease.Strand && s.Call != nil {
			return false, t.rest(ctx, reservationPause)
		}
	}
	t.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
		agent.Event{Strand: t.lease.Strand, Body: view.BudgetQuestion(budget, t.now())})
	return false, nil
}

// errRested ends a turn whose strand was released already.
var errRested = errors.New("strand rests")

// rest releases the strand for a while.
func (t *turn) rest(ctx context.Context, d time.Duration) error {
	if err := t.release(ctx, t.now().Add(d)); err != nil {
		return err
	}
	return errRested
}

// exhausted names the run's own budget that leaves no room for a call.
func exhausted(r agent.Run) string {
	l := r.Limits()
	if l.Tokens > 0 && l.Tokens-r.Spent.Tokens() < l.Tokens/10+2*minAnswer {
		return agent.BudgetTokens
	}
	if l.USD > 0 {
		return agent.BudgetUSD
	}
	return agent.BudgetTokens
}
