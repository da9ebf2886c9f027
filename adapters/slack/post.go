package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// outlet is the state of the showing side: what the workspace was found not to
// be able to, for as long as the process lives.
type outlet struct {
	url string // of the workspace, with a slash at its end

	mu      sync.Mutex
	refused map[slackapi.MessageBlockType]bool
	mute    map[string]time.Time // methods that are not asked before then
}

func (o *outlet) open(url string) {
	o.url = url
	o.refused, o.mute = map[slackapi.MessageBlockType]bool{}, map[string]time.Time{}
}

// eventType marks the metadata of a post (CONTRACT.md, "Chat").
const eventType = "deckhand_post"

// Post makes one message. What does not fit is shortened, and the whole text is
// uploaded first, seen by nobody before the message links to it: a crash in
// between leaves nothing that people see. A reply whose parent was deleted in
// the meantime lands beside the thread: it is taken back, and that is ErrGone.
func (s *Slack) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	var posted bot.Posted
	err := s.show(ctx, c, false, func(ctx context.Context, content []slackapi.MsgOption) error {
		options := append([]slackapi.MsgOption{slackapi.MsgOptionDisableLinkUnfurl()}, content...)
		if to.ID != "" {
			options = append(options, slackapi.MsgOptionTS(to.ID))
		}
		channel, ts, m, err := s.api.PostMessageWithResponseContext(ctx, to.Channel, options...)
		if err != nil {
			return err
		}
		thread := ts
		if to.ID != "" {
			thread = m.ThreadTimestamp
		}
		posted = bot.Posted{Message: s.place(channel, ts), Thread: s.place(channel, thread)}
		return nil
	})
	if err != nil {
		return bot.Posted{}, s.failed("post to "+strings.TrimSuffix(to.String(), ":"), err)
	}
	s.noteCall(nil)
	if posted.Thread.ID != "" {
		return posted, nil
	}
	if posted.Thread = to; !s.astray(ctx, to, posted.Message.ID) {
		return posted, nil
	}
	if _, _, err := s.api.DeleteMessageContext(ctx, to.Channel, posted.Message.ID); err != nil {
		s.log.Warn("a reply stands beside its thread, whose first message was deleted, and cannot be taken back", "message", posted.Message, "err", err)
	}
	return bot.Posted{}, fmt.Errorf("post to %s: its first message was deleted: %w", to, bot.ErrGone)
}

// astray reports whether a reply, which Slack named no thread for, does not
// stand in its thread.
func (s *Slack) astray(ctx context.Context, thread bot.Address, ts string) bool {
	list, _, err := s.page(ctx, thread, ts, "")
	if err != nil {
		return errors.Is(s.failed("read "+thread.String(), err), bot.ErrGone)
	}
	return !slices.ContainsFunc(list, func(m slackapi.Message) bool { return m.Timestamp == ts })
}

// Paces are those of one channel and of the whole workspace's edits.
func (s *Slack) Paces(to bot.Address) (post, edit agent.Pace) {
	return agent.Pace{Name: "post/" + to.Place(), Every: time.Second, Burst: 3},
		agent.Pace{Name: "edit/" + Platform + ":" + s.team, Every: time.Minute / time.Duration(s.cfg.EditsPerMinute), Burst: 10}
}

// show draws a card and sends it. Blocks that the workspace does not know are
// drawn again in the oldest kinds, and then left out.
func (s *Slack) show(ctx context.Context, c bot.Card, edit bool, send func(context.Context, []slackapi.MsgOption) error) error {
	d := drawing{edit: edit, refused: s.out.unknown(), name: s.names(ctx, c), edition: strconv.FormatInt(time.Now().UnixNano(), 36)}
	m := renderCard(c, d)
	if m.cut && !edit {
		more, err := s.attach(ctx, c, d)
		if err != nil {
			return err
		}
		d.more = more
		m = renderCard(c, d)
	}
	once := func(text string, blocks []slackapi.Block) error {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.PostTimeout)
		defer cancel()
		return send(ctx, []slackapi.MsgOption{
			slackapi.MsgOptionText(text, false), slackapi.MsgOptionBlocks(blocks...), slackapi.MsgOptionParse(false),
			slackapi.MsgOptionMetadata(metadata(c.Key)),
		})
	}
	err := once(m.text, m.blocks)
	if !blocksRefused(err) {
		return err
	}
	culprits := unknownIn(m.blocks, err)
	d.refused = modern
	if m = renderCard(c, d); len(culprits) > 0 {
		if err = once(m.text, m.blocks); err == nil {
			s.out.learn(s, culprits)
		}
		if !blocksRefused(err) {
			return err
		}
	}
	s.log.Warn("Slack refuses the blocks of a post: it is shown without", "run", c.Key.Run, "key", c.Key.Name, "why", reasons(err))
	return once(d.bare(c), nil)
}

func metadata(k bot.Key) slackapi.SlackMetadata {
	return slackapi.SlackMetadata{EventType: eventType, EventPayload: map[string]any{
		"run": string(k.Run), "key": k.Name, "kind": string(k.Kind),
	}}
}

// modern are the kinds of blocks that not every workspace knows, and that can be
// drawn in another way.
var modern = map[slackapi.MessageBlockType]bool{
	slackapi.MBTMarkdown: true, slackapi.MBTPlan: true, slackapi.MBTTaskCard: true,
	slackapi.MBTContextActions: true, slackapi.MBTRichText: true,
}

// unknown are the kinds of blocks that the workspace was found not to know.
func (o *outlet) unknown() map[slackapi.MessageBlockType]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.refused)
}

// learn remembers kinds of blocks that the workspace does not know.
func (o *outlet) learn(s *Slack, kinds []slackapi.MessageBlockType) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, kind := range kinds {
		if !o.refused[kind] {
			o.refused[kind] = true
			s.log.Warn("the workspace does not know a kind of block; it is drawn with others from now on", "block", kind)
		}
	}
}

// blocksRefused reports whether the call failed for what its blocks are.
func blocksRefused(err error) bool {
	switch codeOf(err) {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "block_mismatch":
		return true
	}
	return false
}

var pointer = regexp.MustCompile(`/blocks/(\d+)`)

// unknownIn are the modern kinds among the blocks that Slack points at, or all
// of them where it points at none.
func unknownIn(blocks []slackapi.Block, err error) []slackapi.MessageBlockType {
	var named, all []slackapi.MessageBlockType
	for _, at := range pointer.FindAllStringSubmatch(reasons(err), -1) {
		if i, err := strconv.Atoi(at[1]); err == nil && i < len(blocks) {
			named = append(named, blocks[i].BlockType())
		}
	}
	for _, b := range blocks {
		all = append(all, b.BlockType())
	}
	if len(named) > 0 {
		all = named
	}
	all = slices.DeleteFunc(all, func(k slackapi.MessageBlockType) bool { return !modern[k] })
	slices.Sort(all)
	return slices.Compact(all)
}

// reasons is what Slack says about a refusal.
func reasons(err error) string {
	refused, is := asRefusal(err)
	if !is {
		return ""
	}
	list := slices.Clone(refused.ResponseMetadata.Messages)
	for _, e := range refused.Errors {
		if raw, err := json.Marshal(e); err == nil {
			list = append(list, string(raw))
		}
	}
	return strings.Join(list, "; ")
}
