package intake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/words"
)

// Messages: the one kind of act whose meaning has to be found out.

// message is somebody's message.
type message struct{ decider }

// receive takes in a message.
func (req message) receive(ctx context.Context, s bot.Said) (bot.Answer, error) {
	s.Text = strings.TrimSpace(strings.ToValidUTF8(s.Text, "\uFFFD"))
	s.To = s.To || s.Direct
	r, live, err := req.resident(ctx)
	if err != nil || (!live && !s.To) {
		return bot.Answer{}, err
	}
	return req.read(ctx, s, r, live)
}

// read decides what a message is: a control word before anything else, then
// a decision, a command, an answer, steering, or a goal. The run is the one that
// lives in the thread.
func (req message) read(ctx context.Context, s bot.Said, r agent.Run, live bool) (bot.Answer, error) {
	if s.Quote != "" { // somebody else's words are never an order
		return newGoal{request: req.request, goal: s.Text, files: s.Files, quote: s.Quote, old: r, apart: live}.start(ctx)
	}
	if a, is, err := req.exact(ctx, s, r, live); is || err != nil {
		return a, err
	}
	if live {
		return req.inThread(ctx, r, s)
	}
	if s.Text == "" {
		return call(req).greeting(), nil
	}
	return newGoal{request: req.request, goal: afterColon(s.Text, "run"), files: s.Files, old: r, viewing: s.Viewing}.start(ctx)
}

// exact takes in a message whose words have one meaning: a control word, a
// decision, a command.
func (req message) exact(ctx context.Context, s bot.Said, r agent.Run, live bool) (a bot.Answer, is bool, err error) {
	if c := cmp.Or(controlWord(s.Text), req.spokenControl(r, live, s.Text)); c != nil {
		a, err = c.do(call(req), ctx, "")
		return a, true, err
	}
	if live {
		if a, is, err := req.several(ctx, s); is || err != nil {
			return a, is, err
		}
	}
	if live && len(s.Files) == 0 {
		if a, is, err := req.decision(ctx, r, s); is || err != nil {
			return a, is, err
		}
	}
	if s.To {
		return req.order(ctx, s)
	}
	return bot.Answer{}, false, nil
}

// several asks which run is meant, where several live in a conversation with the
// bot alone and the message names none.
func (req message) several(ctx context.Context, s bot.Said) (a bot.Answer, is bool, err error) {
	rivals, err := req.rivals(ctx)
	if err != nil || len(rivals) < 2 {
		return bot.Answer{}, false, err
	}
	if a, is, err := req.order(ctx, s); is || err != nil {
		return a, is, err
	}
	return bot.Answer{}, true, &ambiguousError{rivals}
}

// spokenControl is the control word that a text means in a language of the table, nil
// if none. Going on may be meant as a yes where one is asked for.
func (req message) spokenControl(r agent.Run, live bool, text string) *command {
	means := words.Of(text)
	yes := func(c agent.Checkpoint) bool { return slices.Contains(c.Choices, agent.DecideApprove) }
	if !live || means == words.GoOn && r.Paused == "" && slices.ContainsFunc(req.askedHere(r), yes) {
		return nil
	}
	return commandOf(controls[means])
}

// controls are the control words by their meaning.
var controls = map[words.Meaning]string{
	words.Stop: "pause", words.GoOn: "resume", words.Cancel: "cancel", words.Status: "status", words.Help: "help",
}

// order does what a message to the bot orders with one of the commands.
func (req message) order(ctx context.Context, s bot.Said) (a bot.Answer, is bool, err error) {
	c, rest := spokenCommand(s.Text)
	if c == nil {
		return bot.Answer{}, false, nil
	}
	a, err = c.do(call(req), ctx, rest)
	if runPattern.MatchString(rest) && errors.Is(err, agent.ErrNoRun) { // or a word that happens to look like an id
		err = refuse("There is no run `" + rest + "` here; `runs` lists yours. If you meant a goal, put `run` in front of it.")
	}
	return a, true, err
}

// decision takes in a message that is exactly a decision of an open question, or a
// denial with its reason.
func (req message) decision(ctx context.Context, r agent.Run, s bot.Said) (a bot.Answer, is bool, err error) {
	if takers := takersOf(r, strings.TrimPrefix(s.Text, bot.Correction), s.To); len(takers) > 0 {
		a := req.cfg.Runs.Authority
		may := slices.ContainsFunc(takers, func(t taker) bool { return a.MayDecide(r.Asking(t.check), t.check.Ask, req.in.By) })
		if !may && !s.To && !a.MaySteer(r, req.in.By) {
			return bot.Answer{}, false, nil // people talk to each other
		}
		said, err := req.settle(ctx, r, strings.TrimPrefix(s.Text, bot.Correction), takers)
		return said, true, err
	}
	for i, check := range req.askedHere(r) {
		if i == 0 && check.Ask == agent.CheckClarify {
			continue // an approval behind it may be meant
		}
		return req.unclear(r, check, s)
	}
	return bot.Answer{}, false, nil
}

// takersOf are the open questions that take a text as a decision.
func takersOf(r agent.Run, text string, to bool) []taker {
	var list []taker
	why, denied := denialReason(text)
	for _, c := range r.OpenCheckpoints() {
		if word, is := decisionWord(c, text, to); is {
			list = append(list, taker{c, word, ""})
		} else if denied && (c.Ask == agent.CheckPlan || c.Ask == agent.CheckApproval) {
			list = append(list, taker{c, agent.DecideDeny, why})
		}
	}
	return list
}

