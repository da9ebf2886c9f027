package posting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Making one post, and what becomes of it where it fails.

// maxFetches is how often a person's file is tried to be had: its run waits for it.
const maxFetches = 5

// maxScheduled is how often a report's place may be missing until others are
// told: somebody may be about to invite the bot.
const maxScheduled = 5

// Post makes a post. The result's text is an agent.Shown; a result to be run
// again says that nothing happened yet, an unknown one that it may have.
func (v *Poster) Post(ctx context.Context, r agent.Run, p agent.Post, c agent.Call) agent.Result {
	ctx, cancel := v.endEarly(ctx, c)
	defer cancel()
	if ctx.Err() != nil {
		return agent.Result{Again: lostPause} // too late to send anything: nothing happened
	}
	var shown agent.Shown
	var err error
	switch p.Kind {
	case agent.PostCard, agent.PostCheckpoint, agent.PostReport, agent.PostScheduled, agent.PostAnswer:
		shown, err = v.message(ctx, r, p)
	case agent.PostAttach:
		shown, err = v.fetch(ctx, r, p)
	case agent.PostUpload:
		shown, err = v.upload(ctx, r, p)
	case agent.PostClose:
		err = v.closeCheck(ctx, r, p)
	}
	if err != nil {
		return v.failure(r, p, c, err)
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: shown.Text()}
}

// endEarly ends ctx before the intent's deadline, so that what is sent last has
// the time to arrive.
func (v *Poster) endEarly(ctx context.Context, c agent.Call) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if c.Deadline.IsZero() || !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-v.settling()))
}

// failure is the result of a post that was not made, as far as anybody knows.
func (v *Poster) failure(r agent.Run, p agent.Post, c agent.Call, err error) agent.Result {
	log := v.log.With("run", r.ID, "post", p.Key, "err", err)
	if busy, is := errors.AsType[*bot.BusyError](err); is {
		return agent.Result{Again: max(busy.After, min(backoff(c.Deferred), time.Minute))} // each pause is journalled
	}
	if errors.Is(err, errElsewhere) {
		return notHere(log, r, p, c, err)
	}
	switch {
	case p.Kind == agent.PostAttach && c.Deferred >= maxFetches:
		log.Error("a person's file could not be fetched")
	case p.Kind == agent.PostScheduled && outOfReach(err) && c.Deferred < maxScheduled:
		log.Warn("a scheduled report cannot be posted; trying again")
		return agent.Result{Again: backoff(c.Deferred)}
	case errors.Is(err, bot.ErrRefused):
		log.Error("the platform refuses the bot; look at its token and scopes. Trying again")
		return agent.Result{Again: backoff(c.Deferred)}
	case errors.Is(err, bot.ErrBarred) && waitsForPlace(p) && !over(r, time.Now()):
		log.Warn("a post's place does not take it; trying again")
		return pending(r, p, err, time.Now())
	case lost(err):
		return unanswered(log, p, c, err)
	default:
		log.Error("a post could not be made")
	}
	return agent.Failed(err.Error())
}

// notHere is the result of a post that another process has to make.
func notHere(log *slog.Logger, r agent.Run, p agent.Post, c agent.Call, err error) agent.Result {
	if onOtherPlatform(r, p) && c.Deferred >= maxScheduled {
		log.Error("nobody on that platform can be told of a report; the others are")
		return agent.Failed(err.Error())
	}
	return agent.Result{Again: elsewhere}
}

// unanswered is the result of a post that may have happened.
func unanswered(log *slog.Logger, p agent.Post, c agent.Call, err error) agent.Result {
	if p.Repeat() == agent.RepeatIdempotent {
		return agent.Result{Again: backoff(c.Deferred)}
	}
	log.Warn("a post's answer did not arrive; looking for it later")
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted, Text: err.Error()}
}

// message posts a card. Where its place is gone, the requester gets it directly.
func (v *Poster) message(ctx context.Context, r agent.Run, p agent.Post) (agent.Shown, error) {
	platform, to, err := v.placed(ctx, r, p)
	if err != nil {
		return agent.Shown{}, err
	}
	card, err := v.card(r, p)
	if err != nil {
		return agent.Shown{}, err
	}
	posted, err := platform.Post(ctx, to, v.platforms.IntroduceIn(ctx, platform.Name(), card))
	if v.noteReach(ctx, to, err); outOfReach(err) {
		return v.messageElsewhere(ctx, platform, r, p, card, err)
	}
	if err != nil {
		return agent.Shown{}, err
	}
	if p.Kind == agent.PostCard {
		v.noteShown(r, p.Key, time.Now())
	}
	return shownBy(p, posted), nil
}

// messageElsewhere tells the requester directly what its place does not take.
// Where the place may yet take it, it is made there later, too.
func (v *Poster) messageElsewhere(ctx context.Context, platform bot.Platform, r agent.Run, p agent.Post, card bot.Card, why error) (agent.Shown, error) {
	first, repeats := agent.Repeats(r, p)
	told := repeats && (errors.Is(why, bot.ErrBarred) || first.Thread != r.Thread())
	if p.Kind == agent.PostScheduled || told { // whose failure others are told of, or who know it
		return agent.Shown{}, why
	}
	posted, err := v.postDirectly(ctx, platform, r, card, why)
	if err != nil {
		return agent.Shown{}, err
	}
	if p.Kind == agent.PostCard {
		v.noteShown(r, p.Key, time.Now())
	}
	return againAtHome(p, shownBy(p, posted), why), nil
}

