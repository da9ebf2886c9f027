package intake

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// What a person does to a run that is there already: decide a question, give a
// hint, say something, control it, rate it. Messages, commands, clicks and
// forms all end here.

// decider is a request that may decide the questions of runs.
type decider struct{ *request }

// askedHere are the open questions, the oldest first, that the person may have meant
// without naming one: those that were put before people (a run of the terminal
// puts its own there). What was said before the bot was back is about none that
// came after it.
func (req decider) askedHere(r agent.Run) []agent.Checkpoint {
	return slices.DeleteFunc(r.OpenCheckpoints(), func(c agent.Checkpoint) bool {
		return (r.Brief.ReplyTo != "" && !r.Put(c)) || (req.in.Missed && req.in.At.Before(c.Opened))
	})
}

// freeQuestion is the oldest open question that takes the person's own words.
func (req decider) freeQuestion(r agent.Run) (c agent.Checkpoint, asks bool) {
	for _, c := range req.askedHere(r) {
		if (runs.TakesAnswer(c) || runs.TakesHint(c)) && req.cfg.Runs.Authority.MayDecide(r.Asking(c), c.Ask, req.in.By) {
			return c, true
		}
	}
	return c, false
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
	check, asks := req.freeQuestion(r)
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
	_, err := req.cfg.Runs.Tell(ctx, r.ID, req.in.By, agent.PersonSaid{Text: text}, req.dedupe)
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
