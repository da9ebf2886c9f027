package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	overlap      = time.Minute     // the time of the connection is saved now and then only
	batchFor     = 5 * time.Second // what was found in this time is heard in its order
	maxThreads   = 200
	maxPages     = 10
	pageSize     = 200
	allKinds     = "public_channel,private_channel,mpim,im"
	threadPrefix = "thread/" + Platform + ":"
)

// room is a channel that is caught up.
type readRoom struct {
	id, kind string // kind as events name it: channel, im, mpim
	oldest   time.Time
	threads  []string // roots of threads to look into
}

// catchUps reads back what was missed, each time that something is owed.
func (s *Slack) catchUps(ctx, late context.Context, hear bot.Hear) {
	s.in.missed.Run(ctx, ingest.CatchUp{
		Read:    func() error { return s.catchUp(ctx, late, hear) },
		Saved:   func() { s.saveMarks(ctx, s.connected()) },
		Backoff: s.in.times.pauses(), Failed: s.in.times.failed, Resent: true, Log: s.log,
	})
}

// catchUp reads every channel since it was read last, and hears what concerns
// the bot in the order in which it was said. Where nothing is known of earlier
// times, there is nothing to catch up.
func (s *Slack) catchUp(ctx, late context.Context, hear bot.Hear) error {
	began := time.Now()
	s.saveMarks(ctx, false)
	rooms, err := s.rooms(ctx)
	if err != nil || len(rooms) == 0 {
		return err
	}
	if err := s.openThreads(ctx, rooms); err != nil {
		return err
	}
	var found []*notice
	var read []*readRoom
	flush := func() error {
		if err := s.hearMissed(ctx, late, hear, began, found); err != nil {
			return err
		}
		for _, r := range read {
			s.in.marks.CaughtUp(r.id, began.UnixMicro())
		}
		found, read = nil, nil
		return nil
	}
	since := time.Now()
	for _, r := range rooms {
		list, err := s.readBack(ctx, r)
		if err != nil {
			return err
		}
		found, read = append(found, list...), append(read, r)
		if time.Since(since) > batchFor {
			if err := flush(); err != nil {
				return err
			}
			since = time.Now()
		}
	}
	return flush()
}

// rooms are the channels that the bot is in, with how far each was read. Where
// Slack does not list them, those are read that are known.
func (s *Slack) rooms(ctx context.Context) ([]*readRoom, error) {
	kept, err := s.in.marks.Load(ctx)
	if err != nil {
		return nil, err
	}
	unheard := s.in.marks.Unheard()
	if kept.Online == 0 && len(kept.Places) == 0 && len(unheard) == 0 {
		return nil, nil
	}
	kinds, err := s.listRooms(ctx)
	if err != nil {
		return nil, err
	}
	if kinds == nil {
		kinds = map[string]string{}
		for _, known := range []map[string]int64{kept.Places, unheard} {
			for id := range known {
				kinds[id] = kindOf(id, false, false)
			}
		}
	}
	rooms := make([]*readRoom, 0, len(kinds))
	for id, kind := range kinds {
		oldest := max(kept.Places[id], kept.Online-overlap.Microseconds())
		if at, failed := unheard[id]; failed && (oldest <= 0 || at < oldest) {
			oldest = at // another replica read on
		}
		if oldest > 0 {
			rooms = append(rooms, &readRoom{id: id, kind: kind, oldest: time.UnixMicro(oldest).UTC()})
		}
	}
	slices.SortFunc(rooms, func(a, b *readRoom) int { return cmp.Compare(a.id, b.id) })
	return rooms, nil
}

