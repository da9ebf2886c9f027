package intake

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// What a person does to a run that is there already: decide a question, give a
// hint, say something, control it, rate it. Messages, commands, clicks and
// forms all end here.

// decider is a request that may decide the questions of runs.
type decider struct{ *request }

// askedHere are the open questions, the oldest first, that the person's words may
// be about: those that were put before people (a run of the terminal puts its own
// there). What was said before the bot was back is about none that came after it.
// It is no leave to decide one: see saw.
func (req decider) askedHere(r agent.Run) []agent.Checkpoint {
	return slices.DeleteFunc(r.OpenCheckpoints(), func(c agent.Checkpoint) bool {
		return (r.Brief.ReplyTo != "" && !r.Put(c)) || (req.in.Missed && req.in.At.Before(c.Opened))
	})
}

// reading is how long a question has stood before people until what somebody
// writes can be an answer to it: sooner, it was written to what stood there before.
const reading = 2 * time.Second

// saw reports whether the person can have written this to the question: it stood
// there by the platform's own clock, however late the words arrive, and they are
// the words that were sent, not what an edit made of them.
func (req decider) saw(r agent.Run, c agent.Checkpoint) bool {
	put, at := r.PutAt(c), req.in.At
	if r.Brief.ReplyTo == "" { // it stands at the terminal
		put = c.Opened
	}
	if at.IsZero() { // a command, which nobody delivers late
		at = req.now
	}
	return !req.in.Edited && !put.IsZero() && !at.Before(put.Add(reading))
}

// freeQuestion is the one open question that takes own words and that the person's
// are about. Of several nobody knows which is meant.
func (req decider) freeQuestion(r agent.Run) (c agent.Checkpoint, asks, several bool) {
	var list []agent.Checkpoint
	for _, c := range r.OpenCheckpoints() {
		if (runs.TakesAnswer(c) || runs.TakesHint(c)) && req.cfg.Runs.Authority.MayDecide(r.Asking(c), c.Ask, req.in.By) {
			list = append(list, c)
		}
	}
	switch {
	case len(list) > 1:
		return c, false, true
	case len(list) == 0 || !req.saw(r, list[0]):
		return c, false, false
	}
	return list[0], true, false
}

// taker is an open question that takes a typed word, and as which decision. Why is
// the reason that came along.
type taker struct {
	check     agent.Checkpoint
	word, why string
}

// settle takes a typed decision: where exactly one open question takes it, which
// stood there when it was written, and one word is enough for what would follow.
// Else nothing is decided, and a button says what is meant.
func (req decider) settle(ctx context.Context, r agent.Run, typed string, takers []taker) (bot.Answer, error) {
	mine := slices.DeleteFunc(slices.Clone(takers), func(t taker) bool {
		return !req.cfg.Runs.Authority.MayDecide(r.Asking(t.check), t.check.Ask, req.in.By)
	})
	switch first := takers[0]; {
	case len(mine) == 0: // who may is said
		return req.decide(ctx, first.check.ID, agent.CheckpointDecided{Decision: first.word, Text: first.why})
	case first.word == agent.DecideEdit:
		return private("To edit it, press Edit on the question."), nil
	case len(takers) > 1:
		return req.pick(r, typed, mine, card.PickSeveral), nil
	case req.in.Edited:
		return req.pick(r, typed, mine, card.PickEdited), nil
	case !req.saw(r, first.check):
		return req.pick(r, typed, mine, card.PickLate), nil
	case first.why == "" && first.check.Weighty(first.word):
		return req.pick(r, typed, mine, card.PickWeighty), nil
	default:
		return req.decide(ctx, first.check.ID, agent.CheckpointDecided{Decision: first.word, Text: first.why})
	}
}

// maxPicks is how many questions somebody is offered to choose from.
const maxPicks = 5

