package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// What every kind of act shares: the event, the commit that writes it down,
// where it happened, and short answers.

// request is one event on its way in.
type request struct {
	*Chat
	in  bot.Inbound
	now time.Time
	// dedupe goes into the commit that writes the event down: the keys by which
	// it is known again.
	dedupe  runs.Dedupe
	written bool
	// chosen is the run that the person has said to mean, where several could be
	// meant; empty: nobody asked.
	chosen agent.RunID
}

// once makes sure that an answer about which nothing was written is given one
// time only, whichever replica gets the event again.
func (req *request) once(ctx context.Context, a bot.Answer) (bot.Answer, error) {
	_, filled := req.in.Act.(bot.Filled)
	if filled && a.Form != nil {
		return a, nil // the same form may be sent in once more as it is
	}
	if a == (bot.Answer{}) || a.Home != nil || a.Prompts != nil || len(req.dedupe.Once) == 0 {
		return a, nil
	}
	return a, req.cfg.Runs.Note(ctx, req.dedupe)
}

// note gives names values in the commit that writes the event down.
func (req *request) note(ctx context.Context, set map[string]string) error {
	return req.wrote(req.cfg.Runs.Note(ctx, req.withNames(set)))
}

// wrote marks the event as written down, where it was.
func (req *request) wrote(err error) error {
	if err == nil {
		req.written = true
	}
	return err
}

// withNames adds names to what the commit sets.
func (req *request) withNames(set map[string]string) runs.Dedupe {
	with := runs.Dedupe{Once: req.dedupe.Once, Anchor: req.dedupe.Anchor, Set: maps.Clone(req.dedupe.Set)}
	maps.Copy(with.Set, set)
	return with
}

// topLevel reports whether the event happened in the channel itself, also
// where a thread may begin at it.
func (req *request) topLevel() bool {
	return req.in.Where.ID == "" || req.in.Begins || req.in.Where.ID == req.in.Message.ID
}

// isMessage reports whether the event is a message, which can be marked: a click's
// message is the bot's own.
func (req *request) isMessage() bool {
	_, said := req.in.Act.(bot.Said)
	return said && req.in.Message != (bot.Address{})
}

// alone reports whether the person talks to the bot alone.
func (req *request) alone() bool {
	switch a := req.in.Act.(type) {
	case bot.Said:
		return a.Direct
	case bot.Commanded:
		return a.Direct
	case bot.Filled:
		return a.Direct || req.in.Where.Channel == ""
	case bot.Pressed, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid, bot.PlaceBack, bot.PlaceGone:
	}
	return req.in.Where.Channel == ""
}

// messageName is the message as its deletion will name it, "" for what is none.
func (req *request) messageName() string {
	if !req.isMessage() {
		return ""
	}
	return req.in.Message.String()
}

// acknowledge is the short answer to a message, or the text where there is none to mark.
func (req *request) acknowledge(run agent.RunID, text string) bot.Answer {
	if req.isMessage() {
		return bot.Answer{Mark: bot.MarkNoted, Run: run}
	}
	return bot.Answer{Private: text, Run: run}
}

func private(text string, values ...any) bot.Answer {
	return bot.Answer{Private: fmt.Sprintf(text, values...)}
}

// answer shows a card: what was asked aloud is answered aloud, everything else
// to the person alone.
func (req *request) answer(run agent.RunID, card bot.Card) bot.Answer {
	if _, said := req.in.Act.(bot.Said); !said || req.in.Message.ID == "" {
		return bot.Answer{Run: run, Private: bot.Markdown(card)}
	}
	card.Key = bot.Key{Run: run, Name: "answer/" + req.in.Message.ID, Kind: agent.PostAnswer}
	return bot.Answer{Run: run, Public: &card}
}

