package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/form"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a person typed and what waits for one more click of theirs: a form with a
// value that could not be taken, words that may be meant for one of several runs.
// A person has one of each; the next takes its place.

// The names of what is kept of a person.
const (
	keptForm  = "form"
	keptWords = "words"
)

// kept is what a person typed. ID is a word that stands on the buttons about it,
// so that an older button does not act on newer words.
type kept struct {
	ID string `json:"id"`
	// A form, by its id, with what is wrong in it.
	Form   string            `json:"form,omitempty"`
	Values map[string]string `json:"values,omitempty"`
	Field  string            `json:"field,omitempty"`
	Why    string            `json:"why,omitempty"`
	// Words, as they were said or commanded at the time, or nothing but the stop
	// button.
	Said      *bot.Said      `json:"said,omitempty"`
	Commanded *bot.Commanded `json:"commanded,omitempty"`
	At        time.Time      `json:"at,omitzero"`
}

// drawer is where what a person typed is kept.
type drawer struct{ *request }

func (d drawer) name(what string) string { return "kept/" + d.in.By.ID + "/" + what }

// keep keeps what the person typed, and returns the word for its buttons.
func (d drawer) keep(ctx context.Context, what string, k kept) (id string, err error) {
	k.ID = agent.NewID()
	line, err := json.Marshal(k)
	if err != nil {
		return "", fmt.Errorf("keep what %s typed: %w", d.in.By.ID, err)
	}
	return k.ID, d.cfg.Store.SetValue(ctx, d.name(what), string(line))
}

// keptAs is what the person typed that the button is about; known is false where
// it was done with since, or where they typed something newer.
func (d drawer) keptAs(ctx context.Context, what, id string) (k kept, known bool, err error) {
	line, err := d.cfg.Store.Value(ctx, d.name(what))
	if err != nil || line == "" {
		return kept{}, false, err
	}
	if err := json.Unmarshal([]byte(line), &k); err != nil {
		return kept{}, false, nil //nolint:nilerr // a newer build wrote it: the person says it again
	}
	return k, k.ID == id, nil
}

// forget removes what is kept, where something is.
func (d drawer) forget(ctx context.Context, what string) error {
	line, err := d.cfg.Store.Value(ctx, d.name(what))
	if err != nil || line == "" {
		return err
	}
	return d.cfg.Store.SetValue(ctx, d.name(what), "")
}

// again shows a form once more, with everything that was typed and what is wrong
// in it. Where the platform cannot keep a form open, a button opens it.
func (req fill) again(ctx context.Context, f bot.Filled, wrong *form.FieldError) (bot.Answer, error) {
	blank, err := req.blank(ctx, f.Form, f.Values)
	if err != nil {
		return bot.Answer{}, err
	}
	id, err := drawer{req.request}.keep(ctx, keptForm, kept{Form: f.Form, Values: f.Values, Field: wrong.Field, Why: wrong.Why})
	if err != nil {
		return bot.Answer{}, err
	}
	once := form.Again(*blank, f.Values, wrong)
	return bot.Answer{Form: &once, Private: text.Escape(wrong.Why) + " Nothing that you typed is lost.",
		Buttons: &bot.Buttons{List: []bot.Button{{Label: "Open the form again", Style: bot.StylePrimary, Act: bot.ActForm, ID: id, Word: keptForm}}}}, nil
}

// reopen opens the form again that a button is about.
func (req press) reopen(ctx context.Context, id string) (bot.Answer, error) {
	k, known, err := drawer{req.request}.keptAs(ctx, keptForm, id)
	if err != nil {
		return bot.Answer{}, err
	}
	if !known {
		return private("That form was sent in since, or another one took its place."), nil
	}
	blank, err := fill(req).blank(ctx, k.Form, k.Values)
	if err != nil {
		return bot.Answer{}, err
	}
	f := form.Again(*blank, k.Values, &form.FieldError{Field: k.Field, Why: k.Why})
	return bot.Answer{Form: &f}, nil
}

// blank is the form of an id with nothing typed into it, for whoever may still
// send it in.
func (req fill) blank(ctx context.Context, id string, values map[string]string) (*bot.Form, error) {
	what, about, _ := strings.Cut(id, " ")
	switch what {
	case bot.FormRun:
		where, err := bot.ParseAddress(about)
		if err != nil {
			where = req.in.Where
		}
		f := form.ForGoal(where)
		if values[bot.FieldAutonomy] != "" { // of the platform's own command
			*f = form.WithAutonomy(*f, autonomyWords())
		}
		return f, nil
	case bot.FormSteer:
		r, err := req.cfg.Runs.LoadLive(ctx, agent.RunID(about))
		return form.ToSteer(r), err
	case form.Schedule:
		goal, works := values[form.FieldTask]
		return form.ToSchedule(about, values[form.FieldWhen], goal, works), nil
	case form.Rate:
		return form.ToRate(agent.RunID(about)), nil
	}
	q, err := req.cfg.Runs.Question(ctx, req.in.By, agent.CheckpointID(about))
	if err != nil {
		return nil, &undecidedError{agent.CheckpointID(about), err}
	}
	switch what {
	case form.Edit:
		return form.ToEdit(q.Check, card.Title(q.Run, q.Check))
	case form.Answer:
		return form.ToAnswer(q.Check, nil), nil
	}
	return form.ToDeny(q.Check, card.Title(q.Run, q.Check)), nil
}