// listRooms asks which channels the bot is in, and of which kind; nil: Slack
// does not say.
func (s *Slack) listRooms(ctx context.Context) (map[string]string, error) {
	kinds := map[string]string{}
	params := slackapi.GetConversationsForUserParameters{Types: strings.Split(allKinds, ","), Limit: pageSize, ExcludeArchived: true}
	for {
		var channels []slackapi.Channel
		err := s.patiently(ctx, func() (err error) {
			channels, params.Cursor, err = s.api.GetConversationsForUserContext(ctx, &params)
			return err
		})
		switch code := codeOf(err); {
		case code == "missing_scope" || code == "unknown_method":
			s.once("Slack does not list the bot's channels: only those are caught up where it heard something", "error", code, "scope", neededScope(err))
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

// openThreads adds the threads in which runs live: a channel's history does not
// show what is said in them. Those of runs that have ended are read only if they
// were opened within the configured time before the bot went, and after the others.
func (s *Slack) openThreads(ctx context.Context, rooms []*readRoom) error {
	names, err := s.cfg.Names.Values(ctx, threadPrefix+s.team+":")
	if err != nil {
		return fmt.Errorf("the threads of the runs: %w", err)
	}
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	byID := map[string]*readRoom{}
	for _, r := range rooms {
		byID[r.id] = r
	}
	var living, over []bot.Address
	for name, run := range names {
		a, err := bot.ParseAddress(strings.TrimPrefix(name, "thread/"))
		r := byID[a.Channel]
		switch {
		case err != nil || a.ID == "" || r == nil:
		case live[agent.RunID(run)]:
			living = append(living, a)
		case timeOf(a.ID).After(r.oldest.Add(-s.cfg.CatchUp)):
			over = append(over, a)
		}
	}
	newest := func(a, b bot.Address) int { return timeOf(b.ID).Compare(timeOf(a.ID)) }
	slices.SortFunc(living, newest)
	slices.SortFunc(over, newest)
	threads := slices.Concat(living, over)
	if len(threads) > maxThreads {
		s.log.Warn("too many threads to read back: the older ones are left out", "threads", len(threads), "read", maxThreads)
		threads = threads[:maxThreads]
	}
	for _, a := range threads {
		byID[a.Channel].threads = append(byID[a.Channel].threads, a.ID)
	}
	return nil
}

// live are the runs that have not ended, as far as that is known.
func (s *Slack) live(ctx context.Context) (map[agent.RunID]bool, error) {
	if s.cfg.Live == nil {
		return nil, nil //nolint:nilnil // none is known
	}
	runs, err := s.cfg.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("which runs are live: %w", err)
	}
	live := make(map[agent.RunID]bool, len(runs))
	for _, run := range runs {
		live[run] = true
	}
	return live, nil
}

// readBack is what was said in a channel and its threads.
func (s *Slack) readBack(ctx context.Context, r *readRoom) ([]*notice, error) {
	var list []*notice
	keep := func(m slackapi.Message) {
		if m.ReplyCount > 0 && m.ThreadTimestamp == m.Timestamp && !slices.Contains(r.threads, m.Timestamp) {
			r.threads = append(r.threads, m.Timestamp)
		}
		n, err := s.noticed(event{message: messageOf(m), Type: "message", Channel: r.id, ChannelType: r.kind})
		if err == nil && n != nil && n.heard() && n.in.At.After(r.oldest) {
			list = append(list, n)
		}
	}
	if err := s.history(ctx, r, keep); err != nil {
		return list, s.unreadable(r, err)
	}
	for _, root := range r.threads {
		if err := s.replies(ctx, r, root, keep); err != nil && s.unreadable(r, err) != nil {
			return list, err
		}
	}
	return list, nil
}

// unreadable is nil for a channel or thread that cannot be read at all, which
// is no reason to leave out the others.
func (s *Slack) unreadable(r *readRoom, err error) error {
	switch code := codeOf(err); code {
	case "channel_not_found", "not_in_channel", "missing_scope", "is_archived", "thread_not_found", "no_permission", "method_not_supported_for_channel_type":
		s.log.Warn("a channel cannot be read back and is left out", "channel", r.id, "error", code, "scope", neededScope(err))
		return nil
	}
	return err
}

func (s *Slack) history(ctx context.Context, r *readRoom, keep func(slackapi.Message)) error {
	params := slackapi.GetConversationHistoryParameters{ChannelID: r.id, Oldest: stampOf(r.oldest), Limit: pageSize}
	for range maxPages {
		var page *slackapi.GetConversationHistoryResponse
		err := s.patiently(ctx, func() (err error) {
			page, err = s.api.GetConversationHistoryContext(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			keep(m)
		}
		if params.Cursor = page.ResponseMetaData.NextCursor; params.Cursor == "" || !page.HasMore {
			return nil
		}
	}
	s.log.Warn("too much was said to read it all back: the oldest is left out", "channel", r.id, "read", maxPages*pageSize)
	return nil
}

func (s *Slack) replies(ctx context.Context, r *readRoom, root string, keep func(slackapi.Message)) error {
	params := slackapi.GetConversationRepliesParameters{ChannelID: r.id, Timestamp: root, Oldest: stampOf(r.oldest), Limit: pageSize}
	for range maxPages {
		var list []slackapi.Message
		more, next := false, ""
		err := s.patiently(ctx, func() (err error) {
			list, more, next, err = s.api.GetConversationRepliesContext(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.Timestamp != root { // the history has it
				keep(m)
			}
		}
		if params.Cursor = next; next == "" || !more {
			return nil
		}
	}
	s.log.Warn("too much was said in a thread to read it all back", "channel", r.id, "thread", root, "read", maxPages*pageSize)
	return nil
}

// hearMissed hears what was found, in the order in which it was said. What was
// said since the bot is back is not missed: it only came another way.
func (s *Slack) hearMissed(ctx, late context.Context, hear bot.Hear, began time.Time, found []*notice) error {
	slices.SortStableFunc(found, func(a, b *notice) int { return a.in.At.Compare(b.in.At) })
	found = slices.CompactFunc(found, func(a, b *notice) bool { return a.in.Message == b.in.Message })
	for _, n := range found {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.again = true
		n.in.Missed = n.in.At.Before(began)
		answer, err := s.tell(late, hear, n)
		if err != nil {
			return fmt.Errorf("write down what was said at %s: %w", n.in.Message, err)
		}
		s.answer(late, n, answer)
	}
	return nil
}

// messageOf is a message of the library in our terms.
func messageOf(m slackapi.Message) message {
	own := message{Subtype: m.SubType, User: m.User, BotID: m.BotID, Username: m.Username, Text: m.Text, TS: m.Timestamp, ThreadTS: m.ThreadTimestamp}
	for i := range m.Files {
		f := &m.Files[i]
		own.Files = append(own.Files, file{ID: f.ID, Name: f.Name, Title: f.Title, Mode: f.Mode, Size: float64(f.Size), URL: f.URLPrivate, Download: f.URLPrivateDownload})
	}
	return own
}
