package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/answer"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// minAnswer is the smallest answer worth a call, in tokens: a call is refused
// when not even its prompt and this fit the budget (RULES.md, "Cost").
const minAnswer = 256

// reservationPause is how long a strand rests when the budget is held by the
// reservations of calls under way.
const reservationPause = 500 * time.Millisecond

// asker asks the model.
type asker struct {
	*turn
	talk        prompt.Rendering // the conversation as it was last sent
	checkInTalk prompt.Rendering // that of a check-in, which leaves the other as it is
}

// ask reserves the price of a model call, makes it and settles it. The
// reservation is committed together with everything before it.
func (q *asker) ask(ctx context.Context, view *agent.Run) (waits bool, err error) {
	if q.answered() && q.crowded(view) {
		return false, q.flush(ctx) // and learn what happened meanwhile
	}
	purpose := q.purpose(view)
	view, first, err := q.told(ctx, view)
	if err != nil || first || q.purpose(view) != purpose {
		return false, err // something else comes first
	}
	ready, err := q.request(view)
	if err != nil {
		return false, err
	}
	price, priced := q.priceOf(ready.Model)
	if view.Limits().USD > 0 && !priced {
		q.unpriced(view, ready.Model)
		return false, nil
	}
	prompt := llm.Count(ready.Request)
	if (compacter{q.turn}).full(ctx, view, ready, prompt) {
		return false, nil // and decide anew
	}
	ready.MaxTokens = cost.Room(view, prompt, q.MaxAnswer, price)
	if ready.MaxTokens < minAnswer {
		return q.overBudget(ctx, view, exhausted(view))
	}
	ready.MaxTokens = min(ready.MaxTokens, longest(purpose, q.MaxAnswer))
	asked := q.reserve(view, ready, prompt)
	question := limit.Question{Model: ready.Model, Run: q.lease.Run, Strand: q.lease.Strand,
		Background: view.Brief.Tick != nil, Tokens: asked.ReserveTokens}
	if now, err := q.passes(ctx, view, purpose, question); err != nil || !now {
		return false, err
	}
	return q.put(ctx, view, ready, asked, question)
}

// passes reports whether the limits of the endpoint let the question be put now;
// where they do not, what follows from the wait is noted.
func (q *asker) passes(ctx context.Context, view *agent.Run, purpose llm.Purpose, question limit.Question) (now bool, err error) {
	wait, err := q.admitted(ctx, question)
	switch {
	case err != nil:
		return false, err
	case wait > 0 && purpose == llm.Hear && q.tooLong(*view, wait):
		hearer{q.turn}.miss(*view, "the model takes no more requests for a while")
		return false, nil
	case wait > 0:
		return false, q.rest(ctx, wait)
	}
	return true, nil
}

// longest is how long an answer may be, in tokens: what words mean is said shortly.
func longest(purpose llm.Purpose, most int) int {
	switch purpose {
	case llm.Hear:
		return min(most, hearAnswer)
	case llm.Compact:
		return min(most, compactAnswer)
	}
	return most
}

// compactAnswer bounds a summary, in tokens.
const compactAnswer = 2048

// told is the run with what the model is told before it is asked: loops that were
// found, and earlier runs. First: what was found comes before the question.
func (q *asker) told(ctx context.Context, view *agent.Run) (_ *agent.Run, first bool, err error) {
	if first, err = (supervisor{q.turn}).checkLoops(ctx, view); first || err != nil {
		return view, first, err
	}
	offerer{q.turn}.offer(view)
	offerer{q.turn}.document(ctx, q.view())
	err = q.remember(ctx, view)
	return q.view(), false, err
}

// remember looks up what earlier runs of the goal came to, and what else is
// remembered.
func (q *asker) remember(ctx context.Context, view *agent.Run) error {
	found, old, err := q.past().Look(ctx, view, q.lease.Strand)
	if err != nil {
		return err
	}
	q.events(found)
	for _, name := range old {
		q.names = withName(q.names, name, "")
	}
	return nil
}

// priceOf is what the model's tokens cost, where that is known.
func (q *asker) priceOf(model string) (p cost.Price, known bool) {
	p, known = q.Prices[model]
	return p, known
}

