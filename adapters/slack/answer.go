package slack

// This file carries out what the bot answers to an event at once: opening a
// form, setting a reaction, a private or public reply, the home page. Forms
// go first, since Slack opens them only within three seconds.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	answerWithin = time.Minute
	tooLate      = "That took too long, so Slack does not let me open the form any more. Please click again."
)

// response is what the bot answers to an update, and the way back to whoever
// caused it: the thread, the form that is open, or the person alone.
type response struct {
	*Slack

	u      *wire.Update
	answer bot.Answer // empty until the update was heard
}

// give does what is to be done at once, after the acknowledgement. A form
// goes first: what opens it lives for three seconds.
func (r *response) give(ctx context.Context) {
	u, a := r.u, r.answer
	if _, filled := u.In.Act.(bot.Filled); filled && a.Form != nil {
		return // the form says it, and is still open
	}
	if a.Form != nil {
		form := *a.Form
		r.in.Go(func() { r.ask(ctx, form) })
	}
	if _, stopped := u.In.Act.(bot.Stopped); stopped && a.Run == "" {
		r.in.Later(ctx, answerWithin, func(ctx context.Context) { r.settle(ctx, u.In.Where) })
	}
	if a.Prompts != nil {
		r.in.Later(ctx, answerWithin, func(ctx context.Context) { r.prompt(ctx, u, *a.Prompts) })
	}
	if a.Mark == "" && a.Private == "" && a.Public == nil && a.Home == nil && a.Instead == nil {
		return
	}
	r.in.Later(ctx, answerWithin, r.say)
}

// say shows what the answer says, in the order in which it is wanted.
func (r *response) say(ctx context.Context) {
	u, a := r.u, r.answer
	if a.Mark != "" && u.In.Message.ID != "" {
		r.mark(ctx, a.Mark)
	}
	if a.Private != "" {
		r.tell(ctx, private(a.Private, a.Buttons))
	}
	if a.Instead != nil {
		r.replace(ctx, *a.Instead)
	}
	if a.Public != nil {
		r.LogFailure("an answer could not be posted", u.In.Where, ingest.PostOnce(ctx, r.Slack, u.In, u.Again, *a.Public, r.cfg.PostTimeout))
	}
	if a.Home != nil {
		r.home(ctx, *a.Home)
	}
}

// beside does what needs nobody to hear it.
func (s *Slack) beside(ctx context.Context, u *wire.Update) {
	switch {
	case u.Titled.ID != "":
		s.in.Later(ctx, answerWithin, func(ctx context.Context) { s.keepTitle(ctx, u.Titled) })
	case u.Gone:
		s.log.Error("the app was taken out of the workspace, or its token revoked", "variable", "SLACK_BOT_TOKEN")
		s.in.Later(ctx, answerWithin, func(ctx context.Context) {
			_ = s.TryToken(ctx) // it is noted
		})
	}
}

// ask opens a form.
func (r *response) ask(ctx context.Context, f bot.Form) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	view, err := draw.Form(f, r.u.In.Where, r.drawing(ctx, bot.Card{Parts: []bot.Part{bot.Prose{Markdown: f.Intro}}}, nil))
	if err != nil {
		r.whisper(ctx, "This form cannot be shown in Slack: "+err.Error()+". Use the command line or the web page instead.")
		return
	}
	_, err = r.Web.OpenViewContext(ctx, r.u.Trigger, view)
	r.NoteToken(err)
	switch code := api.CodeOf(err); {
	case err == nil:
	case code == "expired_trigger_id" || code == "exchanged_trigger_id" || code == "invalid_trigger_id" || r.u.Trigger == "":
		r.whisper(ctx, tooLate)
	default:
		r.LogFailure("a form could not be opened", r.u.In.Where, err)
		r.whisper(ctx, "The form could not be opened. Please click again.")
	}
}

// mark sets a reaction. It is a courtesy: a busy Slack goes without.
func (r *response) mark(ctx context.Context, m bot.Mark) {
	message := r.u.In.Message
	const method = "reactions.add"
	if left, _ := r.features.muted(method); left > 0 {
		return
	}
	err := r.Web.AddReactionContext(ctx, string(m), slackapi.NewRefToMessage(message.Channel, message.ID))
	if busy, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		r.features.limit(method, busy.RetryAfter)
		return
	}
	if api.CodeOf(err) == "already_reacted" {
		return
	}
	r.LogFailure("a reaction could not be set", message, err)
}

