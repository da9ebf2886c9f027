package discord

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// timely is how long a call may take: long enough on a busy machine for every
// answer that comes at once, and shorter than every pause that Discord asks for.
const timely = 3 * time.Second

func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault discordtest.Fault
		want  error
		busy  time.Duration
		there bool
	}{
		{"too many", discordtest.RateLimited(7 * time.Second), nil, 7 * time.Second, false},
		{"too many of all", discordtest.Fault{Status: 429, RetryAfter: 4 * time.Second, Global: true}, nil, 4 * time.Second, false},
		{"overloaded", discordtest.APIError(503, 130000), nil, api.BusyPause, false},
		{"slow mode", discordtest.APIError(400, 20016), nil, api.BusyPause, false},
		{"unavailable", discordtest.Unavailable(), bot.ErrLost, 0, false},
		{"bad gateway", discordtest.BadGateway(), bot.ErrLost, 0, false},
		{"lost answer", discordtest.LostAnswer(), bot.ErrLost, 0, true},
		{"lost request", discordtest.LostRequest(), bot.ErrLost, 0, false},
		{"late answer", discordtest.Fault{AnswerAfter: 2 * timely}, bot.ErrLost, 0, true},
		{"late acceptance", discordtest.Fault{AcceptAfter: 2 * timely}, bot.ErrLost, 0, true},
		{"no channel", discordtest.APIError(404, 10003), bot.ErrGone, 0, false},
		{"no access", discordtest.APIError(403, 50001), bot.ErrBarred, 0, false},
		{"no permission", discordtest.APIError(403, 50013), bot.ErrBarred, 0, false},
		{"archived and locked", discordtest.APIError(400, 50083), bot.ErrBarred, 0, false},
		{"locked", discordtest.APIError(403, 160005), bot.ErrBarred, 0, false},
		{"forbidden for an unknown reason", discordtest.APIError(403, 0), bot.ErrBarred, 0, false},
		{"bad token", discordtest.APIError(401, 0), bot.ErrRefused, 0, false},
		{"unverified", discordtest.APIError(403, 40002), bot.ErrRefused, 0, false},
		{"too large", discordtest.APIError(413, 40005), nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, d := shown(t, discordtest.Config{}, io.Discard)
			thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread
			card, since := drawtest.Cards()["report"], time.Now()
			calls := w.Count(discordtest.PostMessage)
			w.Fail(discordtest.PostMessage, 1, c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), timely)
			defer cancel()
			_, err := d.Post(ctx, thread, card)
			if c.name == "no channel" { // the thread may have to be opened: it is there, so it is tried once more
				if calls++; err == nil {
					err = bot.ErrGone
				}
			}
			checkTrouble(t, err, c.want, c.busy)
			if n := w.Count(discordtest.PostMessage) - calls; n != 1 {
				t.Errorf("%d calls", n)
			}
			if c.there {
				waitUntil(t, w, func() bool { return len(w.FromBot()) == 3 })
			}
			if c.fault.Status == http.StatusTooManyRequests || c.name == "no channel" {
				return // nothing at all is asked before the pause is over
			}
			if _, found, err := d.Find(t.Context(), thread, card.Key, since); found != c.there || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

func checkTrouble(t *testing.T, err, want error, pause time.Duration) {
	t.Helper()
	busy, isBusy := errors.AsType[*bot.BusyError](err)
	switch {
	case err == nil:
		t.Error("no error")
	case pause > 0 && (!isBusy || busy.After < pause || busy.After > pause+time.Second):
		t.Errorf("%v; want a pause of %s", err, pause)
	case pause == 0 && isBusy, want != nil && !errors.Is(err, want):
		t.Errorf("%v; want %v", err, want)
	}
	for _, other := range []error{bot.ErrGone, bot.ErrBarred, bot.ErrLost, bot.ErrRefused} {
		if other != want && errors.Is(err, other) { //nolint:errorlint // the sentinel itself
			t.Errorf("%v is %v, too", err, other)
		}
	}
}

func TestEditTrouble(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	c := drawtest.Cards()["card"]
	p := mustPost(t, d, general(""), c)
	for _, f := range []struct {
		fault discordtest.Fault
		want  error
		busy  time.Duration
	}{
		{discordtest.Unavailable(), bot.ErrLost, 0}, {discordtest.LostRequest(), bot.ErrLost, 0}, {discordtest.LostAnswer(), bot.ErrLost, 0},
		{discordtest.APIError(404, 10008), bot.ErrGone, 0}, {discordtest.APIError(403, 50005), bot.ErrGone, 0}, {discordtest.APIError(401, 0), bot.ErrRefused, 0},
		{discordtest.APIError(400, 30046), nil, api.LongPause}, {discordtest.RateLimited(30 * time.Second), nil, 30 * time.Second},
	} {
		w.Fail(discordtest.EditMessage, 1, f.fault)
		checkTrouble(t, d.Edit(t.Context(), p.Message, c), f.want, f.busy)
	}
	before := w.Count(discordtest.EditMessage)
	if err := d.Edit(t.Context(), p.Message, c); err == nil || w.Count(discordtest.EditMessage) != before {
		t.Errorf("an edit is sent while Discord wants none: %v", err)
	}
}

func TestReadsAreRepeated(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	c, since := drawtest.Cards()["card"], time.Now()
	p := mustPost(t, d, general(""), c)
	w.Fail(discordtest.ReadMessages, 1, discordtest.Unavailable())
	w.Fail(discordtest.ReadMessages, 1, discordtest.LostAnswer())
	if got, found, err := d.Find(t.Context(), general(""), c.Key, since); err != nil || !found || got != p {
		t.Errorf("found %+v, %v, %v", got, found, err)
	}
	w.Fail(discordtest.ReadMessages, api.ReadRepeats+1, discordtest.Unavailable())
	_, _, err := d.Find(t.Context(), general(""), c.Key, since)
	checkTrouble(t, err, bot.ErrLost, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if _, _, err := d.Find(ctx, general(""), c.Key, since); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("after its end: %v in %s", err, time.Since(began))
	}
}

func TestUnreachableDiscordDidNothing(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	w.Close()
	d.cfg.Client.CloseIdleConnections()
	_, err := d.Post(t.Context(), general("1"), drawtest.Cards()["card"])
	checkTrouble(t, err, nil, api.LostPause)
}

func TestPlacesThatAreGone(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	card := drawtest.Cards()["card"]
	p := mustPost(t, d, general(""), card)
	for name, to := range map[string]bot.Address{
		"no such message": general("110000000000009999"), "no such channel": api.Address(discordtest.Guild, "110000000000009998", ""),
		"no such thread of no such channel": api.Address(discordtest.Guild, "110000000000009998", "110000000000009999"), "no such conversation": api.Address("", "110000000000009997", ""),
	} {
		if _, err := d.Post(t.Context(), to, card); !errors.Is(err, bot.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := d.Find(t.Context(), to, card.Key, time.Now()); !errors.Is(err, bot.ErrGone) {
			t.Errorf("find in %s: %v", name, err)
		}
	}
	said := w.Say(discordtest.Ann, discordtest.General, "mine")
	if err := d.Edit(t.Context(), general(said), card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("an edit of somebody else's message: %v", err)
	}
	if err := w.DeleteMessage(p.Message.Channel, p.Message.ID); err != nil {
		t.Fatal(err)
	}
	if err := d.Edit(t.Context(), p.Message, card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("an edit of what was deleted: %v", err)
	}
	if err := w.DeleteChannel(p.Thread.ID); err != nil {
		t.Fatal(err)
	}
	card.Key.Name = "later"
	if _, err := d.Post(t.Context(), p.Thread, card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a post to a deleted thread: %v", err)
	}
	deny(t, w, discordtest.CreatePublicThread)
	if _, err := d.Post(t.Context(), general(w.Mention(discordtest.Ann, discordtest.General, "x")), card); !errors.Is(err, bot.ErrBarred) {
		t.Errorf("without the permission to open threads: %v", err)
	}
	deny(t, w, discordtest.ViewChannel)
	if _, err := d.Post(t.Context(), general(""), card); !errors.Is(err, bot.ErrBarred) {
		t.Errorf("without a look into the channel: %v", err)
	}
	if _, err := d.Direct(t.Context(), "slack:U1"); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a person of Slack: %v", err)
	}
	if _, err := d.Direct(t.Context(), "discord:120000000000009999"); !errors.Is(err, bot.ErrGone) {
		t.Errorf("nobody: %v", err)
	}
}

func TestArchivedThreads(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	card := drawtest.Cards()["card"]
	p := mustPost(t, d, general(""), card)
	archive := func(locked bool) {
		t.Helper()
		if err := w.ArchiveThread(p.Thread.ID, locked); err != nil {
			t.Fatal(err)
		}
	}
	archive(false)
	if err := d.Edit(t.Context(), p.Message, card); err != nil {
		t.Errorf("an edit in the archive: %v", err)
	}
	archive(false)
	mustPost(t, d, p.Thread, drawtest.Cards()["report"])
	if thread, _ := w.Channel(p.Thread.ID); thread.Archived {
		t.Error("a post leaves the thread in the archive")
	}
	deny(t, w, discordtest.ManageThreads)
	archive(true)
	if err := d.Edit(t.Context(), p.Message, card); !errors.Is(err, bot.ErrBarred) {
		t.Errorf("an edit in a locked thread: %v", err)
	}
	if _, err := d.Post(t.Context(), p.Thread, drawtest.Cards()["ask"]); !errors.Is(err, bot.ErrBarred) {
		t.Errorf("a post to a locked thread: %v", err)
	}
}

func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{Limits: discordtest.Limits{Global: 50}}, io.Discard)
	thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread
	ctx, cancel := context.WithTimeout(t.Context(), timely)
	defer cancel()
	posted := 0
	var err error
	for ; err == nil && posted < 20; posted++ {
		_, err = d.Post(ctx, thread, sampleCard("report", bot.Key{Run: "run-1", Name: strings.Repeat("x", posted+1), Kind: agent.PostReport}))
	}
	if _, busy := errors.AsType[*bot.BusyError](err); !busy {
		t.Errorf("%v; want a pause", err)
	}
	if posted != 5 || len(w.Limited()) != 0 {
		t.Errorf("%d attempts, refused %v", posted, w.Limited())
	}
}

