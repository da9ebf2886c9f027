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

// decider is a request that may decide the questions of runs.
type decider struct{ *request }

// put are the open questions, the oldest first, that the person may have meant
// without naming one: those that were put before people (a run of the terminal
// puts its own there). What was said before the bot was back is about none that
// came after it.
func (h decider) put(r agent.Run) []agent.Checkpoint {
	return slices.DeleteFunc(r.OpenCheckpoints(), func(c agent.Checkpoint) bool {
		return (r.Brief.ReplyTo != "" && !r.Put(c)) || (h.in.Missed && h.in.At.Before(c.Opened))
	})
}

// question is the oldest open question that takes the person's own words.
func (h decider) question(r agent.Run) (c agent.Checkpoint, asks bool) {
	for _, c := range h.put(r) {
		if (runs.Free(c) || runs.Hinted(c)) && h.cfg.Desk.Authority.May(r, c.Ask, h.in.By) {
			return c, true
		}
	}
	return c, false
}

// decide takes a decision of the person on the question of the id.
func (h decider) decide(ctx context.Context, id agent.CheckpointID, d agent.CheckpointDecided) (bot.Answer, error) {
	q, err := h.cfg.Desk.Question(ctx, h.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	return h.commit(ctx, q, d)
}

// commit writes down a decision on a question that the person may decide.
func (h decider) commit(ctx context.Context, q runs.Question, d agent.CheckpointDecided) (bot.Answer, error) {
	id := q.Check.ID
	partial, err := h.partial(ctx, id)
	if err != nil {
		return bot.Answer{}, err
	}
	cleared := map[string]string{}
	for name := range partial {
		cleared[partialName(id, name)] = ""
	}
	more, err := h.cfg.Desk.Answer(ctx, h.in.By, q, d, h.with(cleared))
	if h.wrote(err) != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	if more > 0 {
		return bot.Answer{Run: id.Run(), Private: "You approved this; " + format.Count(more, "more approval") + " needed."}, nil
	}
	if h.spoke() {
		return bot.Answer{Run: id.Run(), Mark: bot.MarkNoted}, nil
	}
	return bot.Answer{Run: id.Run()}, nil // the question's message says it
}

// partialName is where the answer to one of several questions is kept until
// all are answered.
func partialName(id agent.CheckpointID, question string) string {
	return "answers/" + string(id) + "/" + question
}

// partial are the answers that were given to a question of several points, by
// the point's number.
func (h decider) partial(ctx context.Context, id agent.CheckpointID) (map[string]string, error) {
	prefix := partialName(id, "")
	names, err := h.cfg.Store.Values(ctx, prefix)
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

// hint takes in what somebody who may decide it says under the oldest question
// of a run that is stuck: it tries again, and knows how.
func (h decider) hint(ctx context.Context, r agent.Run, text string, files []agent.Attachment) (a bot.Answer, is bool, err error) {
	check, asks := h.question(r)
	if !asks || !runs.Hinted(check) || text == "" && len(files) == 0 {
		return bot.Answer{}, false, nil
	}
	if text != "" && len(files) == 0 && runs.Vague(check, text) {
		return bot.Answer{Run: r.ID, Private: "Did you mean to decide? Then press a button of the question, or say what I should do differently."}, true, nil
	}
	if len(files) == 0 {
		a, err := h.decide(ctx, check.ID, agent.CheckpointDecided{Decision: agent.DecideRetry, Text: text})
		return a, true, err
	}
	said := agent.PersonSaid{Text: text, Files: files}
	if err := h.wrote(h.cfg.Desk.Unstick(ctx, h.in.By, check.ID, said, h.dedupe)); err != nil {
		return bot.Answer{}, true, &undecidedError{check.ID, err}
	}
	return h.marked(r.ID, "Noted."), true, nil
}

// told gives a person's word to the run, as a way out where it waits for one.
func (h decider) told(ctx context.Context, r agent.Run, text string) (bot.Answer, error) {
	if !h.cfg.Desk.Authority.Steers(r, h.in.By) {
		h.log("steering was refused", r)
		return bot.Answer{Run: r.ID, Private: h.steerers(r)}, nil
	}
	if a, is, err := h.hint(ctx, r, text, nil); is || err != nil {
		return a, err
	}
	_, err := h.cfg.Desk.Tell(ctx, r.ID, h.in.By, agent.PersonSaid{Text: text}, h.dedupe)
	if h.wrote(err) != nil {
		return bot.Answer{}, err
	}
	return h.marked(r.ID, "Noted."), nil
}

// control pauses, resumes or cancels a run.
func (h *request) control(ctx context.Context, run agent.RunID, word agent.Word) (bot.Answer, error) {
	err := h.wrote(h.cfg.Desk.ControlOnce(ctx, run, h.in.By, agent.RunControlled{Word: word}, h.dedupe))
	if errors.Is(err, runs.ErrNotAllowed) {
		r, err := h.cfg.Desk.Load(ctx, run)
		h.log("a control word was refused", r, "word", string(word))
		return bot.Answer{Run: run, Private: h.steerers(r)}, err
	}
	if err != nil {
		return bot.Answer{}, err
	}
	said := map[agent.Word]string{agent.WordPause: "Paused.", agent.WordResume: "It goes on.", agent.WordCancel: "Cancelled."}
	return h.marked(run, said[word]), nil
}

// rated keeps a rating, unless it is the one that the person gave last.
func (h *request) rated(ctx context.Context, run agent.RunID, f agent.Feedback) (bot.Answer, error) {
	events, err := h.cfg.Desk.Journals.Read(ctx, run, 0)
	if err != nil {
		return bot.Answer{}, err
	}
	thanks := bot.Answer{Run: run, Private: "Thank you: that is kept with the run."}
	for _, e := range slices.Backward(events) {
		if old, is := e.Body.(agent.Feedback); is && old.By == h.in.By.ID {
			if old.Rating == f.Rating && old.Comment == f.Comment {
				return thanks, nil
			}
			break
		}
	}
	if err := h.wrote(h.cfg.Desk.Rate(ctx, run, h.in.By, f, h.dedupe)); err != nil {
		return bot.Answer{}, err
	}
	return thanks, nil
}