// card is what a post shows.
func (v *Poster) card(r agent.Run, p agent.Post) (bot.Card, error) {
	now := time.Now()
	var c bot.Card
	switch p.Kind {
	case agent.PostCard:
		c = v.live(r, p.Key, now)
	case agent.PostReport:
		c = card.Report(r)
	case agent.PostCheckpoint:
		check, known := r.Checks[agent.CheckpointID(p.About)]
		if !known {
			return c, fmt.Errorf("%w: %s", runs.ErrNoCheckpoint, p.About)
		}
		if p.Reminds() {
			c = card.Reminder(r, check, now, v.audience)
		} else {
			c = card.Question(r, check, now, v.audience)
		}
	case agent.PostScheduled:
		c = card.Scheduled(r, p)
	case agent.PostAnswer:
		said, is := p.HeardIn()
		heard, known := card.Heard(r, said)
		if !is || !known {
			return c, fmt.Errorf("nothing is known of the words of %s", p.Key)
		}
		c = heard
	case agent.PostAttach, agent.PostUpload, agent.PostClose:
		return c, fmt.Errorf("a %s has no card", p.Kind)
	}
	c.Key.Name = p.Key
	return c, nil
}

// postDirectly posts to the requester alone what its place did not take.
func (v *Poster) postDirectly(ctx context.Context, platform bot.Platform, r agent.Run, card bot.Card, gone error) (bot.Posted, error) {
	to, err := requesterOf(ctx, platform, r)
	if err != nil {
		return bot.Posted{}, unreachable(gone, err)
	}
	card.Parts = append([]bot.Part{bot.Small{Markdown: whyHere(platform, r, gone)}}, card.Parts...)
	posted, err := platform.Post(ctx, to, v.platforms.IntroduceIn(ctx, platform.Name(), card))
	if err != nil {
		return bot.Posted{}, unreachable(gone, err)
	}
	v.log.Warn("a run's place is not reachable; its requester was told directly", "run", r.ID, "place", r.Brief.ReplyTo, "err", gone)
	return posted, nil
}

// whyHere says why somebody gets directly what belongs elsewhere.
func whyHere(platform bot.Platform, r agent.Run, why error) string {
	if !errors.Is(why, bot.ErrBarred) {
		return "The thread in which I worked on this is gone, so you get it here."
	}
	place := "the thread of this run"
	if linker, can := platform.(bot.Linker); can && r.Card() != "" {
		if at, err := bot.ParseAddress(r.Card()); err == nil && linker.Link(at) != "" {
			place = "[" + place + "](" + linker.Link(at) + ")"
		}
	}
	return "I cannot write in " + place + " just now, so you get this here. It comes there, too, as soon as I can."
}

// closeCheck takes the buttons from a question's messages and says who decided.
func (v *Poster) closeCheck(ctx context.Context, r agent.Run, p agent.Post) error {
	if said, is := p.HeardIn(); is {
		return v.closeHeard(ctx, r, said)
	}
	check, known := r.Checks[agent.CheckpointID(p.About)]
	if !known {
		return fmt.Errorf("%w: %s", runs.ErrNoCheckpoint, p.About)
	}
	var failed error
	ask := agent.KeyAsk(check.ID)
	for _, name := range []string{ask, agent.KeyRemind(check.ID), agent.KeyAgain(ask)} {
		where := r.Shown[name].Message
		if where == "" {
			continue
		}
		platform, message, err := v.platformAt(where)
		if err != nil {
			return err
		}
		card := card.Closed(r, check)
		card.Key.Name = name
		err = platform.Edit(ctx, message, v.platforms.IntroduceIn(ctx, platform.Name(), card))
		if v.noteEdited(ctx, r, name, err); err != nil && !errors.Is(err, bot.ErrGone) { // what is gone has no buttons
			failed = cmp.Or(failed, fmt.Errorf("close the question at %s: %w", message, err))
		}
	}
	return failed
}

// closeHeard takes the buttons from what was told about a person's words.
func (v *Poster) closeHeard(ctx context.Context, r agent.Run, said uint64) error {
	platform, message, err := v.platformAt(r.Shown[agent.KeyHeard(said)].Message)
	if err != nil {
		return err
	}
	closed, known := card.HeardClosed(r, said)
	if !known {
		return nil // too long ago
	}
	if err := platform.Edit(ctx, message, closed); err != nil {
		return fmt.Errorf("close what was told at %s: %w", message, err)
	}
	return nil
}

// May reserves one of the posts that the place allows in a while, or says how
// long to wait for one. A post whose place does not exist may be made at once: it
// fails, and the failure is journalled.
func (v *Poster) May(ctx context.Context, r agent.Run, p agent.Post) (wait time.Duration, err error) {
	if p.Kind == agent.PostAttach {
		return 0, nil
	}
	platform, to, err := v.place(r, p)
	if errors.Is(err, errElsewhere) {
		return v.connectWait(), nil
	}
	if err != nil {
		return 0, nil //nolint:nilerr // the post itself fails with this error and is journalled
	}
	pace, edit := platform.Paces(to)
	if p.Kind == agent.PostClose {
		pace = edit
	}
	wait, err = v.paces.Take(ctx, pace)
	if err != nil {
		return 0, fmt.Errorf("take a turn to post to %s: %w", to, err)
	}
	if wait == 0 && p.Kind == agent.PostCheckpoint {
		v.updateSession(ctx, r) // a status that says "working" keeps people from answering
	}
	return wait, nil
}