// charges spreads an amount over everything that the run's calls are charged to.
func (q *asker) charges(r *agent.Run, a cost.Amount, steps int64, bounded bool) []agent.Spend {
	var wider []cost.Allowance
	if q.Wider != nil {
		wider = q.Wider(r.Brief, r.Started) // a settlement goes to the counters of the month that its run began in
	}
	return cost.Spend(r, wider, a, steps, bounded)
}

// reserve is the question as it is journalled: with the price of its prompt, of
// so many tokens, and of the longest answer.
func (q *asker) reserve(view *agent.Run, ready prompt.Ready, tokens int) agent.ModelAsked {
	asked := agent.ModelAsked{
		Call:    fmt.Sprintf("%s.%d", q.lease.Strand, view.Strands.Of(q.lease.Strand).Calls+1),
		Purpose: ready.Purpose, Model: ready.Model, PromptHash: ready.Hash,
		ReserveTokens: tokens + ready.MaxTokens,
	}
	if price, priced := q.priceOf(ready.Model); priced {
		sum := price.Of(llm.Usage{Prompt: tokens, Completion: ready.MaxTokens})
		asked.Reserve = &sum
	}
	return asked
}

// Bounds of the question what a person's words mean: everything else waits for
// it.
const (
	hearAnswer   = 512              // tokens
	hearPatience = 15 * time.Second // until the words are taken for what they are without a model
)

// tooLong reports whether the words that are to be understood cannot wait so
// much longer.
func (q *asker) tooLong(view agent.Run, wait time.Duration) bool {
	return len(view.Unread) > 0 && q.now().Add(wait).Sub(view.Unread[0].At) > hearPatience
}

// longestHold is how long a question may hold its worker while it waits for the
// model's limits: putting a strand back and claiming it costs about as much.
const longestHold = 250 * time.Millisecond

// admitted waits for the model's limits, shortly. Where it takes longer, it
// returns how long the strand has to rest; its place in the line is kept.
func (q *asker) admitted(ctx context.Context, question limit.Question) (rest time.Duration, err error) {
	for hold := longestHold; ; {
		rest, err := q.limits.Ask(ctx, question)
		if err != nil || rest <= 0 || rest > hold {
			return rest, err
		}
		if hold -= rest; !wait.Sleep(ctx, rest) {
			return 0, ctx.Err()
		}
	}
}

// answered reports whether the batch has an answer of the model: the fold is as
// old as its question.
func (q *asker) answered() bool {
	return slices.ContainsFunc(q.batch, func(e agent.Event) bool { return e.Body.Kind() == agent.ModelAnswered{}.Kind() })
}

// crowded reports whether other strands of the run are asking, too: their
// commits come in between.
func (q *asker) crowded(view *agent.Run) bool {
	for id, s := range view.Strands.All() {
		if id != q.lease.Strand && s.Call != nil {
			return true
		}
	}
	return false
}

// put reserves the price of the question, together with everything that was
// done before it, puts it and settles it.
func (q *asker) put(ctx context.Context, view *agent.Run, ready prompt.Ready, asked agent.ModelAsked, question limit.Question) (waits bool, err error) {
	q.event(asked)
	settled := len(q.spend) // what earlier calls give back stays, also where this one does not fit
	q.spend = append(q.spend, q.charges(view, cost.Reserved(asked), 1, true)...)
	alone := q.run.Seq + uint64(len(q.batch))
	var over *agent.BudgetError
	err = q.commit(ctx, q.answered()) // what was said while an answer was awaited is heard first
	if errors.As(err, &over) || errors.Is(err, agent.ErrStale) {
		q.batch, q.upTo, q.spend = q.batch[:len(q.batch)-1], 0, q.spend[:settled]
		q.limits.Return(question)
	}
	switch {
	case errors.Is(err, agent.ErrStale):
		return false, q.flush(ctx) // and decide anew
	case over != nil:
		return q.overBudget(ctx, view, agent.BudgetOf(over.Counter))
	case err != nil:
		return false, err
	}
	if q.run.Seq != alone && q.purpose(q.run) == asked.Purpose {
		// What people and other strands wrote since the last commit is known to
		// the next question, as if each call had been a commit of its own.
		room := ready.MaxTokens
		if ready, err = q.request(q.run); err != nil {
			return false, err
		}
		ready.MaxTokens = room
	}
	if cut := q.settle(ctx, ready, asked, question); cut {
		return false, q.flush(ctx) // and learn why
	}
	return false, nil
}