// keptOpen is what keeps a form open that was sent in with a value that cannot be
// taken: Slack shows what is wrong beside the field. Nil where there is nothing to
// keep.
func (r *response) keptOpen(ctx context.Context) json.RawMessage {
	if _, filled := r.u.In.Act.(bot.Filled); !filled || r.answer.Form == nil {
		return nil
	}
	wrong := map[string]string{}
	for _, f := range r.answer.Form.Fields {
		if f.Problem != "" {
			wrong[f.ID] = r.drawing(ctx, bot.Card{Text: f.Problem}, nil).Named(f.Problem)
		}
	}
	now, err := json.Marshal(map[string]any{"response_action": "errors", "errors": wrong})
	r.LogFailure("a form cannot be kept open", r.u.In.Where, err) // texts always encode
	return now
}

// private is a card for one person: a text with buttons below.
func private(text string, buttons *bot.Buttons) bot.Card {
	c := bot.Card{Text: text, Parts: []bot.Part{bot.Prose{Markdown: text}}}
	if buttons != nil {
		c.Parts = append(c.Parts, *buttons)
	}
	return c
}

// replace shows a card in place of the message whose button was pressed.
func (r *response) replace(ctx context.Context, c bot.Card) {
	if r.u.In.Message.ID != "" {
		r.LogFailure("a message could not be replaced", r.u.In.Message, r.Edit(ctx, r.u.In.Message, c))
		return
	}
	r.LogFailure("a private message could not be replaced", r.u.In.Where, r.reply(ctx, r.draw(ctx, c, r.features.unknown()), true))
}

// whisper shows a text to the person alone.
func (r *response) whisper(ctx context.Context, text string) {
	r.tell(ctx, private(text, nil))
}

// tell shows a card to the person alone: in the thread, through the
// interaction's own way back where the bot is no member, or directly.
func (r *response) tell(ctx context.Context, c bot.Card) {
	card := r.draw(ctx, c, r.features.unknown())
	where := r.u.In.Where
	options := []slackapi.MsgOption{slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionBlocks(card.Blocks...)}
	if where.ID != "" {
		options = append(options, slackapi.MsgOptionTS(where.ID))
	}
	var err error
	if where.Channel != "" && r.u.User != "" {
		err = r.Patiently(ctx, func() error {
			_, err := r.Web.PostEphemeralContext(ctx, where.Channel, r.u.User, options...)
			if api.BlocksRefused(err) {
				_, err = r.Web.PostEphemeralContext(ctx, where.Channel, r.u.User, slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionTS(where.ID))
			}
			return err
		})
		if err == nil {
			return
		}
	}
	if r.u.Hook != "" {
		if hookErr := r.reply(ctx, card, false); hookErr == nil {
			return
		} else if err == nil {
			err = hookErr
		}
	}
	if r.u.User != "" && r.u.Hook == "" { // a message of somebody whom nothing can be shown to in place
		if direct := r.tellDirectly(ctx, card); direct == nil {
			return
		} else if err == nil {
			err = direct
		}
	}
	r.LogFailure("a private answer could not be shown", where, err)
}

// tellDirectly says something to a person in the conversation with the bot.
func (r *response) tellDirectly(ctx context.Context, card draw.Message) error {
	to, err := r.Direct(ctx, wire.Principal(r.u.User))
	if err != nil {
		return err
	}
	return r.Patiently(ctx, func() error {
		_, _, err := r.Web.PostMessageContext(ctx, to.Channel, slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionBlocks(card.Blocks...))
		return err
	})
}

// reply answers through a response_url, which is a secret and stays out of logs:
// beside the message that was clicked, or in its place.
func (r *response) reply(ctx context.Context, card draw.Message, replaces bool) error {
	body, err := json.Marshal(map[string]any{"response_type": "ephemeral", "replace_original": replaces, "text": card.Text, "blocks": card.Blocks})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.u.Hook, bytes.NewReader(body))
	if err != nil {
		return errors.New("the interaction names no address to answer to")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.http.Do(req)
	if err != nil {
		return errors.New("the interaction's address cannot be reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the interaction's address answers with status %d", resp.StatusCode)
	}
	return nil
}

// home shows the bot's own page to somebody.
func (r *response) home(ctx context.Context, card bot.Card) {
	view := slackapi.HomeTabViewRequest{Type: slackapi.VTHomeTab, Blocks: slackapi.Blocks{BlockSet: r.draw(ctx, card, draw.MessagesOnly).Blocks}}
	err := r.Patiently(ctx, func() error {
		_, err := r.Web.PublishViewContext(ctx, slackapi.PublishViewContextRequest{UserID: r.u.User, View: view})
		return err
	})
	r.LogFailure("the home page could not be shown", r.Address("", ""), err)
}

// draw is a card as one person is shown it.
func (r *response) draw(ctx context.Context, card bot.Card, refused map[slackapi.MessageBlockType]bool) draw.Message {
	return draw.Card(card, r.drawing(ctx, card, refused))
}
