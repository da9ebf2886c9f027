package discord

// This file gives the immediate answers to an event, such as a form, a
// private text, a reaction or a link to the run's thread, so that whoever
// clicked or typed sees at once that it arrived.

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
	"github.com/deckhand-bot/deckhand/adapters/discord/post"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	answerWithin = time.Minute
	markWithin   = 20 * time.Second
)

// The fixed texts of answers.
const (
	textLate     = "That took too long, so Discord does not let me open the form any more. Please click again."
	textDone     = "Done."
	textSeen     = "I have this already."
	textLost     = "I could not write that down, so nothing was done. Please try again in a moment."
	textCrowded  = "Too much is waiting for me just now. Please try again in a moment."
	textAlone    = "That lives elsewhere, so I answered you in a direct message."
	textNoDirect = "That lives elsewhere, so the answer is for you alone, and I may not write to you directly: allow direct messages of this server, or ask with `/deckhand`, whose answer only you see."
	textUnread   = "I cannot read this: it may be of an older version, or not mine. `/deckhand help` lists what I understand."
)

// emojis are the marks as Discord shows them.
var emojis = map[bot.Mark]string{bot.MarkSeen: "👀", bot.MarkNoted: "📝"}

// answerer does what an event is answered with, beside the events.
type answerer struct {
	in      *intake
	post    *post.Poster
	log     *slog.Logger
	botName string
	timeout time.Duration // of one request
}

// answer does what is to be done at once, after it was written down. An empty
// one says that nothing is to be said, or that another replica was first: it
// answers then.
func (a *answerer) answer(ctx context.Context, n *update, what bot.Answer) {
	if n.reply != nil {
		a.answerInteraction(ctx, n, what)
	} else if what.Private != "" {
		tell := a.tellPrivately
		if what.Confidential {
			tell = a.tellAlone
		}
		a.in.Later(ctx, answerWithin, func(ctx context.Context) { tell(ctx, n, draw.Choice(what.Private, what.Buttons)) })
	}
	if what.Mark != "" && n.in.Message.ID != "" {
		a.react(ctx, n.in.Message, what.Mark)
	}
	if what.Public != nil {
		a.in.Later(ctx, answerWithin, func(ctx context.Context) {
			a.logFailure("an answer could not be posted", n.in.Where, ingest.PostOnce(ctx, a.post, n.in, n.again, *what.Public, a.timeout))
		})
	}
}

// answerInteraction answers whoever waits for the result of a click or command.
func (a *answerer) answerInteraction(ctx context.Context, n *update, what bot.Answer) {
	_, filled := n.in.Act.(bot.Filled)
	switch {
	case what.Started:
		a.promptly(ctx, func(ctx context.Context) { a.linkThread(ctx, n) })
	case what.Form != nil && !filled: // a form that was sent in is opened again by a button only
		a.promptly(ctx, func(ctx context.Context) { a.openForm(ctx, n, *what.Form) })
	case what.Instead != nil:
		a.promptly(ctx, func(ctx context.Context) {
			a.logFailure("a message could not be replaced", n.in.Where, n.reply.Replace(ctx, draw.Boxed(*what.Instead)))
		})
	case what.Private != "":
		a.promptly(ctx, func(ctx context.Context) { a.tellPrivately(ctx, n, draw.Choice(what.Private, what.Buttons)) })
	case what.Home != nil:
		a.promptly(ctx, func(ctx context.Context) { a.tellPrivately(ctx, n, draw.Private(bot.Markdown(*what.Home))) })
	case what == (bot.Answer{}):
		a.in.Go(func() { a.answerAgain(ctx, n) })
	default:
		a.promptly(ctx, func(ctx context.Context) {
			a.logFailure("a click could not be acknowledged", n.in.Where, n.reply.Acknowledge(ctx, draw.Private(textDone)))
		})
	}
}

// answerAgain answers what was heard before: another replica does, unless it died
// in between, so it is given time.
func (a *answerer) answerAgain(ctx context.Context, n *update) {
	if n.begins || n.reply.Answered() && !n.reply.Deferred() || !wait.Sleep(ctx, a.in.times.second) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	a.logFailure("a click could not be acknowledged", n.in.Where, n.reply.AcknowledgeAgain(ctx, draw.Private(textSeen)))
}

// promptly runs something for somebody who waits for it.
func (a *answerer) promptly(ctx context.Context, do func(context.Context)) {
	a.in.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		do(ctx)
	})
}