// request builds the question and chooses the model.
func (q *asker) request(view *agent.Run) (prompt.Ready, error) {
	before := &q.talk
	if q.checking(view) {
		before = &q.checkInTalk
	}
	ready, talk, err := q.book.Request(view, q.lease.Strand, q.Tools.Specs(), *before)
	if err != nil {
		return prompt.Ready{}, err
	}
	*before = talk
	ready.Model = q.ModelName
	if ready.Fast && q.FastName != "" {
		ready.Model = q.FastName
	}
	ready.Watch = answer.Chants
	return ready, nil
}

// unpriced stops a run whose money cannot be counted. A check-in is only missed,
// and words are only not understood.
func (q *asker) unpriced(view *agent.Run, model string) {
	if q.lease.Strand == agent.Hear {
		hearer{q.turn}.miss(*view, "the model "+model+" has no price")
		return
	}
	if q.checking(view) {
		supervisor{q.turn}.missCheckIn(view, "the model "+model+" has no price")
		return
	}
	q.event(agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: fmt.Sprintf(
		"this run has a money limit, and the model %s has no price: set model.prices.%s and resume", model, model)})
}

// settle makes the call and puts its answer and the difference to the
// reservation into the batch. A call that was cut off by the end of the
// process or of the run leaves the reservation as it is.
func (q *asker) settle(ctx context.Context, ready prompt.Ready, asked agent.ModelAsked, question limit.Question) (cut bool) {
	bound, release := q.untilStopped(ctx, q.run)
	began := time.Now()
	resp, err := q.complete(bound, ready.Request)
	cut = err != nil && bound.Err() != nil
	release()
	answered := agent.ModelAnswered{
		Call: asked.Call, Purpose: asked.Purpose, Model: asked.Model,
		PromptHash: asked.PromptHash, Took: time.Since(began),
	}
	why, shorter := "", compacter{q.turn}.refused(q.view(), ready, err)
	switch {
	case cut:
		q.add(nil, q.run.Strands.Lost(q.lease.Strand)...)
		return cut
	case len(shorter) > 0:
		answered.RetryAt, answered.RetryReason = q.now(), "took no prompt of that length"
	case err != nil:
		why = q.failed(&answered, err)
		q.refused(ctx, question, err)
		q.noteOutage(ctx, answered, err, why != "")
	default:
		q.heard.Store(true)
		if q.Outages != nil {
			q.Outages.Back(ctx, asked.Model)
		}
		q.usage(&answered, resp, asked.ReserveTokens-ready.MaxTokens)
		q.limits.Answered(question, resp.Quota, answered.Prompt+answered.Completion)
		answer.Judge(&answered, resp, q.answerLimit(ready.MaxTokens))
	}
	q.event(answered)
	q.events(shorter)
	steps := int64(0)
	if answered.Free() {
		steps = -1
	}
	q.spend = append(q.spend, q.charges(q.run, cost.Back(answered, asked), steps, false)...)
	if why != "" {
		q.event(agent.RunControlled{Word: agent.WordPause, By: agent.Deckhand, Reason: why})
	}
	for _, n := range cost.Notices(q.view()) {
		q.event(n)
	}
	return false
}

// complete makes the call. What a person's words mean is not waited for long.
func (q *asker) complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Purpose != llm.Hear {
		return q.Model.Complete(ctx, r)
	}
	ctx, cancel := context.WithTimeout(ctx, hearPatience)
	defer cancel()
	return q.Model.Complete(ctx, r)
}

// failed says what became of a question without an answer: it failed, or it is
// put again at a time, and the run pauses first where why is set. An answer that
// broke off is paid as far as it came.
func (q *asker) failed(a *agent.ModelAnswered, err error) (why string) {
	q.Log.Warn("model call failed", "run", q.lease.Run, "strand", q.lease.Strand, "purpose", a.Purpose, "err", err)
	zero := agent.Nano(0)
	a.Cost, a.Error = &zero, err.Error()
	fault, is := errors.AsType[*llm.Error](err)
	if !is {
		return ""
	}
	a.Refused = fault.Refused()
	if fault.Spent != (llm.Usage{}) {
		q.usage(a, llm.Response{Usage: fault.Spent, Estimated: true}, 0)
	}
	a.RetryReason = fault.Plain
	if !q.Patience.Waits(fault) || a.Purpose == llm.Hear { // nobody waits until it answers again
		return ""
	}
	before := q.run.Strands.Of(q.lease.Strand).Retry
	unheard := !fault.Reached && !q.heard.Load() && q.run.Spent.Completion == 0
	choice, at := q.Patience.Next(before, fault, unheard, q.now())
	if choice == limit.Fail || choice == limit.Pause && a.Refused {
		if a.Refused {
			return "" // the run pauses by it
		}
		a.Error = fault.GivenUp(before.Tries + 1).Error()
		return ""
	}
	a.Error, a.RetryAt, a.Refused = "", at, false
	if choice == limit.Pause {
		why = "the model's endpoint " + fault.Plain + ". `deckhand doctor` says what is wrong with it; resume once it answers"
	}
	return why
}