// pick asks which question is meant, or whether it is: nothing is decided yet.
func (req decider) pick(r agent.Run, typed string, mine []taker, why card.PickWhy) bot.Answer {
	list := make([]card.Pick, 0, maxPicks)
	for _, t := range mine[:min(len(mine), maxPicks)] {
		list = append(list, card.Pick{Check: t.check, Decision: t.word})
	}
	said, buttons := card.PickOne(r, typed, list, why)
	req.log("a typed decision is asked back", r, "why", string(why))
	return bot.Answer{Run: r.ID, Private: said, Buttons: &buttons}
}

// decide takes a decision of the person on the question of the id.
func (req decider) decide(ctx context.Context, id agent.CheckpointID, d agent.CheckpointDecided) (bot.Answer, error) {
	q, err := req.cfg.Runs.Question(ctx, req.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	return req.commit(ctx, q, d)
}

// commit writes down a decision on a question that the person may decide.
func (req decider) commit(ctx context.Context, q runs.Question, d agent.CheckpointDecided) (bot.Answer, error) {
	id := q.Check.ID
	if req.elsewhere(q.Run) {
		req.log("a decision from another place was refused", q.Run)
		return private("Nothing is decided: this question stands in %s. Decide it there, or where you talk to me alone.", bot.Ref{Place: replyPlace(q.Run)}.Mark()), nil
	}
	partial, err := req.partial(ctx, id)
	if err != nil {
		return bot.Answer{}, err
	}
	cleared := map[string]string{}
	for name := range partial {
		cleared[agent.PartialAnswer(id, name)] = ""
	}
	more, err := req.cfg.Runs.Answer(ctx, req.in.By, q, d, req.withNames(cleared))
	if req.wrote(err) != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	if more > 0 {
		return bot.Answer{Run: id.Run(), Private: "You approved this; " + format.Count(more, "more approval") + " needed."}, nil
	}
	if req.isMessage() {
		return bot.Answer{Run: id.Run(), Mark: bot.MarkNoted}, nil
	}
	return bot.Answer{Run: id.Run()}, nil // the question's message says it
}

// elsewhere reports whether the person decides from a channel in which the run does
// not live and has shown nothing: those there have not seen what is decided.
func (req decider) elsewhere(r agent.Run) bool {
	if req.in.Where.Channel == "" || r.Brief.ReplyTo == "" || req.alone() || authority.LivesAt(r, req.in.Where) {
		return false
	}
	for _, shown := range r.Shown { // a reminder in a direct conversation
		at, err := bot.ParseAddress(shown.Message)
		if err == nil && at.Place() == req.in.Where.Place() {
			return false
		}
	}
	_, pressed := req.in.Act.(bot.Pressed)
	return !pressed || !posting(r)
}

// posting reports whether a message of the run is on its way: its button may be
// pressed before its place is written down.
func posting(r agent.Run) bool {
	for _, t := range r.Strands.Of(agent.Voice).Talks {
		if len(t.Talk.Open) > 0 {
			return true
		}
	}
	return false
}

// replyPlace is where the run answers.
func replyPlace(r agent.Run) bot.Address {
	at, err := bot.ParseAddress(r.Brief.ReplyTo)
	if err != nil {
		return bot.Address{}
	}
	return at
}

// partial are the answers that were given to a question of several points, by
// the point's number.
func (req decider) partial(ctx context.Context, id agent.CheckpointID) (map[string]string, error) {
	prefix := agent.PartialAnswer(id, "")
	names, err := req.cfg.Store.Values(ctx, prefix)
	if err != nil {
		return nil, err
	}
	given := make(map[string]string, len(names))
	for name, answer := range names {
		given[strings.TrimPrefix(name, prefix)] = answer
	}
	return given, nil
}

// merged are the answers by the ids of their questions.
func merged(c agent.Checkpoint, given map[string]string) map[string]string {
	var all map[string]string
	for i, q := range c.Questions {
		if a := given[strconv.Itoa(i)]; a != "" {
			if all == nil {
				all = map[string]string{}
			}
			all[q.ID] = a
		}
	}
	return all
}

// takeHint takes in what somebody who may decide it says under the oldest question
// of a run that is stuck: it tries again, and knows how. Later, where a model
// finds out first what is meant, only what may be a choice is answered.
func (req decider) takeHint(ctx context.Context, r agent.Run, text string, files []agent.Attachment, later bool) (a bot.Answer, is bool, err error) {
	check, asks, _ := req.freeQuestion(r)
	if !asks || !runs.TakesHint(check) || text == "" && len(files) == 0 {
		return bot.Answer{}, false, nil
	}
	if text != "" && len(files) == 0 && runs.MayBeChoice(check, text) {
		return bot.Answer{Run: r.ID, Private: "Did you mean to decide? Then press a button of the question, or say what I should do differently."}, true, nil
	}
	if later {
		return bot.Answer{}, false, nil
	}
	if len(files) == 0 {
		a, err := req.decide(ctx, check.ID, agent.CheckpointDecided{Decision: agent.DecideRetry, Text: text})
		return a, true, err
	}
	said := agent.PersonSaid{Text: text, Files: files, Message: req.messageName()}
	if err := req.wrote(req.cfg.Runs.Unstick(ctx, req.in.By, check.ID, said, req.dedupe)); err != nil {
		return bot.Answer{}, true, &undecidedError{check.ID, err}
	}
	return req.acknowledge(r.ID, "Noted."), true, nil
}

// steerRun gives a person's word to the run, as a way out where it waits for one.
func (req decider) steerRun(ctx context.Context, r agent.Run, text string) (bot.Answer, error) {
	if !req.cfg.Runs.Authority.MaySteer(r, req.in.By) {
		req.log("steering was refused", r)
		return bot.Answer{Run: r.ID, Private: req.steerers(r)}, nil
	}
	if a, is, err := req.takeHint(ctx, r, text, nil, false); is || err != nil {
		return a, err
	}
	_, err := req.cfg.Runs.Tell(ctx, r.ID, req.in.By, agent.PersonSaid{Text: text, Message: req.messageName()}, req.dedupe)
	if req.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return req.acknowledge(r.ID, "Noted."), nil
}

// control pauses, resumes or cancels a run.
func (req *request) control(ctx context.Context, run agent.RunID, word agent.Word) (bot.Answer, error) {
	err := req.wrote(req.cfg.Runs.ControlOnce(ctx, run, req.in.By, agent.RunControlled{Word: word}, req.dedupe))
	if errors.Is(err, runs.ErrNotAllowed) {
		r, err := req.cfg.Runs.Load(ctx, run)
		req.log("a control word was refused", r, "word", string(word))
		return bot.Answer{Run: run, Private: req.steerers(r)}, err
	}
	if err != nil {
		return bot.Answer{}, err
	}
	said := map[agent.Word]string{agent.WordPause: "Paused.", agent.WordResume: "It goes on.", agent.WordCancel: "Cancelled."}
	return req.acknowledge(run, said[word]), nil
}

// rated keeps a rating, unless it is the one that the person gave last.
func (req *request) rated(ctx context.Context, run agent.RunID, f agent.Feedback) (bot.Answer, error) {
	events, err := req.cfg.Runs.Journals.Read(ctx, run, 0)
	if err != nil {
		return bot.Answer{}, err
	}
	thanks := bot.Answer{Run: run, Private: "Thank you: that is kept with the run."}
	for _, e := range slices.Backward(events) {
		if old, is := e.Body.(agent.Feedback); is && old.By == req.in.By.ID {
			if old.Rating == f.Rating && old.Comment == f.Comment {
				return thanks, nil
			}
			break
		}
	}
	if err := req.wrote(req.cfg.Runs.Rate(ctx, run, req.in.By, f, req.dedupe)); err != nil {
		return bot.Answer{}, err
	}
	return thanks, nil
}
