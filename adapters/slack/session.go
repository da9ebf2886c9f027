package slack

// This file shows in a thread how its run stands, by Slack's agent sessions: a
// status with a native Stop button while it works, and a title. Apps without
// them (an assistant_view manifest, an older workspace) show a line of text
// while the run works.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
	"unicode"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	muteFor = 10 * time.Minute
	// processingLasts is for how long a session is left at "processing" without
	// saying so again: Slack gives up on it after an hour.
	processingLasts = 25 * time.Minute
	// textLasts is the same for the line of text, which Slack takes away after
	// two minutes, and with every message of the bot.
	textLasts   = time.Minute
	workingText = "is working…"
)

// sessionStatuses are Slack's words for how a session stands. A closed session
// is opened again by the next run of its thread.
var sessionStatuses = map[bot.SessionStatus]string{
	bot.SessionWorking: slackapi.AgentSessionStatusProcessing,
	bot.SessionAsking:  slackapi.AgentSessionStatusSuspended,
	bot.SessionIdle:    slackapi.AgentSessionStatusActive,
	bot.SessionOver:    slackapi.AgentSessionStatusClosed,
}

// ShowSession shows how the run of a thread stands. What a workspace does not
// have is not asked for again for ten minutes.
func (s *Slack) ShowSession(ctx context.Context, thread bot.Address, shown, before bot.Session) (fades time.Duration, err error) {
	if thread.ID == "" {
		return 0, nil
	}
	title := before.Title
	if onlyTitle := shown.Status == before.Status && shown.Title != before.Title; !onlyTitle {
		var done bool
		if title, done, err = s.setStatus(ctx, thread, shown, before); err != nil || !done {
			return s.orText(ctx, thread, shown, err)
		}
	}
	if err := s.rename(ctx, thread, shown.Title, title); err != nil {
		return 0, err
	}
	if shown.Status == bot.SessionWorking {
		return processingLasts, nil
	}
	return 0, nil
}

// setStatus sets the session's status, and its title where there was no session
// yet. It returns the title that the session has.
func (s *Slack) setStatus(ctx context.Context, thread bot.Address, shown, before bot.Session) (title string, done bool, err error) {
	done, err = s.optional("agents.sessions.setStatus", "show how the run of "+thread.String()+" stands", func() error {
		now, err := s.Web.SetAgentSessionStatusContext(ctx, slackapi.AgentSessionSetStatusParameters{
			ChannelID: thread.Channel, ThreadTS: thread.ID, Status: sessionStatuses[shown.Status], Title: shown.Title,
		})
		if err != nil {
			return err
		}
		title = cmp.Or(now.Title, before.Title)
		if slices.Contains(now.ResponseMetadata.Warnings, noStopButton) {
			s.LogOnce("threads have no Stop button: subscribe the app to the event agent_session_stopped (see `deckhand manifest slack`) and install it again")
		}
		return nil
	})
	return title, done, err
}

// noStopButton is Slack's word for an app that is not told of stops.
const noStopButton = "missing_agent_session_stopped_event_subscription"

// rename gives the session the run's title, unless somebody gave it one of their
// own.
func (s *Slack) rename(ctx context.Context, thread bot.Address, title, now string) error {
	if title == "" || sameTitle(title, now) {
		return nil
	}
	own, err := s.cfg.Names.Value(ctx, titled(thread))
	if err != nil || own != "" {
		return err
	}
	_, err = s.optional("agents.sessions.rename", "give "+thread.String()+" its title", func() error {
		_, err := s.Web.RenameAgentSessionContext(ctx, slackapi.AgentSessionRenameParameters{ChannelID: thread.Channel, ThreadTS: thread.ID, Title: title})
		return err
	})
	return err
}

// titled is the name under which it is kept that somebody gave a thread's session
// a title of their own: while its run is kept.
func titled(thread bot.Address) string { return "titled/" + thread.String() }

// keepTitle notes that somebody gave a thread's session a title.
func (s *Slack) keepTitle(ctx context.Context, thread bot.Address) {
	run, err := s.cfg.Names.Value(ctx, agent.ThreadName(thread.String()))
	if err == nil && run != "" {
		err = s.cfg.Names.SetValue(ctx, titled(thread), run+"/own")
	}
	s.LogFailure("it is not kept that somebody named a session; it may be renamed", thread, err)
}

// settle takes away what is left of a run that is no more from a thread whose
// Stop button somebody pressed: Slack shows it until the app says otherwise.
func (s *Slack) settle(ctx context.Context, thread bot.Address) {
	run, err := s.cfg.Names.Value(ctx, agent.ThreadName(thread.String()))
	if err == nil && run != "" && s.cfg.Live != nil {
		var live []agent.RunID
		if live, err = s.cfg.Live(ctx); slices.Contains(live, agent.RunID(run)) {
			return
		}
	}
	if err == nil {
		_, err = s.ShowSession(ctx, thread, bot.Session{Status: bot.SessionIdle}, bot.Session{})
	}
	s.LogFailure("a thread may still say that somebody works in it", thread, err)
}

// sameTitle compares titles by their letters and digits: Slack writes some other
// characters differently.
func sameTitle(a, b string) bool {
	return slices.Equal(titleLetters(a), titleLetters(b))
}

func titleLetters(title string) []rune {
	return slices.DeleteFunc([]rune(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// orText shows a line of text where there are no sessions.
func (s *Slack) orText(ctx context.Context, thread bot.Address, shown bot.Session, err error) (fades time.Duration, _ error) {
	if err != nil {
		return 0, err
	}
	text := ""
	if shown.Status == bot.SessionWorking {
		text, fades = workingText, textLasts
	}
	_, err = s.optional("assistant.threads.setStatus", "show the status of "+thread.String(), func() error {
		return s.Web.SetAssistantThreadsStatusContext(ctx, slackapi.AssistantThreadsSetStatusParameters{
			ChannelID: thread.Channel, ThreadTS: thread.ID, Status: text,
		})
	})
	return fades, err
}

// unavailable are Slack's words for a method that an app or a workspace does not have.
var unavailable = []string{
	"unknown_method", "not_allowed", "not_authorized", "missing_scope", "not_allowed_token_type", "feature_not_enabled", "feature_disabled",
	"not_agent_app", "method_deprecated", "method_not_supported_for_channel_type",
}

// optional makes a call that a workspace may not be able to answer; done says
// that it did. A method that is not there is left alone for a while, and one
// that is limited until it may be called again.
func (s *Slack) optional(method, what string, call func() error) (done bool, err error) {
	if left, limited := s.features.muted(method); left > 0 {
		if limited {
			return false, &bot.BusyError{After: left}
		}
		return false, nil
	}
	err = call()
	if code := api.CodeOf(err); slices.Contains(unavailable, code) {
		s.features.silence(method, muteFor)
		s.LogOnce("the workspace does not show how runs stand", "method", method, "error", code, "scope", api.NeededScope(err))
		return false, nil
	}
	if limited, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		s.features.limit(method, limited.RetryAfter)
	}
	return err == nil, s.Failed(what, err)
}
