package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Clicks on the buttons of cards.

// press is a click on a button.
type press struct{ decider }

// receive takes in a click.
func (req press) receive(ctx context.Context, b bot.Button) (bot.Answer, error) {
	switch b.Act {
	case bot.ActDecide:
		return req.click(ctx, agent.CheckpointID(b.ID), b.Word)
	case bot.ActControl:
		return req.controls(ctx, b)
	case bot.ActRate:
		return req.rate(ctx, agent.RunID(b.ID), b.Word)
	case bot.ActShow:
		return req.shows(ctx, b)
	case bot.ActStart:
		return req.ask(ctx)
	case bot.ActSteer:
		return req.steering(ctx, agent.RunID(b.ID))
	case bot.ActForm:
		return req.reopen(ctx, b.ID)
	case bot.ActWhich:
		return req.choose(ctx, agent.RunID(b.Word), b.ID)
	case bot.ActUse:
		return req.use(ctx, agent.RunID(b.ID), b.Word)
	case bot.ActConfirm:
		return req.confirm(ctx, agent.RunID(b.ID), b.Word)
	case bot.ActPick:
		return req.picked(ctx, agent.CheckpointID(b.ID), b.Word)
	}
	return strange(), nil
}

// strange answers a button that nobody knows.
func strange() bot.Answer {
	return private("I do not know this button; it may be of an older version.")
}

// controls is a click that controls a run, or an order about schedules.
func (req press) controls(ctx context.Context, b bot.Button) (bot.Answer, error) {
	if w := agent.Word(b.Word); slices.Contains([]agent.Word{agent.WordPause, agent.WordResume, agent.WordCancel}, w) {
		return req.control(ctx, agent.RunID(b.ID), w)
	}
	if b.Word == bot.WordUndo || b.Word == bot.WordChange {
		return orderAbout(req.request, b.ID).pressed(ctx, b)
	}
	return strange(), nil
}

// shows is a click that asks how a run is.
func (req press) shows(ctx context.Context, b bot.Button) (bot.Answer, error) {
	if w := showing(b.Word); slices.Contains([]showing{showStatus, showPlan, showBudget, showPermissions}, w) {
		return req.show(ctx, agent.RunID(b.ID), w)
	}
	return strange(), nil
}