// ambiguousError says that words may be meant for each of several runs.
type ambiguousError struct{ runs []agent.Run }

func (e *ambiguousError) Error() string { return format.Count(len(e.runs), "run") + " may be meant" }

// maxRivals is how many runs a person is offered to choose from.
const maxRivals = 5

// rivals are the person's live runs that answer in the conversation in which they
// talk to the bot alone, the newest first: words without a name may be meant for
// each of them.
func (req *request) rivals(ctx context.Context) ([]agent.Run, error) {
	if req.chosen != "" || !req.alone() || req.in.Where.ID == "" {
		return nil, nil
	}
	return req.newestRuns(ctx, maxRivals, true, func(r agent.Run) bool {
		return authority.IsRequester(r, req.in.By) && listens(r) && r.Thread() == req.in.Where.String()
	})
}

// which asks which run is meant. Nothing is done until the person has chosen.
func (req *request) which(ctx context.Context, among []agent.Run) (bot.Answer, error) {
	k := kept{At: req.in.At}
	var words string
	switch a := req.in.Act.(type) {
	case bot.Said:
		k.Said, words = &a, a.Text
	case bot.Commanded:
		k.Commanded, words = &a, a.Text
	case bot.Stopped:
		words = string(agent.WordPause)
	case bot.Unsaid, bot.Pressed, bot.Filled, bot.Visited, bot.Opened, bot.PlaceBack, bot.PlaceGone: // no words
	}
	id, err := drawer{req}.keep(ctx, keptWords, k)
	if err != nil {
		return bot.Answer{}, err
	}
	titles := make([]string, len(among))
	same := map[string]bool{}
	numbered := false
	for i, r := range among {
		titles[i] = text.InLine(r.Brief.Goal, maxRival)
		numbered = numbered || same[titles[i]]
		same[titles[i]] = true
	}
	buttons := make([]bot.Button, len(among))
	lines := make([]string, len(among))
	for i, r := range among {
		if numbered {
			titles[i] = fmt.Sprintf("%d. %s", i+1, titles[i])
		}
		buttons[i] = bot.Button{Label: titles[i], Act: bot.ActWhich, ID: id, Word: string(r.ID)}
		lines[i] = "- **" + text.Escape(titles[i]) + "** · " + string(r.State()) + ", started " + format.Minutes(req.now.Sub(r.Started)) + " ago"
	}
	return bot.Answer{Private: "Which run do you mean with “" + text.Quoted(words, 150) + "”? Nothing is done until you choose.\n\n" + strings.Join(lines, "\n"),
		Buttons: &bot.Buttons{List: buttons}}, nil
}

// maxRival bounds a run's title on a button, in characters.
const maxRival = 60

// choose does what the person said, to the run that they have chosen. A question
// that came after their words is not decided by them.
func (req press) choose(ctx context.Context, run agent.RunID, id string) (bot.Answer, error) {
	k, known, err := drawer{req.request}.keptAs(ctx, keptWords, id)
	if err != nil {
		return bot.Answer{}, err
	}
	if !known {
		return private("I have done with that already, or you wrote something else since. Say it again."), nil
	}
	r, err := req.cfg.Runs.LoadLive(ctx, run)
	if err != nil {
		return bot.Answer{}, err
	}
	meant := *req.request
	meant.chosen, meant.in.Act = run, bot.Stopped{}
	meant.in.At, meant.in.Missed, meant.in.Message = k.At, true, bot.Address{}
	meant.dedupe = req.withNames(nil)
	meant.dedupe.Once = append([]string{drawer{req.request}.name(keptWords) + "/" + id}, meant.dedupe.Once...)
	switch {
	case k.Said != nil:
		meant.in.Act = *k.Said
	case k.Commanded != nil:
		meant.in.Act = *k.Commanded
	}
	a, err := meant.acted(ctx, &meant)
	if err != nil {
		a, err = meant.refusal(ctx, err)
	}
	if err == nil && !meant.written {
		a, err = meant.once(ctx, a)
	}
	req.written = true
	if err != nil {
		return bot.Answer{}, err
	}
	done := a.Private
	if done == "" {
		done = "Done."
	}
	told := bot.Card{Text: text.Plain(done), Parts: []bot.Part{bot.Prose{Markdown: "**" + text.Quoted(r.Brief.Goal, maxRival) + "**: " + done}}}
	if a.Buttons != nil {
		told.Parts = append(told.Parts, *a.Buttons)
	}
	return bot.Answer{Run: run, Instead: &told}, drawer{req.request}.forget(ctx, keptWords)
}