// unclear answers a word that may be meant as a decision, or may be said to
// somebody else in the thread: nothing is decided by it, and the person is told.
func (req message) unclear(r agent.Run, check agent.Checkpoint, s bot.Said) (a bot.Answer, is bool, err error) {
	word, short := decisionWord(check, s.Text, true)
	if !short || s.To || !req.cfg.Runs.Authority.MayDecide(r.Asking(check), check.Ask, req.in.By) {
		return bot.Answer{}, false, nil
	}
	return bot.Answer{Run: r.ID, Private: "Did you mean to decide? Then press a button of the question, or say `" + word + "`."}, true, nil
}

// inThread takes in what is said in the thread of a live run and is no order:
// the answer to a question, steering, or other people's words.
func (req message) inThread(ctx context.Context, r agent.Run, s bot.Said) (bot.Answer, error) {
	if s.Text == "" && len(s.Files) == 0 {
		return bot.Answer{}, nil
	}
	said := agent.PersonSaid{Text: afterColon(s.Text, "steer"), Files: s.Files, Message: req.messageName()}
	reads := req.reads(r, s)
	if a, is, err := req.takeHint(ctx, r, said.Text, s.Files, reads); is || err != nil {
		return a, err
	}
	check, asks, several := req.freeQuestion(r)
	if asks = asks && s.Text != "" && len(s.Files) == 0; asks {
		if word, is := decisionWord(check, s.Text, s.To); is {
			return req.decide(ctx, check.ID, agent.CheckpointDecided{Decision: word})
		}
	}
	answer, err := req.answerTo(ctx, check, asks)
	switch {
	case err != nil:
		return bot.Answer{}, err
	case reads:
		said.Unread = &agent.Unread{Where: req.in.Where.String(), Before: req.before(r), Zone: req.ordersIn(), Direct: s.Direct, Answer: answer}
	case answer != nil:
		return req.decide(ctx, answer.ID, agent.CheckpointDecided{Decision: answer.Decision, Text: s.Text, Answers: answer.Answers})
	}
	return req.tell(ctx, r, s, said, several)
}

// tell puts what was said into the run, and answers as far as that is needed.
// Several: more than one question of the run is open.
func (req message) tell(ctx context.Context, r agent.Run, s bot.Said, said agent.PersonSaid, several bool) (bot.Answer, error) {
	trusted, err := req.cfg.Runs.Tell(ctx, r.ID, req.in.By, said, req.dedupe)
	switch {
	case req.wrote(err) != nil:
		return bot.Answer{}, err
	case trusted:
		a := req.acknowledge(r.ID, "Noted.")
		if several && !req.in.Edited {
			a.Private = "I asked more than one thing, so I kept this as a note. To answer one of them, press Other on it."
		}
		return a, nil
	case s.To:
		req.log("steering was refused", r)
		return req.suggested(r, afterColon(s.Text, "steer"), len(s.Files) > 0), nil
	}
	return bot.Answer{Run: r.ID}, nil
}

// suggested answers words to the run of somebody who may not steer it: those who
// may can use them with one click.
func (req message) suggested(r agent.Run, words string, files bool) bot.Answer {
	seen, alone := req.in.Message.ID, ""
	if c, is := req.in.Act.(bot.Commanded); is && c.Only && req.in.Where.ID != "" && len(req.in.Keys) > 0 { // nobody else read them
		seen, alone = req.in.Keys[0], req.steerers(r)+" I showed them your words here, with a button to use them."
	}
	if words == "" || files || seen == "" { // files of theirs are not fetched
		return bot.Answer{Run: r.ID, Private: req.steerers(r) + " What you said is kept as context that is not trusted."}
	}
	words = runs.Kept(words)
	c := card.Note(r, agent.Note{By: req.in.By.ID, Text: words}, req.whoSteers(r), noteWord(req.in.By.ID, words))
	c.Key.Name = "answer/" + seen
	return bot.Answer{Run: r.ID, Private: alone, Public: &c}
}

// reads reports whether a model is to find out what the message means: what says
// itself that it is steering, or brings files, is; so is a yes or no that nobody
// asked for.
func (req message) reads(r agent.Run, s bot.Said) bool {
	if !req.cfg.Hear || len(s.Files) > 0 || afterColon(s.Text, "steer") != s.Text {
		return false
	}
	return len(req.before(r)) > 0 || words.Of(s.Text) == words.Unknown
}

// ordersIn is the time zone in which the person may order something for later here,
// empty where they may not.
func (req message) ordersIn() string {
	if req.in.By.Bot || req.in.Edited || !req.cfg.Runs.Authority.MayStart(req.in.Where, req.in.By) {
		return ""
	}
	return req.zone("").String()
}

// before are the open questions that the person had before them and may decide.
func (req message) before(r agent.Run) []agent.CheckpointID {
	var list []agent.CheckpointID
	for _, c := range req.askedHere(r) {
		if req.cfg.Runs.Authority.MayDecide(r.Asking(c), c.Ask, req.in.By) {
			list = append(list, c.ID)
		}
	}
	return list
}

// answerTo is what the person's own words decide of the question, nil: nothing.
func (req message) answerTo(ctx context.Context, c agent.Checkpoint, asks bool) (*agent.WordsAnswer, error) {
	if !asks {
		return nil, nil //nolint:nilnil // no question, no answer
	}
	if runs.TakesHint(c) {
		return &agent.WordsAnswer{ID: c.ID, Decision: agent.DecideRetry}, nil
	}
	given, err := req.partial(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	return &agent.WordsAnswer{ID: c.ID, Decision: agent.DecideAnswer, Answers: merged(c, given)}, nil
}
