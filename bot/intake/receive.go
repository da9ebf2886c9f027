package intake

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Receive takes in one event: it decides what it is and who may do it, writes it
// down in one commit with the keys of the event, and says what the platform
// answers at once. An event that was heard before has an empty answer. An error
// means that the event is not written down: the platform delivers it again.
func (c *Chat) Receive(ctx context.Context, in bot.Inbound) (bot.Answer, error) {
	switch in.Act.(type) {
	case bot.PlaceBack:
		return bot.Answer{}, c.cfg.Places.Back(ctx, in.Where)
	case bot.PlaceGone:
		return bot.Answer{}, c.cfg.Places.Gone(ctx, in.Where, in.Message)
	case bot.Said, bot.Unsaid, bot.Commanded, bot.Pressed, bot.Filled, bot.Stopped, bot.Visited, bot.Opened: // people do this
	}
	now, err := c.cfg.Store.Now(ctx)
	if err != nil {
		return bot.Answer{}, unwritten(in, err)
	}
	req := &request{Chat: c, in: in, now: now, dedupe: runs.Dedupe{Once: in.Keys, Anchor: anchor(in), Set: map[string]string{}}}
	if _, is := in.Act.(bot.Unsaid); is {
		if err := req.unsaid(ctx); err != nil {
			return bot.Answer{}, err
		}
		return bot.Answer{}, c.cfg.Places.Gone(ctx, in.Where, in.Message) // it may have been the bot's own
	}
	if in.By.ID == "" || in.Act == nil || !c.cfg.Runs.Authority.Hears(in.By) {
		return bot.Answer{}, nil
	}
	if in.InVain != nil {
		return req.inVain(ctx)
	}
	tired, err := c.count(ctx, req)
	if err != nil || tired {
		return bot.Answer{}, err
	}
	return c.answered(ctx, req)
}

// answered does what somebody asks for, and is what they are answered.
func (c *Chat) answered(ctx context.Context, req *request) (bot.Answer, error) {
	a, err := c.act(ctx, req)
	if err != nil {
		a, err = req.refusal(ctx, err)
	}
	a = req.discreet(ctx, a)
	a = c.introduced(ctx, req.in.Where.Platform, a)
	if err == nil && !req.written {
		a, err = req.once(ctx, a)
	}
	if errors.Is(err, agent.ErrSeen) {
		return bot.Answer{}, nil
	}
	if err != nil {
		return bot.Answer{}, unwritten(req.in, err)
	}
	return a, nil
}

// unwritten is the error of an event that is not written down.
func unwritten(in bot.Inbound, err error) error {
	return fmt.Errorf("what %s did at %s is not written down: %w", in.By.ID, in.Where, err)
}

// introduced is the answer with the names of people of other platforms.
func (c *Chat) introduced(ctx context.Context, platform string, a bot.Answer) bot.Answer {
	a.Private = c.platforms.Introduce(ctx, platform, a.Private)
	if a.Public != nil {
		public := c.platforms.IntroduceIn(ctx, platform, *a.Public)
		a.Public = &public
	}
	if a.Home != nil {
		home := c.platforms.IntroduceIn(ctx, platform, *a.Home)
		a.Home = &home
	}
	return a
}

// anchor is what an event belongs to: its thread.
func anchor(in bot.Inbound) string { return agent.AnchorOf(agent.ThreadName(in.Where.String())) }

// maxMoves is how often an event is looked at anew.
const maxMoves = 4

// act does what the event asks for. Where somebody else's event came in between,
// it is looked at anew; a message may be a new goal once its run has ended.
func (c *Chat) act(ctx context.Context, req *request) (a bot.Answer, err error) {
	_, said := req.in.Act.(bot.Said)
	for range maxMoves {
		a, err = c.acted(ctx, req)
		if !errors.Is(err, errMoved) && (!said || !errors.Is(err, runs.ErrEnded)) {
			break
		}
	}
	return a, err
}

func (c *Chat) acted(ctx context.Context, req *request) (bot.Answer, error) {
	switch a := req.in.Act.(type) {
	case bot.Said:
		return message{decider{req}}.receive(ctx, a)
	case bot.Commanded:
		return call{decider{req}}.receive(ctx, a.Text)
	case bot.Pressed:
		return press{decider{req}}.receive(ctx, a.Button)
	case bot.Filled:
		return fill{decider{req}}.receive(ctx, a)
	case bot.Stopped:
		return req.stopped(ctx)
	case bot.Visited:
		return req.visited(ctx)
	case bot.Opened:
		return suggester{req}.opened(ctx, a)
	case bot.Unsaid, bot.PlaceBack, bot.PlaceGone: // done before anybody was asked who did it
	}
	return bot.Answer{}, nil
}

// stopped is the platform's own stop button.
func (req *request) stopped(ctx context.Context) (bot.Answer, error) {
	r, err := req.target(ctx, "")
	if err != nil {
		return bot.Answer{}, err
	}
	return req.control(ctx, r.ID, agent.WordPause)
}

// unsaid takes back words of a message that was deleted, where a run heard them.
// Nobody is answered: the message is gone, and a correction is no news to others.
func (req *request) unsaid(ctx context.Context) error {
	if req.in.InVain != nil {
		req.cfg.Log.Warn("a deleted message is not taken back", "message", req.in.Message.String(), "why", req.in.InVain)
		return nil //nolint:nilerr // it stays so however often it is delivered
	}
	r, live, err := req.resident(ctx)
	if err == nil && live {
		err = req.cfg.Runs.TakeBack(ctx, r.ID, req.in.Message.String(), req.dedupe)
	}
	switch {
	case errors.Is(err, agent.ErrSeen), errors.Is(err, runs.ErrEnded):
		return nil
	case err != nil:
		return fmt.Errorf("the deletion of %s is not written down: %w", req.in.Message, err)
	}
	return nil
}

// maxBots is how many messages of bots in a row are heard in a thread without
// one of a person.
const maxBots = 5

// count counts the messages of bots in a row, so that two of them do not talk
// for ever; tired: this one is not heard.
func (c *Chat) count(ctx context.Context, req *request) (tired bool, err error) {
	if _, said := req.in.Act.(bot.Said); !said || len(req.cfg.Runs.Authority.AllowBots) == 0 {
		return false, nil
	}
	name := "bots/" + req.in.Where.String()
	if req.topLevel() {
		name = "bots/" + req.in.Where.Place() // each of them begins a thread of its own
	}
	value, err := req.cfg.Store.Value(ctx, name)
	if err != nil {
		return false, err
	}
	n, _ := strconv.Atoi(value[strings.LastIndex(value, "/")+1:]) // "" is none
	switch {
	case req.in.By.Bot && n >= maxBots:
		req.cfg.Log.Info("a bot is not heard any more until a person speaks", "bot", req.in.By.ID, "where", req.in.Where.String())
		return true, nil
	case req.in.By.Bot && req.topLevel():
		req.dedupe.Set[name] = strconv.Itoa(n + 1)
	case req.in.By.Bot:
		// The count goes with the run of the thread; where none lived yet, it
		// begins with the next message.
		run, err := req.cfg.Store.Value(ctx, agent.ThreadName(req.in.Where.String()))
		if err == nil && run != "" {
			req.dedupe.Set[name] = run + "/" + strconv.Itoa(n+1)
		}
		return false, err
	case value != "":
		req.dedupe.Set[name] = ""
	}
	return false, nil
}