// linkThread says in one line that a run began, with a link to its thread. Where
// that begins at the answer itself it is opened first: nobody clicks on a
// thread that is not there.
func (a *answerer) linkThread(ctx context.Context, n *update) {
	text := "Working on it."
	if n.in.Where.ID != "" && n.in.Where.ID != n.channel {
		err := a.post.OpenThread(ctx, n.in.Where.Channel, n.in.Where.ID, bot.Card{Text: a.goalOf(n)})
		a.logFailure("a thread could not be opened; the run's card does it", n.in.Where, err)
		switch {
		case err == nil:
			text = "Working on it in <#" + n.in.Where.ID + ">."
		case api.Status(err) == http.StatusForbidden:
			text = "Working on it. I may not open a thread here (Create Public Threads, Send Messages in Threads), so I answer you directly."
		}
	}
	m := draw.Plain(text)
	if n.begins {
		a.logFailure("a started run could not be linked", n.in.Where, n.reply.Complete(ctx, m))
		return
	}
	a.logFailure("a started run could not be linked", n.in.Where, n.reply.Tell(ctx, m))
}

// goalOf is what a thread is named after.
func (a *answerer) goalOf(n *update) string {
	switch act := n.in.Act.(type) {
	case bot.Filled:
		return act.Values[bot.FieldGoal]
	case bot.Said:
		return act.Text
	case bot.Commanded, bot.Pressed, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid, bot.PlaceBack, bot.PlaceGone:
	}
	return a.botName
}

// openForm shows a form. It has to be the first response, so nothing may have been
// said before.
func (a *answerer) openForm(ctx context.Context, n *update, f bot.Form) {
	form, err := draw.Form(f)
	if err != nil {
		a.tellPrivately(ctx, n, draw.Private("This form cannot be shown in Discord: "+err.Error()+". Use the command line or the web page instead."))
		return
	}
	err = n.reply.Open(ctx, form)
	switch {
	case err == nil:
	case errors.Is(err, interact.ErrTaken), errors.Is(err, interact.ErrTooLate):
		a.tellPrivately(ctx, n, draw.Private(textLate))
	default:
		a.logFailure("a form could not be opened", n.in.Where, err)
		a.tellPrivately(ctx, n, draw.Private("The form could not be opened. Please click again."))
	}
}

// react lets a reaction be set. Discord takes few of them in a short time: it
// waits its turn, and nothing else waits for it. After a while nobody looks for
// it any more.
func (a *answerer) react(ctx context.Context, message bot.Address, m bot.Mark) {
	emoji, is := emojis[m]
	if !is {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, markWithin)
	queued := a.in.reactions.Add([]string{message.Channel}, a.in.Go, func() {
		defer cancel()
		a.logFailure("a reaction could not be set", message, a.post.React(ctx, message, emoji))
	})
	if !queued {
		cancel()
		a.in.Log.Warn(a.log, "too many reactions wait: one is left out")
	}
}

// tellPrivately shows words to the person alone. Discord has no way to do so below a
// message, so the answer stands there for all, short and without notifying
// anybody; what is left of an interaction that expired goes to the person directly.
func (a *answerer) tellPrivately(ctx context.Context, n *update, m draw.Answer) {
	if n.reply == nil {
		a.logFailure("an answer could not be shown", n.in.Where, a.post.Reply(ctx, n.channel, n.id, privateKey(n.in.Message), m))
		return
	}
	err := n.reply.Tell(ctx, m)
	if errors.Is(err, interact.ErrTooLate) || api.Status(err) == http.StatusUnauthorized || api.Status(err) == http.StatusNotFound {
		if other := a.post.TellDirectly(ctx, n.in.By.ID, bot.Key{}, m); other != nil {
			err = errors.Join(other, err)
		} else {
			err = nil
		}
	}
	a.logFailure("a private answer could not be shown", n.in.Where, err)
}

// tellAlone answers a message in the conversation with its writer, and says
// where the message stands that it did, without a word of the answer. Nobody
// who takes no direct messages is told anything aloud.
func (a *answerer) tellAlone(ctx context.Context, n *update, m draw.Answer) {
	key, said := bot.Key{Name: "alone/" + n.in.Message.String(), Kind: agent.PostAnswer}, textAlone
	if err := a.post.TellDirectly(ctx, n.in.By.ID, key, m); err != nil {
		a.logFailure("an answer for one person alone could not be shown", n.in.Where, err)
		said = textNoDirect
	}
	a.tellPrivately(ctx, n, draw.Private(said))
}

// privateKey is the key of a private answer to a message: it is the same one
// however often it is sent.
func privateKey(message bot.Address) bot.Key {
	return bot.Key{Name: "private/" + message.String(), Kind: agent.PostAnswer}
}

// logFailure logs what could not be shown.
func (a *answerer) logFailure(text string, where bot.Address, err error) {
	if err == nil {
		return
	}
	a.log.Warn(text, "where", where.String(), "error", err) //nolint:sloglint // the callers' texts are constants
}
