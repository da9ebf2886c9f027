package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Post makes one message. What does not fit is shortened, and the whole text is
// uploaded first, seen by nobody before the message links to it: a crash in
// between leaves nothing that people see. A reply whose parent was deleted in
// the meantime lands beside the thread: it is taken back, and that is ErrGone.
func (s *Slack) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	var posted bot.Posted
	err := s.show(ctx, c, false, func(ctx context.Context, content []slackapi.MsgOption) error {
		options := append([]slackapi.MsgOption{slackapi.MsgOptionDisableLinkUnfurl(), slackapi.MsgOptionDisableMediaUnfurl()}, content...)
		if to.ID != "" {
			options = append(options, slackapi.MsgOptionTS(to.ID))
		}
		channel, ts, m, err := s.Web.PostMessageWithResponseContext(ctx, to.Channel, options...)
		if err != nil {
			return err
		}
		thread := ts
		if to.ID != "" {
			thread = m.ThreadTimestamp
		}
		posted = bot.Posted{Message: s.Address(channel, ts), Thread: s.Address(channel, thread), At: wire.TimeOf(ts)}
		return nil
	})
	if err != nil {
		return bot.Posted{}, s.Failed("post to "+strings.TrimSuffix(to.String(), ":"), err)
	}
	s.NoteToken(nil)
	if posted.Thread.ID != "" {
		return posted, nil
	}
	if posted.Thread = to; !s.astray(ctx, to, posted.Message.ID) {
		return posted, nil
	}
	if _, _, err := s.Web.DeleteMessageContext(ctx, to.Channel, posted.Message.ID); err != nil {
		s.log.Warn("a reply stands beside its thread, whose first message was deleted, and cannot be taken back", "message", posted.Message, "err", err)
	}
	return bot.Posted{}, fmt.Errorf("post to %s: its first message was deleted: %w", to, bot.ErrGone)
}

// Edit replaces what a message shows. It notifies nobody.
func (s *Slack) Edit(ctx context.Context, message bot.Address, c bot.Card) error {
	err := s.show(ctx, c, true, func(ctx context.Context, content []slackapi.MsgOption) error {
		_, _, _, err := s.Web.UpdateMessageContext(ctx, message.Channel, message.ID, content...)
		return err
	})
	return s.Failed("edit "+message.String(), err)
}

// astray reports whether a reply, which Slack named no thread for, does not
// stand in its thread.
func (s *Slack) astray(ctx context.Context, thread bot.Address, ts string) bool {
	list, _, err := s.Page(ctx, thread, ts, "")
	if err != nil {
		return errors.Is(s.Failed("read "+thread.String(), err), bot.ErrGone)
	}
	return !slices.ContainsFunc(list, func(m slackapi.Message) bool { return m.Timestamp == ts })
}

// Paces are those of one channel and of the whole workspace's edits.
func (s *Slack) Paces(to bot.Address) (post, edit agent.Pace) {
	return agent.Pace{Name: "post/" + to.Place(), Every: time.Second, Burst: 3},
		agent.Pace{Name: "edit/" + Platform + ":" + s.Team, Every: time.Minute / time.Duration(s.cfg.EditsPerMinute), Burst: 10}
}

// show draws a card and sends it. Blocks that the workspace does not know are
// drawn again in the oldest kinds, and then left out.
func (s *Slack) show(ctx context.Context, c bot.Card, edit bool, send func(context.Context, []slackapi.MsgOption) error) error {
	d := s.drawing(ctx, c, s.features.unknown())
	d.Edit = edit
	m, attached := draw.Card(c, d), slackapi.MsgOptionCompose()
	if m.Cut && (!edit || c.Final) {
		id, more, err := s.attach(ctx, c, d)
		if err != nil {
			return err
		}
		if d.More = more; edit && id != "" { // an edit shares no file by its link
			attached = slackapi.MsgOptionFileIDs([]string{id})
		}
		m = draw.Card(c, d)
	}
	once := func(text string, blocks []slackapi.Block) error {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.PostTimeout)
		defer cancel()
		content := []slackapi.MsgOption{slackapi.MsgOptionText(text, false), slackapi.MsgOptionBlocks(blocks...), slackapi.MsgOptionParse(false), attached}
		if c.Key.Name != "" { // without, an edited message keeps the one it has
			content = append(content, slackapi.MsgOptionMetadata(api.Metadata(c.Key)))
		}
		return send(ctx, content)
	}
	err := once(m.Text, m.Blocks)
	if !api.BlocksRefused(err) {
		return err
	}
	culprits := unknownIn(m.Blocks, err)
	d.Refused = draw.Modern
	if m = draw.Card(c, d); len(culprits) > 0 {
		if err = once(m.Text, m.Blocks); err == nil {
			s.features.learn(s.log, culprits)
		}
		if !api.BlocksRefused(err) {
			return err
		}
	}
	s.log.Warn("Slack refuses the blocks of a post: it is shown without", "run", c.Key.Run, "key", c.Key.Name, "why", api.Reasons(err))
	return once(d.Bare(c), nil)
}

// attach uploads the whole text of a card that was cut, shared with nobody yet,
// and returns its id and a link to it: Slack shares a file that its own bot links to. The
// card is shown without the file where that does not work in half of the time.
func (s *Slack) attach(ctx context.Context, c bot.Card, d draw.Drawing) (id, link string, err error) {
	limit := s.cfg.PostTimeout
	if deadline, is := ctx.Deadline(); is {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text := d.Named(bot.Markdown(c)) + "\n"
	name := string(c.Key.Kind) + ".md"
	if c.Key.Kind == "" {
		name = "text.md"
	}
	what := "upload the whole text of post " + c.Key.Name
	id, at, err := s.UploadUnseen(ctx, what, bot.Upload{Name: name, Title: name, Size: int64(len(text)), Content: strings.NewReader(text)})
	if _, is := errors.AsType[*bot.BusyError](err); is && !errors.Is(err, bot.ErrLost) {
		return "", "", err
	}
	if err != nil {
		s.log.Error("the whole text of a post cannot be attached; it is shown shortened", "run", c.Key.Run, "key", c.Key.Name, "err", err)
		return "", "", nil
	}
	return id, draw.Link(at, name), nil
}
