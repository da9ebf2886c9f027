package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	answerWithin = time.Minute
	postAttempts = 5
	tooLate      = "That took too long, so Slack does not let me open the form any more. Please click again."
)

// answer does what is to be done at once, after the acknowledgement. A form
// goes first: what opens it lives for three seconds.
func (s *Slack) answer(ctx context.Context, n *notice, a bot.Answer) {
	if a.Form != nil {
		form := *a.Form
		s.in.crew.Go(func() { s.ask(ctx, n, form) })
	}
	if a.Mark == "" && a.Private == "" && a.Public == nil && a.Home == nil {
		return
	}
	s.later(ctx, func(ctx context.Context) {
		if a.Mark != "" && n.in.Message.ID != "" {
			s.mark(ctx, n.in.Message, a.Mark)
		}
		if a.Private != "" {
			s.whisper(ctx, n, a.Private)
		}
		if a.Public != nil {
			s.public(ctx, n, *a.Public)
		}
		if a.Home != nil {
			s.home(ctx, n.user, *a.Home)
		}
	})
}

// later runs something beside the events, at most so many at once.
func (s *Slack) later(ctx context.Context, do func(context.Context)) {
	s.in.crew.Go(func() {
		select {
		case s.in.aside <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-s.in.aside }()
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		do(ctx)
	})
}

// beside does what needs nobody to hear it.
func (s *Slack) beside(ctx context.Context, n *notice) {
	switch {
	case n.prompts.ID != "":
		s.later(ctx, func(ctx context.Context) { s.prompt(ctx, n.prompts) })
	case n.gone:
		s.log.Error("the app was taken out of the workspace, or its token revoked", "variable", "SLACK_BOT_TOKEN")
		s.later(ctx, func(ctx context.Context) {
			_, err := s.api.AuthTestContext(ctx)
			s.noteCall(err)
		})
	}
}

// prompt offers what one may say in a new thread of the assistant.
func (s *Slack) prompt(ctx context.Context, thread bot.Address) {
	err := s.api.SetAssistantThreadsSuggestedPromptsContext(ctx, slackapi.AssistantThreadsSetSuggestedPromptsParameters{
		ChannelID: thread.Channel, ThreadTS: thread.ID,
		Prompts: []slackapi.AssistantThreadsPrompt{{Title: "What can you do?", Message: "help"}, {Title: "What is running?", Message: "runs"}},
	})
	s.grumble("the suggested prompts could not be set", thread, err)
}

// mark sets a reaction. It is a courtesy: a busy Slack goes without.
func (s *Slack) mark(ctx context.Context, message bot.Address, m bot.Mark) {
	const method = "reactions.add"
	if s.out.muted(method) {
		return
	}
	err := s.api.AddReactionContext(ctx, string(m), slackapi.NewRefToMessage(message.Channel, message.ID))
	if busy, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		s.out.silence(method, busy.RetryAfter)
		return
	}
	if codeOf(err) == "already_reacted" {
		return
	}
	s.grumble("a reaction could not be set", message, err)
}

// whisper shows a text to the person alone: in the thread, through the
// interaction's own way back where the bot is no member, or directly.
func (s *Slack) whisper(ctx context.Context, n *notice, text string) {
	card := s.draw(ctx, bot.Card{Text: text, Parts: []bot.Part{bot.Prose{Markdown: text}}}, s.out.unknown())
	where := n.in.Where
	options := []slackapi.MsgOption{slackapi.MsgOptionText(card.text, false), slackapi.MsgOptionBlocks(card.blocks...)}
	if where.ID != "" {
		options = append(options, slackapi.MsgOptionTS(where.ID))
	}
	var err error
	if where.Channel != "" && n.user != "" {
		err = s.patiently(ctx, func() error {
			_, err := s.api.PostEphemeralContext(ctx, where.Channel, n.user, options...)
			if blocksRefused(err) {
				_, err = s.api.PostEphemeralContext(ctx, where.Channel, n.user, slackapi.MsgOptionText(card.text, false), slackapi.MsgOptionTS(where.ID))
			}
			return err
		})
		if err == nil {
			return
		}
	}
	if n.hook != "" {
		if hookErr := s.reply(ctx, n.hook, card); hookErr == nil {
			return
		} else if err == nil {
			err = hookErr
		}
	}
	s.grumble("a private answer could not be shown", where, err)
}

