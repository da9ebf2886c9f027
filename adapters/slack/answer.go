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

// answer does what is to be done at once, after the acknowledgement. A form
// goes first: what opens it lives for three seconds.
func (s *Slack) answer(ctx context.Context, u *wire.Update, a bot.Answer) {
	if _, filled := u.In.Act.(bot.Filled); filled && a.Form != nil {
		return // the form says it, and is still open
	}
	if a.Form != nil {
		form := *a.Form
		s.in.Go(func() { s.ask(ctx, u, form) })
	}
	if _, stopped := u.In.Act.(bot.Stopped); stopped && a.Run == "" {
		s.in.Later(ctx, answerWithin, func(ctx context.Context) { s.settle(ctx, u.In.Where) })
	}
	if a.Prompts != nil {
		s.in.Later(ctx, answerWithin, func(ctx context.Context) { s.prompt(ctx, u, *a.Prompts) })
	}
	if a.Mark == "" && a.Private == "" && a.Public == nil && a.Home == nil && a.Instead == nil {
		return
	}
	s.in.Later(ctx, answerWithin, func(ctx context.Context) {
		if a.Mark != "" && u.In.Message.ID != "" {
			s.mark(ctx, u.In.Message, a.Mark)
		}
		if a.Private != "" {
			s.tell(ctx, u, private(a.Private, a.Buttons))
		}
		if a.Instead != nil {
			s.replace(ctx, u, *a.Instead)
		}
		if a.Public != nil {
			s.LogFailure("an answer could not be posted", u.In.Where, ingest.PostOnce(ctx, s, u.In, u.Again, *a.Public, s.cfg.PostTimeout))
		}
		if a.Home != nil {
			s.home(ctx, u.User, *a.Home)
		}
	})
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
func (s *Slack) ask(ctx context.Context, u *wire.Update, f bot.Form) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	view, err := draw.Form(f, u.In.Where, s.drawing(ctx, bot.Card{Parts: []bot.Part{bot.Prose{Markdown: f.Intro}}}, nil))
	if err != nil {
		s.whisper(ctx, u, "This form cannot be shown in Slack: "+err.Error()+". Use the command line or the web page instead.")
		return
	}
	_, err = s.Web.OpenViewContext(ctx, u.Trigger, view)
	s.NoteToken(err)
	switch code := api.CodeOf(err); {
	case err == nil:
	case code == "expired_trigger_id" || code == "exchanged_trigger_id" || code == "invalid_trigger_id" || u.Trigger == "":
		s.whisper(ctx, u, tooLate)
	default:
		s.LogFailure("a form could not be opened", u.In.Where, err)
		s.whisper(ctx, u, "The form could not be opened. Please click again.")
	}
}

// mark sets a reaction. It is a courtesy: a busy Slack goes without.
func (s *Slack) mark(ctx context.Context, message bot.Address, m bot.Mark) {
	const method = "reactions.add"
	if left, _ := s.features.muted(method); left > 0 {
		return
	}
	err := s.Web.AddReactionContext(ctx, string(m), slackapi.NewRefToMessage(message.Channel, message.ID))
	if busy, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		s.features.limit(method, busy.RetryAfter)
		return
	}
	if api.CodeOf(err) == "already_reacted" {
		return
	}
	s.LogFailure("a reaction could not be set", message, err)
}

