package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
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
	textLate    = "That took too long, so Discord does not let me open the form any more. Please click again."
	textDone    = "Done."
	textSeen    = "I have this already."
	textLost    = "I could not write that down, so nothing was done. Please try again in a moment."
	textCrowded = "Too much is waiting for me just now. Please try again in a moment."
	textUnread  = "I cannot read this: it may be of an older version, or not mine. `/deckhand help` lists what I understand."
)

// emojis are the marks as Discord shows them.
var emojis = map[bot.Mark]string{bot.MarkSeen: "👀", bot.MarkNoted: "📝"}

// answer does what is to be done at once, after it was written down. An empty
// one says that nothing is to be said, or that another replica was first: it
// answers then.
func (d *Discord) answer(ctx context.Context, n *notice, a bot.Answer) {
	if n.reply != nil {
		d.answerInteraction(ctx, n, a)
	} else if a.Private != "" {
		d.in.Later(ctx, answerWithin, func(ctx context.Context) { d.whisper(ctx, n, a.Private) })
	}
	if a.Mark != "" && n.in.Message.ID != "" {
		d.mark(ctx, n.in.Message, a.Mark)
	}
	if a.Public != nil {
		d.in.Later(ctx, answerWithin, func(ctx context.Context) {
			d.grumble("an answer could not be posted", n.in.Where, ingest.PostOnce(ctx, d, n.in, n.again, *a.Public, d.cfg.PostTimeout))
		})
	}
}

// answerInteraction answers whoever waits for the result of a click or command.
func (d *Discord) answerInteraction(ctx context.Context, n *notice, a bot.Answer) {
	switch {
	case a.Started:
		d.prompt(ctx, func(ctx context.Context) { d.started(ctx, n) })
	case a.Form != nil:
		d.prompt(ctx, func(ctx context.Context) { d.open(ctx, n, *a.Form) })
	case a.Private != "":
		d.prompt(ctx, func(ctx context.Context) { d.whisper(ctx, n, a.Private) })
	case a.Home != nil:
		d.prompt(ctx, func(ctx context.Context) { d.whisper(ctx, n, bot.Markdown(*a.Home)) })
	case a == (bot.Answer{}):
		d.in.Go(func() { d.second(ctx, n) })
	default:
		d.prompt(ctx, func(ctx context.Context) {
			d.grumble("a click could not be acknowledged", n.in.Where, n.reply.Acknowledge(ctx, draw.Private(textDone)))
		})
	}
}

// second answers what was heard before: another replica does, unless it died
// in between, so it is given time.
func (d *Discord) second(ctx context.Context, n *notice) {
	if n.begins || n.reply.Answered() && !n.reply.Deferred() || !wait.Sleep(ctx, d.in.times.second) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	d.grumble("a click could not be acknowledged", n.in.Where, n.reply.AcknowledgeAgain(ctx, draw.Private(textSeen)))
}

// prompt runs something for somebody who waits for it.
func (d *Discord) prompt(ctx context.Context, do func(context.Context)) {
	d.in.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		do(ctx)
	})
}

// started says in one line that a run began, with a link to its thread. Where
// that begins at the answer itself it is opened first: nobody clicks on a
// thread that is not there.
func (d *Discord) started(ctx context.Context, n *notice) {
	text := "Working on it."
	if n.in.Where.ID != "" && n.in.Where.ID != n.channel {
		err := d.OpenThread(ctx, n.in.Where.Channel, n.in.Where.ID, bot.Card{Text: d.goalOf(n)})
		d.grumble("a thread could not be opened; the run's card does it", n.in.Where, err)
		switch {
		case err == nil:
			text = "Working on it in <#" + n.in.Where.ID + ">."
		case api.Status(err) == http.StatusForbidden:
			text = "Working on it. I may not open a thread here (Create Public Threads, Send Messages in Threads), so I answer you directly."
		}
	}
	m := draw.Plain(text)
	if n.begins {
		d.grumble("a started run could not be linked", n.in.Where, n.reply.Complete(ctx, m))
		return
	}
	d.grumble("a started run could not be linked", n.in.Where, n.reply.Tell(ctx, m))
}