func TestPaces(t *testing.T) {
	t.Parallel()
	_, d := shown(t, discordtest.Config{}, io.Discard)
	pace := agent.Pace{Every: 1200 * time.Millisecond, Burst: 4}
	for _, c := range []struct {
		to         bot.Address
		post, edit string
	}{
		{api.Address("1", "2", ""), "post/discord:1:2", "edit/discord:1:2"}, {api.Address("1", "2", "3"), "post/discord:1:3", "edit/discord:1:2"},
		{api.Address("", "2", "2"), "post/discord:@me:2", "edit/discord:@me:2"}, {api.Address("", "2", "9"), "post/discord:@me:2", "edit/discord:@me:2"},
	} {
		post, edit := d.Paces(c.to)
		want := pace
		if want.Name = c.post; post != want {
			t.Errorf("%s: post %+v", c.to, post)
		}
		if want.Name = c.edit; edit != want {
			t.Errorf("%s: edit %+v", c.to, edit)
		}
	}
}

func TestStatusLinkAndDirect(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread
	working := bot.Session{Status: bot.SessionWorking, Title: "count the files"}
	for _, s := range []bot.Session{working, {Status: bot.SessionAsking}, working, {Status: bot.SessionIdle}, {Status: bot.SessionOver}} {
		fades, err := d.ShowSession(t.Context(), thread, s, bot.Session{})
		if err != nil || (fades > 0) != (s == working) {
			t.Fatalf("%+v: %s, %v", s, fades, err)
		}
	}
	_, err := d.ShowSession(t.Context(), general(""), working, bot.Session{})
	if n := w.Typing(thread.ID); n != 2 || err != nil || w.Typing(discordtest.General) != 0 {
		t.Errorf("typed %d times, %v", n, err)
	}
	to, err := d.Direct(t.Context(), drawtest.Ann)
	if want := w.DMChannel(discordtest.Ann); err != nil || to != api.Address("", want, want) {
		t.Errorf("direct: %s, %v", to, err)
	}
	p := mustPost(t, d, to, drawtest.Cards()["ask"])
	if m := mustRead(t, w, p.Message); m.Channel != to.Channel || p.Thread != to || len(m.Pings.Users) != 1 {
		t.Errorf("direct: %+v, pings %+v", p, m.Pings)
	}
	for _, c := range []struct{ at, want string }{
		{"discord:1:2:3", "https://discord.com/channels/1/2/3"}, {"discord:1:2:", "https://discord.com/channels/1/2"},
		{"discord:@me:2:2", "https://discord.com/channels/@me/2"}, {"", ""},
	} {
		at, _ := bot.ParseAddress(c.at) // empty is no address
		if got := d.Link(at); got != c.want {
			t.Errorf("link to %q: %q", c.at, got)
		}
	}
}