// keptOpen is what keeps a form open that was sent in with a value that cannot be
// taken: Slack shows what is wrong beside the field. Nil where there is nothing to
// keep.
func (s *Slack) keptOpen(ctx context.Context, u *wire.Update, a bot.Answer) json.RawMessage {
	if _, filled := u.In.Act.(bot.Filled); !filled || a.Form == nil {
		return nil
	}
	wrong := map[string]string{}
	for _, f := range a.Form.Fields {
		if f.Problem != "" {
			wrong[f.ID] = s.drawing(ctx, bot.Card{Text: f.Problem}, nil).Named(f.Problem)
		}
	}
	now, err := json.Marshal(map[string]any{"response_action": "errors", "errors": wrong})
	s.LogFailure("a form cannot be kept open", u.In.Where, err) // texts always encode
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
func (s *Slack) replace(ctx context.Context, u *wire.Update, c bot.Card) {
	if u.In.Message.ID != "" {
		s.LogFailure("a message could not be replaced", u.In.Message, s.Edit(ctx, u.In.Message, c))
		return
	}
	s.LogFailure("a private message could not be replaced", u.In.Where, s.reply(ctx, u.Hook, s.draw(ctx, c, s.features.unknown()), true))
}

// whisper shows a text to the person alone.
func (s *Slack) whisper(ctx context.Context, u *wire.Update, text string) {
	s.tell(ctx, u, private(text, nil))
}

// tell shows a card to the person alone: in the thread, through the
// interaction's own way back where the bot is no member, or directly.
func (s *Slack) tell(ctx context.Context, u *wire.Update, c bot.Card) {
	card := s.draw(ctx, c, s.features.unknown())
	where := u.In.Where
	options := []slackapi.MsgOption{slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionBlocks(card.Blocks...)}
	if where.ID != "" {
		options = append(options, slackapi.MsgOptionTS(where.ID))
	}
	var err error
	if where.Channel != "" && u.User != "" {
		err = s.Patiently(ctx, func() error {
			_, err := s.Web.PostEphemeralContext(ctx, where.Channel, u.User, options...)
			if api.BlocksRefused(err) {
				_, err = s.Web.PostEphemeralContext(ctx, where.Channel, u.User, slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionTS(where.ID))
			}
			return err
		})
		if err == nil {
			return
		}
	}
	if u.Hook != "" {
		if hookErr := s.reply(ctx, u.Hook, card, false); hookErr == nil {
			return
		} else if err == nil {
			err = hookErr
		}
	}
	if u.User != "" && u.Hook == "" { // a message of somebody whom nothing can be shown to in place
		if direct := s.tellDirectly(ctx, u.User, card); direct == nil {
			return
		} else if err == nil {
			err = direct
		}
	}
	s.LogFailure("a private answer could not be shown", where, err)
}

// tellDirectly says something to a person in the conversation with the bot.
func (s *Slack) tellDirectly(ctx context.Context, user string, card draw.Message) error {
	to, err := s.Direct(ctx, wire.Principal(user))
	if err != nil {
		return err
	}
	return s.Patiently(ctx, func() error {
		_, _, err := s.Web.PostMessageContext(ctx, to.Channel, slackapi.MsgOptionText(card.Text, false), slackapi.MsgOptionBlocks(card.Blocks...))
		return err
	})
}

// reply answers through a response_url, which is a secret and stays out of logs:
// beside the message that was clicked, or in its place.
func (s *Slack) reply(ctx context.Context, hook string, card draw.Message, replaces bool) error {
	body, err := json.Marshal(map[string]any{"response_type": "ephemeral", "replace_original": replaces, "text": card.Text, "blocks": card.Blocks})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook, bytes.NewReader(body))
	if err != nil {
		return errors.New("the interaction names no address to answer to")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
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
func (s *Slack) home(ctx context.Context, user string, card bot.Card) {
	view := slackapi.HomeTabViewRequest{Type: slackapi.VTHomeTab, Blocks: slackapi.Blocks{BlockSet: s.draw(ctx, card, draw.MessagesOnly).Blocks}}
	err := s.Patiently(ctx, func() error {
		_, err := s.Web.PublishViewContext(ctx, slackapi.PublishViewContextRequest{UserID: user, View: view})
		return err
	})
	s.LogFailure("the home page could not be shown", s.Address("", ""), err)
}

// draw is a card as one person is shown it.
func (s *Slack) draw(ctx context.Context, card bot.Card, refused map[slackapi.MessageBlockType]bool) draw.Message {
	return draw.Card(card, s.drawing(ctx, card, refused))
}