// goalOf is what a thread is named after.
func (d *Discord) goalOf(n *notice) string {
	switch act := n.in.Act.(type) {
	case bot.Filled:
		return act.Values[bot.FieldGoal]
	case bot.Said:
		return act.Text
	case bot.Commanded, bot.Pressed, bot.Stopped, bot.Visited:
	}
	return d.botName
}

// open shows a form. It has to be the first response, so nothing may have been
// said before.
func (d *Discord) open(ctx context.Context, n *notice, f bot.Form) {
	form, err := draw.Form(f)
	if err != nil {
		d.whisper(ctx, n, "This form cannot be shown in Discord: "+err.Error()+". Use the command line or the web page instead.")
		return
	}
	err = n.reply.Open(ctx, form)
	switch {
	case err == nil:
	case errors.Is(err, interact.ErrTaken), errors.Is(err, interact.ErrTooLate):
		d.whisper(ctx, n, textLate)
	default:
		d.grumble("a form could not be opened", n.in.Where, err)
		d.whisper(ctx, n, "The form could not be opened. Please click again.")
	}
}

// mark lets a reaction be set. Discord takes few of them in a short time: it
// waits its turn, and nothing else waits for it. After a while nobody looks for
// it any more.
func (d *Discord) mark(ctx context.Context, message bot.Address, m bot.Mark) {
	emoji, is := emojis[m]
	if !is {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, markWithin)
	queued := d.in.marked.Add([]string{message.Channel}, d.in.Go, func() {
		defer cancel()
		d.react(ctx, message, emoji)
	})
	if !queued {
		cancel()
		d.in.Log.Warn(d.log, "too many reactions wait: one is left out")
	}
}

// react sets a reaction, and again where Discord was busy or did not answer.
func (d *Discord) react(ctx context.Context, message bot.Address, emoji string) {
	target := discordgo.EndpointMessageReaction(message.Channel, message.ID, url.PathEscape(emoji), "@me")
	for {
		once, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
		err := d.api.Call(once, http.MethodPut, target, nil, nil)
		cancel()
		if err == nil {
			return
		}
		pause, busy := api.Wait(err)
		if !busy && api.Unanswered(err) {
			pause, busy = api.LostPause, true // the same reaction again changes nothing
		}
		if !busy || !wait.Sleep(ctx, pause) {
			d.grumble("a reaction could not be set", message, err)
			return
		}
	}
}

// whisper shows a text to the person alone. Discord has no way to do so below a
// message, so the answer stands there for all, short and without notifying
// anybody; what is left of an interaction that expired goes to the person directly.
func (d *Discord) whisper(ctx context.Context, n *notice, text string) {
	m := draw.Private(text)
	if n.reply == nil {
		d.grumble("an answer could not be shown", n.in.Where, d.below(ctx, n, m))
		return
	}
	err := n.reply.Tell(ctx, m)
	if errors.Is(err, interact.ErrTooLate) || api.Status(err) == http.StatusUnauthorized || api.Status(err) == http.StatusNotFound {
		to, other := d.Direct(ctx, n.in.By.ID)
		if other == nil {
			other = d.api.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(to.Channel), m, nil)
		}
		err = errors.Join(other, onlyIf(other != nil, err))
	}
	d.grumble("a private answer could not be shown", n.in.Where, err)
}

func onlyIf(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// below answers a message where it stands. It is the same one however often it
// is sent.
func (d *Discord) below(ctx context.Context, n *notice, m draw.Answer) error {
	m.Nonce, m.Enforce = draw.Nonce(bot.Key{Name: "private/" + n.in.Message.String(), Kind: agent.PostAnswer}), true
	m.Reference = &draw.Reference{Message: n.id}
	for {
		err := api.Retry(ctx, true, func() error {
			return d.api.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(n.channel), m, nil)
		})
		if m.Reference == nil || api.Code(err) != discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory {
			return err
		}
		m.Reference = nil
	}
}

// grumble logs what could not be shown.
func (d *Discord) grumble(text string, where bot.Address, err error) {
	if err == nil {
		return
	}
	d.log.Warn(text, "where", where.String(), "error", err) //nolint:sloglint // the callers' texts are constants
}
