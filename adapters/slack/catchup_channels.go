package slack

// This file reads back what was said while the bot was away: it lists the
// bot's channels and the threads of runs, and fetches the messages since the
// point up to which each channel was heard.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	pageSize     = 200
	largePage    = 999 // where most of a page is passed over
	groupSize    = 20  // threads that are read in one step
	allKinds     = "public_channel,private_channel,mpim,im"
	threadPrefix = "thread/" + Platform + ":"
)

// backlog reads back what was said while the bot was away.
type backlog struct {
	*Slack

	began time.Time
}

// channelBacklog is a channel that is read back.
type channelBacklog struct {
	id, kind string // kind as events name it: channel, im, mpim
	oldest   time.Time
	threads  []string // roots of threads to look into, whenever something was said there last
	// parents are the roots that the history shows, with the times of their
	// newest replies.
	parents map[string]time.Time
	looked  bool // for threads that began before oldest
}

// channels are those that the bot is in, with how far each was read. Where Slack
// does not list them, those are read that are known.
func (b *backlog) channels(ctx context.Context) ([]*channelBacklog, error) {
	since, err := b.in.Marks.Since(ctx, b.began.Add(ingest.Ahead).UnixMicro())
	if err != nil || since.Nothing() {
		return nil, err
	}
	kinds, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	if kinds == nil {
		kinds = map[string]string{}
		for _, id := range since.Known() {
			kinds[id] = kindOf(id, false, false)
		}
	}
	channels := make([]*channelBacklog, 0, len(kinds))
	for id, kind := range kinds {
		if oldest := since.Of(id, overlap.Microseconds()); oldest > 0 {
			channels = append(channels, &channelBacklog{id: id, kind: kind, oldest: time.UnixMicro(oldest).UTC()})
		}
	}
	slices.SortFunc(channels, func(a, b *channelBacklog) int { return cmp.Compare(a.id, b.id) })
	return channels, nil
}

// list asks which channels the bot is in, and of which kind; nil: Slack
// does not say.
func (b *backlog) list(ctx context.Context) (map[string]string, error) {
	kinds := map[string]string{}
	params := slackapi.GetConversationsForUserParameters{Types: strings.Split(allKinds, ","), Limit: pageSize, ExcludeArchived: true}
	for {
		var channels []slackapi.Channel
		err := b.Patiently(ctx, func() (err error) {
			channels, params.Cursor, err = b.Web.GetConversationsForUserContext(ctx, &params)
			return err
		})
		switch code := api.CodeOf(err); {
		case code == "missing_scope" || code == "unknown_method":
			b.LogOnce("Slack does not list the bot's channels: only those are caught up where it heard something", "error", code, "scope", api.NeededScope(err))
			return nil, nil //nolint:nilnil // no list is an answer
		case err != nil:
			return nil, fmt.Errorf("list the bot's channels: %w", err)
		}
		for i := range channels {
			kinds[channels[i].ID] = kindOf(channels[i].ID, channels[i].IsIM, channels[i].IsMpIM)
		}
		if params.Cursor == "" {
			return kinds, nil
		}
	}
}

func kindOf(id string, im, mpim bool) string {
	switch {
	case im || strings.HasPrefix(id, "D"):
		return "im"
	case mpim:
		return "mpim"
	}
	return "channel"
}

// addThreads adds the threads in which runs live: a channel's history does not
// show what is said in them. Those of runs that have ended are read only if they
// were opened within the configured time before the bot went, and after the others.
func (b *backlog) addThreads(ctx context.Context, channels []*channelBacklog) error {
	names, err := b.cfg.Names.Values(ctx, threadPrefix+b.Team+":")
	if err != nil {
		return fmt.Errorf("the threads of the runs: %w", err)
	}
	live, err := b.live(ctx)
	if err != nil {
		return err
	}
	byID := map[string]*channelBacklog{}
	for _, c := range channels {
		byID[c.id] = c
	}
	var living, over []bot.Address
	for name, run := range names {
		a, err := bot.ParseAddress(strings.TrimPrefix(name, "thread/"))
		c := byID[a.Channel]
		switch {
		case err != nil || a.ID == "" || c == nil:
		case live[agent.RunID(run)]:
			living = append(living, a)
		case wire.TimeOf(a.ID).After(c.oldest.Add(-b.cfg.CatchUp)):
			over = append(over, a)
		}
	}
	newest := func(x, y bot.Address) int { return wire.TimeOf(y.ID).Compare(wire.TimeOf(x.ID)) }
	slices.SortFunc(living, newest)
	slices.SortFunc(over, newest)
	for _, a := range slices.Concat(b.stuck(channels), living, over) {
		if c := byID[a.Channel]; !slices.Contains(c.threads, a.ID) {
			c.threads = append(c.threads, a.ID)
		}
	}
	return nil
}

// stuck are the threads in which something could not be taken in.
func (b *backlog) stuck(channels []*channelBacklog) []bot.Address {
	var list []bot.Address
	for _, c := range channels {
		for _, lane := range b.in.Marks.Stuck(c.id) {
			if a, err := bot.ParseAddress(lane); err == nil && a.ID != "" && a.Channel == c.id {
				list = append(list, a)
			}
		}
	}
	return list
}

// live are the runs that have not ended, as far as that is known.
func (b *backlog) live(ctx context.Context) (map[agent.RunID]bool, error) {
	if b.cfg.Live == nil {
		return nil, nil //nolint:nilnil // none is known
	}
	runs, err := b.cfg.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("which runs are live: %w", err)
	}
	live := make(map[agent.RunID]bool, len(runs))
	for _, run := range runs {
		live[run] = true
	}
	return live, nil
}

// unreadable is nil for a channel or thread that cannot be read at all, which
// is no reason to leave out the others.
func (b *backlog) unreadable(c *channelBacklog, err error) error {
	switch code := api.CodeOf(err); code {
	case "channel_not_found", "not_in_channel", "missing_scope", "is_archived", "thread_not_found", "no_permission", "method_not_supported_for_channel_type":
		b.log.Warn("a channel cannot be read back and is left out", "channel", c.id, "error", code, "scope", api.NeededScope(err))
		return nil
	}
	return err
}