// reply answers through a response_url, which is a secret and stays out of logs.
func (s *Slack) reply(ctx context.Context, hook string, card drawn) error {
	body, err := json.Marshal(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": card.text, "blocks": card.blocks})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook, bytes.NewReader(body))
	if err != nil {
		return errors.New("the interaction names no address to answer to")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return errors.New("the interaction's address cannot be reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the interaction's address answers with status %d", resp.StatusCode)
	}
	return nil
}

// public posts a card once: where an earlier attempt may have arrived, it is
// looked for first.
func (s *Slack) public(ctx context.Context, n *notice, card bot.Card) {
	var err error
	look := n.again
	since := n.in.At
	for range postAttempts {
		if look {
			var found bool
			if _, found, err = s.Find(ctx, n.in.Where, card.Key, since); found {
				return
			}
		}
		if err == nil {
			if _, err = s.Post(ctx, n.in.Where, card); err == nil {
				return
			}
		}
		pause := s.cfg.PostTimeout
		var busy *bot.BusyError
		switch {
		case errors.As(err, &busy):
			pause = busy.After
		case errors.Is(err, bot.ErrLost):
			look = true
		default:
			s.grumble("an answer could not be posted", n.in.Where, err)
			return
		}
		if !ingest.Sleep(ctx, pause) {
			break
		}
		err = nil
	}
	s.grumble("an answer could not be posted", n.in.Where, err)
}

// home shows the bot's own page to somebody.
func (s *Slack) home(ctx context.Context, user string, card bot.Card) {
	view := slackapi.HomeTabViewRequest{Type: slackapi.VTHomeTab, Blocks: slackapi.Blocks{BlockSet: s.draw(ctx, card, messagesOnly).blocks}}
	err := s.patiently(ctx, func() error {
		_, err := s.api.PublishViewContext(ctx, slackapi.PublishViewContextRequest{UserID: user, View: view})
		return err
	})
	s.grumble("the home page could not be shown", s.place("", ""), err)
}

// messagesOnly are the kinds of blocks that modals and the home page refuse.
var messagesOnly = map[slackapi.MessageBlockType]bool{
	slackapi.MBTMarkdown: true, slackapi.MBTPlan: true, slackapi.MBTTaskCard: true, slackapi.MBTContextActions: true,
}

// draw is a card as one person is shown it.
func (s *Slack) draw(ctx context.Context, card bot.Card, refused map[slackapi.MessageBlockType]bool) drawn {
	return renderCard(card, drawing{refused: refused, name: s.names(ctx, card), edition: strconv.FormatInt(time.Now().UnixMicro(), 36)})
}

// patiently does a call again while Slack is busy.
func (s *Slack) patiently(ctx context.Context, call func() error) error {
	for {
		err := call()
		s.noteCall(err)
		var busy *slackapi.RateLimitedError
		if !errors.As(err, &busy) {
			return err
		}
		if !ingest.Sleep(ctx, max(busy.RetryAfter, time.Second)) {
			return err
		}
	}
}

// grumble logs what could not be shown, and what to do about it.
func (s *Slack) grumble(text string, where bot.Address, err error) {
	if err == nil {
		return
	}
	s.noteCall(err)
	if scope := neededScope(err); scope != "" {
		s.log.Warn(text, "where", where.String(), "error", err, "scope", scope, "remedy", "add the scope and install the app again") //nolint:sloglint // the callers' texts are constants
		return
	}
	s.log.Warn(text, "where", where.String(), "error", err) //nolint:sloglint // the callers' texts are constants
}