// confirm takes the decision that a person's words seemed to mean. Whoever may
// decide may confirm it; the words are the reason of a denial.
func (req press) confirm(ctx context.Context, run agent.RunID, word string) (bot.Answer, error) {
	r, err := req.cfg.Runs.LoadLive(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	said, _ := strconv.ParseUint(word, 10, 64) // 0 is no event
	heard, known := r.Heard(said)
	if !known || heard.Decision == "" {
		return bot.Answer{Run: run, Private: "This button is too old. Press a button of the question itself."}, nil
	}
	d := agent.CheckpointDecided{Decision: heard.Decision}
	if d.Decision == agent.DecideDeny {
		d.Text = heard.Words
	}
	return req.decide(ctx, heard.Of, d)
}

// picked takes the decision that a typed word did not make by itself. What asked for
// it says what came of it.
func (req press) picked(ctx context.Context, id agent.CheckpointID, word string) (bot.Answer, error) {
	q, err := req.cfg.Runs.Question(ctx, req.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	a, err := req.commit(ctx, q, agent.CheckpointDecided{Decision: card.PickedWord(q.Check, word)})
	if err != nil || a.Private != "" {
		return a, err
	}
	r, err := req.cfg.Runs.Load(ctx, id.Run())
	if err != nil {
		return bot.Answer{}, err
	}
	told := card.Picked(r, r.Checks[id])
	a.Instead = &told
	return a, nil
}

// steering opens the form for a word to the run.
func (req press) steering(ctx context.Context, run agent.RunID) (bot.Answer, error) {
	r, err := req.cfg.Runs.LoadLive(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	if !req.cfg.Runs.Authority.MaySteer(r, req.in.By) {
		req.log("steering was refused", r)
		return bot.Answer{Run: r.ID, Private: req.steerers(r)}, nil
	}
	return bot.Answer{Run: r.ID, Form: form.ToSteer(r)}, nil
}

// click decides by a button, or opens the form for what the decision needs.
func (req press) click(ctx context.Context, id agent.CheckpointID, word string) (bot.Answer, error) {
	q, err := req.cfg.Runs.Question(ctx, req.in.By, id)
	if err != nil {
		return bot.Answer{}, &undecidedError{id, err}
	}
	check := q.Check
	if asked, text, is := card.ReadChoice(check, word); is && check.Ask == agent.CheckClarify {
		if len(check.Questions) == 1 {
			return req.commit(ctx, q, agent.CheckpointDecided{Decision: text})
		}
		return req.point(ctx, q, asked, text)
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(check.Choices) {
		word = check.Choices[n-1]
	}
	if f, needed, err := req.formFor(ctx, q.Run, check, word); needed {
		return bot.Answer{Run: q.Run.ID, Form: f}, err
	}
	return req.commit(ctx, q, agent.CheckpointDecided{Decision: word})
}

// formFor is the form for what a decision needs, where it needs anything.
func (req press) formFor(ctx context.Context, r agent.Run, check agent.Checkpoint, word string) (f *bot.Form, needed bool, err error) {
	switch {
	case word == agent.DecideDeny && (check.Ask == agent.CheckPlan || check.Ask == agent.CheckApproval):
		return form.ToDeny(check, card.Title(r, check)), true, nil
	case word == agent.DecideEdit && slices.Contains(check.Choices, word):
		f, err = form.ToEdit(check, card.Title(r, check))
		return f, true, err
	case (word == card.WordOther || word == agent.DecideAnswer) && runs.TakesAnswer(check):
		given, err := req.partial(ctx, check.ID)
		return form.ToAnswer(check, given), true, err
	}
	return nil, false, nil
}

// point keeps the answer to one of several questions; with the last one all
// are the decision. Each has a name of its own, so that two clicks at once are
// both kept, and a click that comes again finds its answer there.
func (req press) point(ctx context.Context, q runs.Question, question, line string) (bot.Answer, error) {
	c := q.Check
	at := slices.IndexFunc(c.Questions, func(p agent.Question) bool { return p.ID == question })
	if err := req.cfg.Store.SetValue(ctx, agent.PartialAnswer(c.ID, strconv.Itoa(at)), strings.ReplaceAll(line, "\x00", "")); err != nil {
		return bot.Answer{}, err
	}
	given, err := req.partial(ctx, c.ID)
	if err != nil {
		return bot.Answer{}, err
	}
	open := 0
	for i := range c.Questions {
		if given[strconv.Itoa(i)] == "" {
			open++
		}
	}
	if open > 0 {
		return bot.Answer{Run: c.ID.Run(), Private: "Your answer: " + text.Quoted(line, 200) + ". " + format.Count(open, "more question") + " to answer."}, nil
	}
	return req.commit(ctx, q, agent.CheckpointDecided{Decision: agent.DecideAnswer, Answers: merged(c, given)})
}

// rate keeps a rating at once, or asks what was wrong.
func (req press) rate(ctx context.Context, run agent.RunID, word string) (bot.Answer, error) {
	r, err := req.cfg.Runs.Load(ctx, run)
	switch {
	case err != nil:
		return bot.Answer{}, err
	case r.Ended == nil:
		return bot.Answer{}, runs.ErrNotEnded
	case word == "-1":
		return bot.Answer{Run: run, Form: form.ToRate(run)}, nil
	case word != "+1":
		return strange(), nil
	}
	return req.rated(ctx, run, agent.Feedback{Rating: 1})
}

// noteWord is what stands on the button of a colleague's note: it names just these
// words of this person.
func noteWord(by, words string) string {
	sum := sha256.Sum256([]byte(by + "\x00" + words))
	return hex.EncodeToString(sum[:8])
}

// use makes a colleague's note steering, once, in the names of both: the words that
// the run's journal has, which are those that the button stands under.
func (req press) use(ctx context.Context, run agent.RunID, word string) (bot.Answer, error) {
	r, err := req.cfg.Runs.LoadLive(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	if !req.cfg.Runs.Authority.MaySteer(r, req.in.By) {
		req.log("steering was refused", r)
		return bot.Answer{Run: run, Private: req.steerers(r)}, nil
	}
	at := slices.IndexFunc(r.Said, func(n agent.Note) bool { return !n.Trusted && noteWord(n.By, n.Text) == word })
	if at < 0 {
		return private("I do not know this note (any more)."), nil
	}
	note := r.Said[at]
	for _, n := range r.Said {
		if n.Trusted && n.Author == note.By && n.Text == note.Text {
			used := card.NoteUsed(r, note, n.By)
			return bot.Answer{Run: run, Instead: &used}, nil
		}
	}
	once := req.withNames(nil)
	once.Once = append([]string{"note/" + string(run) + "/" + word}, once.Once...)
	said := agent.PersonSaid{Text: note.Text, Author: note.By}
	if check, asks, _ := req.freeQuestion(r); asks && runs.TakesHint(check) {
		err = req.cfg.Runs.Unstick(ctx, req.in.By, check.ID, said, once)
	} else {
		_, err = req.cfg.Runs.Tell(ctx, run, req.in.By, said, once)
	}
	if req.wrote(err) != nil {
		return bot.Answer{}, err
	}
	used := card.NoteUsed(r, note, req.in.By.ID)
	return bot.Answer{Run: run, Instead: &used}, nil
}