// discreet is the one rule about where an answer is told: what does not live
// at the place where the person asks is for their eyes alone, however they
// asked. What several runs or schedules are told of in one answer says so
// itself, by Confidential.
func (req *request) discreet(ctx context.Context, a bot.Answer) bot.Answer {
	if req.alone() || a.Started || a.Private == "" && a.Public == nil {
		a.Confidential = false
		return a
	}
	if a.Run != "" && !a.Confidential {
		r, err := req.cfg.Runs.Load(ctx, a.Run)
		if err != nil {
			req.cfg.Log.Warn("a run cannot be read; its answer is told to the asker alone", "run", string(a.Run), "err", err)
		}
		a.Confidential = err != nil || !authority.LivesAt(r, req.in.Where)
	}
	if a.Confidential && a.Public != nil {
		a.Private, a.Public = bot.Markdown(*a.Public), nil
	}
	return a
}

// resident is the run that lives in the thread, of no ID if there is none.
// Live reports whether it still takes in what is said.
func (req *request) resident(ctx context.Context) (r agent.Run, live bool, err error) {
	if req.chosen != "" {
		r, err = req.cfg.Runs.Load(ctx, req.chosen)
		return r, err == nil && listens(r), err
	}
	if req.in.Where.ID == "" {
		return r, false, nil
	}
	id, err := req.cfg.Store.Value(ctx, agent.ThreadName(req.in.Where.String()))
	if err != nil || id == "" {
		return r, false, err
	}
	r, err = req.cfg.Runs.Load(ctx, agent.RunID(id))
	if errors.Is(err, agent.ErrNoRun) { // it expired
		return agent.Run{}, false, nil
	}
	return r, err == nil && listens(r), err
}

// listens reports whether anything that is said still reaches the run.
func listens(r agent.Run) bool { return r.Ended == nil && r.Cancelled == nil && r.Report == nil }

// platform is the platform of an address or principal, nil if it is not served.
func (req *request) platform(of string) bot.Platform {
	name, _, _ := strings.Cut(of, ":")
	return req.platforms.Named(name)
}

// place is where the run answers; what began on the bot's own page answers in
// a direct conversation.
func (req *request) place(ctx context.Context) (bot.Address, error) {
	if req.in.Where.Channel != "" {
		return req.in.Where, nil
	}
	d, is := req.platform(req.in.By.ID).(bot.Director)
	if !is {
		return bot.Address{}, refuse("I cannot tell where to answer. Mention me in a channel instead.")
	}
	return d.Direct(ctx, req.in.By.ID)
}

// log notes who was refused what. It never holds what people wrote.
func (req *request) log(what string, r agent.Run, more ...string) {
	args := []any{"run", string(r.ID), "principal", req.in.By.ID, "where", req.in.Where.String()}
	for i := 0; i+1 < len(more); i += 2 {
		args = append(args, more[i], more[i+1])
	}
	req.cfg.Log.Info(what, args...) //nolint:sloglint // every caller says it with a constant
}

// refusedError is an error that is a private answer: what the person asked for
// cannot be done, and the text says why.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }
func refuse(text string) error        { return &refusedError{text} }

// undecidedError is why a person's decision on a question was not taken.
type undecidedError struct {
	check agent.CheckpointID
	err   error
}

func (e *undecidedError) Error() string { return e.err.Error() }
func (e *undecidedError) Unwrap() error { return e.err }

// starters says who may start runs at a place.
func (req *request) starters(where bot.Address) string {
	a := req.cfg.Runs.Authority.At(where.String())
	list := a.Start
	if len(list) == 0 {
		return "Full members of the workspace may"
	}
	return bot.Mentions(append(append([]string{}, list...), a.Operators...), "or") + " may"
}

// showers says who may show the run at another place.
func (req *request) showers(r agent.Run) string {
	who := []string{r.Brief.Requester}
	if !r.Brief.Direct {
		who = append(who, req.cfg.Runs.Authority.At(r.Brief.ReplyTo).Operators...)
	}
	return "This run lives elsewhere. Only " + bot.Mentions(who, "or") + " may have it shown to everybody here."
}

// steerers says who may steer the run.
func (req *request) steerers(r agent.Run) string {
	return "Only " + bot.Mentions(req.whoSteers(r), "or") + " may steer or stop this run."
}

// whoSteers are the principals who may steer the run.
func (req *request) whoSteers(r agent.Run) []string {
	return append([]string{r.Brief.Requester}, req.cfg.Runs.Authority.At(r.Brief.ReplyTo).Operators...)
}