// awayFor is how long an endpoint has given no answer until people are told.
const awayFor = time.Minute

// noteOutage says that the model gives no answers: at once where a person has to
// mend it, else once that has lasted or the patience is over. A limit is none: it
// ends by itself.
func (q *asker) noteOutage(ctx context.Context, a agent.ModelAnswered, err error, over bool) {
	fault, is := errors.AsType[*llm.Error](err)
	if q.Outages == nil || !is || fault.Fault == llm.Limited || !fault.Refused() && !fault.Passing() {
		return
	}
	since := q.run.Strands.Of(q.lease.Strand).Retry.Since
	lasts := !since.IsZero() && q.now().Sub(since) >= awayFor
	if fault.Refused() || over || lasts || a.RetryAt.IsZero() {
		q.Outages.Away(ctx, a.Model, fault.Plain, fault.Refused())
	}
}

// refused tells the limiter of a question that was not answered.
func (q *asker) refused(ctx context.Context, question limit.Question, err error) {
	fault, is := errors.AsType[*llm.Error](err)
	switch {
	case !is:
		return
	case fault.Fault != llm.Limited:
		q.limits.Answered(question, fault.Quota, fault.Spent.Prompt+fault.Spent.Completion)
		return
	}
	if err := q.limits.Refused(ctx, question, fault.Quota, fault.RetryAfter); err != nil {
		q.Log.Warn("cannot tell other processes that the model takes no more requests", "model", question.Model, "err", err)
	}
}

func (q *asker) usage(a *agent.ModelAnswered, resp llm.Response, prompt int) {
	a.Prompt, a.Completion, a.Cached = resp.Usage.Prompt, resp.Usage.Completion, resp.Usage.Cached
	a.Estimated = resp.Estimated
	if a.Prompt == 0 && a.Completion == 0 {
		a.Prompt, a.Completion, a.Estimated = prompt, llm.CountAnswer(resp.Message), true
	}
	if price, priced := q.priceOf(a.Model); priced {
		sum := price.Of(llm.Usage{Prompt: a.Prompt, Completion: a.Completion, Cached: a.Cached})
		a.Cost = &sum
	}
}

// answerLimit says how long an answer may be, and why.
func (q *asker) answerLimit(tokens int) string {
	if tokens < q.MaxAnswer {
		return fmt.Sprintf("%d tokens, which is what the run's budget leaves", tokens)
	}
	return fmt.Sprintf("%d tokens (model.max_answer_tokens)", tokens)
}

// overBudget opens the question about a budget, unless reservations of other
// strands may be given back soon.
func (q *asker) overBudget(ctx context.Context, view *agent.Run, budget string) (waits bool, err error) {
	if q.lease.Strand == agent.Hear {
		hearer{q.turn}.miss(*view, "the budget is used up")
		return false, nil
	}
	if q.checking(view) {
		supervisor{q.turn}.missCheckIn(view, "it does not fit the budget ("+budget+")")
		return false, nil
	}
	if q.crowded(view) {
		return false, q.rest(ctx, reservationPause)
	}
	q.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
		agent.Event{Strand: q.lease.Strand, Body: agent.BudgetQuestion(*view, budget, q.now())})
	return false, nil
}

// exhausted names the run's own budget that leaves no room for a call.
func exhausted(r *agent.Run) string {
	l := r.Limits()
	if l.Tokens > 0 && l.Tokens-r.Spent.Tokens() < l.Tokens/10+2*minAnswer {
		return agent.BudgetTokens
	}
	if l.USD > 0 {
		return agent.BudgetUSD
	}
	return agent.BudgetTokens
}
