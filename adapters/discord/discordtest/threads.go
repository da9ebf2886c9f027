package discordtest

// This file implements the calls about threads: opening them, forum posts,
// members and lists. It refuses requests with Discord's own error codes, so
// that tests meet those errors before users do.

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

type threadBody struct {
	Name        *string `json:"name"`
	AutoArchive *int    `json:"auto_archive_duration"`
	Type        *int    `json:"type"`
}

func (b *threadBody) check() error {
	var f form
	name := ""
	if b.Name != nil {
		name = *b.Name
	}
	f.long(name, 1, 100, "name")
	if b.AutoArchive != nil && !slices.Contains([]int{60, 1440, 4320, 10080}, *b.AutoArchive) {
		f.wrong("BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080).", "auto_archive_duration")
	}
	return f.err()
}

// openThread starts a thread from a message, whose id it takes.
func openThread(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	m := s.message(ch.ID, c.path("message"))
	switch {
	case m == nil || m.For != "":
		return nil, unknownMessage()
	case ch.Type != TextChannel && ch.Type != NewsChannel:
		return nil, no(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	case !s.may(BotUser, ch, CreatePublicThread):
		return nil, missingPerms()
	case m.Flags&FlagHasThread != 0:
		return nil, no(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	case m.system():
		return nil, no(http.StatusForbidden, 50021, "Cannot execute action on a system message")
	}
	var b threadBody
	if err := c.read(&b); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	t := newThread(s, ch, m.ID, BotUser, *b.Name, PublicThread, b.AutoArchive)
	m.Flags |= FlagHasThread
	s.events.tellMessage("MESSAGE_UPDATE", m)
	s.post(&message{Message: Message{Channel: t.ID, Type: ThreadStarter, Author: BotUser}})
	return created{s.channelJSON(t)}, nil
}

// startThread starts one without a message; in a forum with its first.
func startThread(s *world, c *call) (any, error) {
	ch, err := s.visible(c.path("channel"))
	if err != nil {
		return nil, err
	}
	var b threadBody
	if err := c.read(&b); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	if ch.Type == ForumChannel {
		return newPost(s, c, ch, &b)
	}
	kind, bit := PrivateThread, int64(CreateSecretThread)
	if b.Type != nil {
		kind = *b.Type
	}
	if kind == PublicThread {
		bit = CreatePublicThread
	}
	switch {
	case kind != PublicThread && kind != PrivateThread:
		return nil, invalid("BASE_TYPE_CHOICES", "Value must be one of (10, 11, 12).", "type")
	case ch.Type != TextChannel && ch.Type != NewsChannel:
		return nil, no(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	case !s.may(BotUser, ch, bit):
		return nil, missingPerms()
	}
	t := newThread(s, ch, s.id(), BotUser, *b.Name, kind, b.AutoArchive)
	if kind == PublicThread {
		s.post(&message{Message: Message{Channel: ch.ID, Type: ThreadCreated, Author: BotUser, Content: t.Name, Flags: FlagHasThread}})
	}
	return created{s.channelJSON(t)}, nil
}

func newPost(s *world, c *call, ch *Channel, b *threadBody) (any, error) {
	if !s.may(BotUser, ch, SendMessages) {
		return nil, missingPerms()
	}
	var raw struct {
		Message rawJSON `json:"message"`
	}
	if err := c.read(&raw); err != nil {
		return nil, err
	}
	what, err := readContent(s, c, raw.Message.b, nil)
	if err != nil {
		return nil, err
	}
	if what.empty() {
		return nil, emptyMessage()
	}
	t := newThread(s, ch, s.id(), BotUser, *b.Name, PublicThread, b.AutoArchive)
	m := fill(s, t.ID, what)
	m.Pings = s.pings(m, what.Allowed)
	s.post(m)
	out := s.channelJSON(t)
	out["message"] = s.messageJSON(m, true)
	return created{out}, nil
}

// rawJSON is JSON that is decoded later.
type rawJSON struct{ b []byte }

// UnmarshalJSON keeps a copy.
func (r *rawJSON) UnmarshalJSON(b []byte) error {
	r.b = slices.Clone(b)
	return nil
}

// newThread opens a thread and tells the sessions; the lock is held.
func newThread(s *world, parent *Channel, id, owner, name string, kind int, archive *int) *Channel {
	t := &Channel{
		ID: id, Name: name, Type: kind, Guild: parent.Guild, Parent: parent.ID, Owner: owner,
		AutoArchive: 4320, Members: []string{owner}, changed: time.Now(),
	}
	if archive != nil {
		t.AutoArchive = *archive
	}
	s.channels = append(s.channels, t)
	if s.sees(BotUser, t) {
		data := s.channelJSON(t)
		data["newly_created"] = true
		s.events.tell(&event{kind: "THREAD_CREATE", intent: IntentGuilds, echo: owner == BotUser, data: data})
	}
	s.Change()
	return t
}

// join makes somebody a member of a thread; the lock is held.
func join(s *world, t *Channel, user string) {
	if !slices.Contains(t.Members, user) {
		t.Members = append(slices.Clone(t.Members), user)
		s.Change()
	}
}

// archive closes or opens a thread and tells the sessions; the lock is held.
func archive(s *world, t *Channel, archived, locked bool) {
	t.Archived, t.Locked, t.changed = archived, locked, time.Now()
	if s.sees(BotUser, t) {
		s.events.tell(&event{kind: "THREAD_UPDATE", intent: IntentGuilds, echo: true, data: s.channelJSON(t)})
	}
	s.Change()
}

// thread finds a thread that the bot may look into.
func thread(s *world, c *call) (*Channel, error) {
	t, err := s.visible(c.path("channel"))
	if err == nil && !t.Thread() {
		err = no(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	}
	return t, err
}

func who(c *call) string {
	if u := c.path("user"); u != "@me" {
		return u
	}
	return BotUser
}

func threadMembers(s *world, c *call) (any, error) {
	t, err := thread(s, c)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, u := range t.Members {
		out = append(out, s.threadMemberJSON(t, u))
	}
	return out, nil
}

func threadMember(s *world, c *call) (any, error) {
	t, err := thread(s, c)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Members, who(c)) {
		return nil, unknownMember()
	}
	return s.threadMemberJSON(t, who(c)), nil
}

func joinThread(s *world, c *call) (any, error) {
	t, err := thread(s, c)
	if err != nil {
		return nil, err
	}
	switch parent := s.channel(t.Parent); {
	case t.Archived:
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	case parent == nil || !s.sees(who(c), parent):
		return nil, unknownMember()
	case !s.may(BotUser, t, SendInThreads):
		return nil, missingPerms()
	}
	join(s, t, who(c))
	return nothing{}, nil
}

func leaveThread(s *world, c *call) (any, error) {
	t, err := thread(s, c)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Archived:
		return nil, no(http.StatusBadRequest, 50083, "Thread is archived")
	case who(c) != BotUser && !s.may(BotUser, t, ManageThreads):
		return nil, missingPerms()
	}
	t.Members = slices.DeleteFunc(slices.Clone(t.Members), func(u string) bool { return u == who(c) })
	s.Change()
	return nothing{}, nil
}

// listed is the answer to a list of threads.
func listed(s *world, list []*Channel) obj {
	threads, members := []obj{}, []obj{}
	for _, t := range list {
		threads = append(threads, s.channelJSON(t))
		if slices.Contains(t.Members, BotUser) {
			members = append(members, s.threadMemberJSON(t, BotUser))
		}
	}
	return obj{"threads": threads, "members": members}
}

// threadsWhere are the threads that are there, the newest first.
func threadsWhere(s *world, want func(*Channel) bool) (list []*Channel) {
	for _, t := range slices.Backward(s.channels) {
		if t.Thread() && !t.Deleted && want(t) {
			list = append(list, t)
		}
	}
	return list
}

func activeThreads(s *world, c *call) (any, error) {
	g, err := inside(s, c)
	if err != nil {
		return nil, err
	}
	return listed(s, threadsWhere(s, func(t *Channel) bool { return t.Guild == g.ID && !t.Archived && s.sees(BotUser, t) })), nil
}

// archivedThreads lists the archived threads of a kind: those first that were
// archived last, as far as the bot may read what was said. Private ones are for
// moderators, whether they are in them or not.
func archivedThreads(kind int) func(s *world, c *call) (any, error) {
	return func(s *world, c *call) (any, error) {
		ch, err := historic(s, c)
		if err != nil {
			return nil, err
		}
		if kind == PrivateThread && !s.may(BotUser, ch, ManageThreads) {
			return nil, missingPerms()
		}
		list := threadsWhere(s, func(t *Channel) bool { return t.Parent == ch.ID && t.Type == kind && t.Archived })
		slices.SortStableFunc(list, func(a, b *Channel) int { return b.changed.Compare(a.changed) })
		before, err := time.Parse(time.RFC3339Nano, c.query("before"))
		if c.query("before") != "" && err != nil {
			return nil, invalid("DATE_TIME_TYPE_PARSE", "Could not parse \""+c.query("before")+"\".", "before")
		}
		return c.pageOf(s, slices.DeleteFunc(list, func(t *Channel) bool { return !before.IsZero() && !t.changed.Truncate(time.Microsecond).Before(before) }))
	}
}

// joinedThreads lists the archived private threads that the bot is in, the
// newest first.
func joinedThreads(s *world, c *call) (any, error) {
	ch, err := historic(s, c)
	if err != nil {
		return nil, err
	}
	list := threadsWhere(s, func(t *Channel) bool {
		return t.Parent == ch.ID && t.Type == PrivateThread && t.Archived && slices.Contains(t.Members, BotUser) &&
			(c.query("before") == "" || older(t.ID, c.query("before")) < 0)
	})
	slices.SortStableFunc(list, func(a, b *Channel) int { return older(b.ID, a.ID) })
	return c.pageOf(s, list)
}

// historic is a channel that the bot may read what was said in.
func historic(s *world, c *call) (*Channel, error) {
	ch, err := s.visible(c.path("channel"))
	if err == nil && !s.may(BotUser, ch, ReadHistory) {
		err = missingPerms()
	}
	return ch, err
}

// pageOf is as many threads of a list as the call asks for.
func (c *call) pageOf(s *world, list []*Channel) (any, error) {
	limit := 50
	if n, err := strconv.Atoi(c.query("limit")); err == nil && n > 0 {
		limit = min(n, 100)
	}
	out := listed(s, list[:min(limit, len(list))])
	out["has_more"] = len(list) > limit
	return out, nil
}
