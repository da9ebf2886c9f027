package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/post"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

func general(id string) bot.Address { return api.Address(discordtest.Guild, discordtest.General, id) }

func mustPost(t *testing.T, d *Discord, to bot.Address, c bot.Card) bot.Posted {
	t.Helper()
	p, err := d.Post(t.Context(), to, c)
	if err != nil {
		t.Fatalf("post %s to %s: %v", c.Key.Name, to, err)
	}
	return p
}

func mustRead(t *testing.T, w *discordtest.Server, at bot.Address) discordtest.Message {
	t.Helper()
	m, ok := w.Message(at.Channel, at.ID)
	if !ok || m.Deleted {
		t.Fatalf("no message at %s", at)
	}
	return m
}

// places are where a card may go: a thread that is yet to be opened at a
// message, one that is there, a channel, a forum and a direct conversation.
func places(t *testing.T, w *discordtest.Server, d *Discord) map[string]bot.Address {
	t.Helper()
	thread, err := w.StartThread(discordtest.Ann, discordtest.General, w.Say(discordtest.Ann, discordtest.General, "hello"), "a thread")
	if err != nil {
		t.Fatal(err)
	}
	direct, err := d.Direct(t.Context(), drawtest.Ann)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]bot.Address{
		"mention": general(w.Mention(discordtest.Ann, discordtest.General, "count")), "thread": general(thread), "channel": general(""),
		"forum": api.Address(discordtest.Guild, discordtest.Forum, ""), "direct": direct,
	}
}

func TestPostIsFoundAgain(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		w, d := shown(t, discordtest.Config{RejectV2: plain}, io.Discard)
		since := time.Now()
		for where, to := range places(t, w, d) {
			for name, c := range drawtest.Cards() {
				if where != "thread" && name != "ask" {
					continue // the client keeps Discord's pace: this many calls take their time
				}
				c.Key.Name = where + "/" + name
				what := fmt.Sprintf("%s to the %s, plain %v", name, where, plain)
				if _, found, err := d.Find(t.Context(), to, c.Key, since); found || err != nil && (where != "mention" || !errors.Is(err, bot.ErrGone)) {
					t.Errorf("%s: found before: %v, %v", what, found, err)
				}
				p := mustPost(t, d, to, c)
				if p.Thread.ID == "" || to.ID != "" && p.Thread != to || p.Message.Channel != api.ChannelOf(p.Thread) {
					t.Errorf("%s: %s in thread %s", what, p.Message, p.Thread)
				}
				m := mustRead(t, w, p.Message)
				if want := draw.Nonce(c.Key); m.Nonce != want && where != "forum" || (m.Flags&discordtest.FlagComponents == 0) != plain {
					t.Errorf("%s: nonce %q, flags %x", what, m.Nonce, m.Flags)
				}
				if got, found, err := d.Find(t.Context(), to, c.Key, since); err != nil || !found || got != p {
					t.Errorf("%s: found %+v, %v, %v; want %+v", what, got, found, err, p)
				}
				if err := d.Edit(t.Context(), p.Message, sampleCard("report", c.Key)); err != nil {
					t.Errorf("%s: edit: %v", what, err)
				}
				if got, found, err := d.Find(t.Context(), to, c.Key, since); err != nil || !found || got != p {
					t.Errorf("%s: after the edit found %+v, %v, %v", what, got, found, err)
				}
				if where == "forum" {
					continue
				}
				if again := mustPost(t, d, to, c); again != p {
					t.Errorf("%s: posted again at %+v, first at %+v", what, again, p)
				}
			}
			if _, found, err := d.Find(t.Context(), to, bot.Key{Run: "run-2", Name: "card"}, since); found || err != nil {
				t.Errorf("%s: found another run's post: %v, %v", where, found, err)
			}
		}
		if list := w.Unknown(); len(list) > 0 {
			t.Errorf("calls that Discord does not know: %v", list)
		}
	}
}

func sampleCard(name string, k bot.Key) bot.Card {
	c := drawtest.Cards()[name]
	c.Key = k
	return c
}

func TestThreadsAreOpenedWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	c := drawtest.Cards()["card"]
	c.Parts[0] = bot.Heading{Text: "Count for @everyone " + strings.Repeat("long ", 40) + bot.Mention(drawtest.Ann)}
	mention := w.Mention(discordtest.Ann, discordtest.General, "count")
	p := mustPost(t, d, general(mention), c)
	c.Key.Run = "run-2"
	q := mustPost(t, d, general(""), c)
	threads := w.Threads(discordtest.General)
	if len(threads) != 2 || threads[0].ID != mention || threads[1].ID != q.Thread.ID || p.Message.Channel != mention {
		t.Errorf("threads %+v", threads)
	}
	for _, thread := range threads {
		if n := draw.Width(thread.Name); n > draw.MaxThreadName || n < 50 || drawtest.Calls.MatchString(thread.Name) || thread.AutoArchive != post.ArchiveAfter {
			t.Errorf("a thread is called %q and archived after %d", thread.Name, thread.AutoArchive)
		}
	}
	if m := mustRead(t, w, general(q.Thread.ID)); !strings.Contains(string(m.Components), "Count for") || strings.Contains(string(m.Components), "pause") || !m.Pings.None() {
		t.Errorf("the headline is %s", m.Components)
	}
}

func TestAnEarlierAttemptIsContinued(t *testing.T) {
	t.Parallel()
	lost, never := discordtest.LostAnswer(), discordtest.LostRequest()
	for name, steps := range map[string][]struct {
		route string
		fault discordtest.Fault
	}{
		"headline arrived":     {{discordtest.PostMessage, lost}},
		"headline lost":        {{discordtest.PostMessage, never}},
		"thread opened":        {{discordtest.OpenThread, lost}},
		"thread not opened":    {{discordtest.OpenThread, never}},
		"thread limited":       {{discordtest.OpenThread, discordtest.RateLimited(time.Millisecond)}},
		"several":              {{discordtest.PostMessage, lost}, {discordtest.OpenThread, discordtest.Unavailable()}, {discordtest.PostMessage, discordtest.BadGateway()}},
		"everything is opened": {},
	} {
		for _, at := range []string{"channel", "mention"} {
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				w, d := shown(t, discordtest.Config{NonceLife: time.Nanosecond}, io.Discard)
				to, c, since := general(""), drawtest.Cards()["card"], time.Now()
				if at == "mention" {
					to = general(w.Mention(discordtest.Ann, discordtest.General, "count"))
				}
				for _, s := range steps {
					w.Fail(s.route, 1, s.fault)
				}
				p := insist(t, d, to, c, since)
				want := 2
				if at == "mention" {
					want = 1
				}
				if n := len(w.FromBot()); n != want || len(w.Threads(discordtest.General)) != 1 {
					t.Errorf("%d messages, threads %+v", n, w.Threads(discordtest.General))
				}
				if m := mustRead(t, w, p.Message); m.Channel != p.Thread.ID {
					t.Errorf("the card is in %s", m.Channel)
				}
			})
		}
	}
}

func TestReplicasPostOnce(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	other, err := New(t.Context(), Config{Token: w.Token, APIURL: w.URL() + "/api", Client: d.cfg.Client})
	if err != nil {
		t.Fatal(err)
	}
	places := make([]bot.Posted, 6)
	var all errgroup.Group
	for i := range places {
		side := d
		if i%2 == 0 {
			side = other
		}
		all.Go(func() (err error) {
			places[i], err = side.Post(t.Context(), general(""), drawtest.Cards()["card"])
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if p != places[0] {
			t.Errorf("one posted at %+v, another at %+v", places[0], p)
		}
	}
	if n := len(w.FromBot()); n != 2 || len(w.Threads(discordtest.General)) != 1 {
		t.Errorf("%d messages, threads %+v", n, w.Threads(discordtest.General))
	}
}

// insist posts as the voice does: it looks before it tries again.
func insist(t *testing.T, d *Discord, to bot.Address, c bot.Card, since time.Time) bot.Posted {
	t.Helper()
	for range 10 {
		p, err := d.Post(t.Context(), to, c)
		if err == nil {
			return p
		}
		if busy, is := errors.AsType[*bot.BusyError](err); is {
			if busy.After > time.Minute {
				t.Fatal(err)
			}
			continue
		}
		if !errors.Is(err, bot.ErrLost) {
			t.Fatal(err)
		}
		if p, found, err := d.Find(t.Context(), to, c.Key, since); found {
			return p
		} else if err != nil && !errors.Is(err, bot.ErrGone) {
			t.Fatal(err)
		}
	}
	t.Fatal("it never came through")
	return bot.Posted{}
}

func TestFindReadsManyPages(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	thread, err := w.StartThread(discordtest.Ann, discordtest.General, "", "talk")
	if err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	for range 250 {
		w.Say(discordtest.Ann, thread, "x")
	}
	c := drawtest.Cards()["report"]
	p := mustPost(t, d, general(thread), c)
	for range 120 {
		w.Say(discordtest.Ann, thread, "x")
	}
	if got, found, err := d.Find(t.Context(), general(thread), c.Key, since); err != nil || !found || got != p {
		t.Errorf("found %+v, %v, %v", got, found, err)
	}
	if _, found, err := d.Find(t.Context(), general(thread), c.Key, time.Now().Add(time.Hour)); found || err != nil {
		t.Errorf("found what was before: %v, %v", found, err)
	}
}

func TestLongCardsHaveAFile(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		w, d := shown(t, discordtest.Config{RejectV2: plain}, io.Discard)
		text := strings.Repeat("A paragraph of *some* words.\n\n", 300)
		c := bot.Card{Key: bot.Key{Run: "run-1", Name: "report", Kind: agent.PostReport}, Parts: []bot.Part{bot.Prose{Markdown: text}}}
		thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread
		p := mustPost(t, d, thread, c)
		for n := range 2 {
			m := mustRead(t, w, p.Message)
			if len(m.Files) != 1 || m.Files[0].Name != "report.md" || !strings.Contains(string(m.Files[0].Data), text) {
				t.Errorf("plain %v, edition %d: files %+v", plain, n, m.Files)
			}
			if !strings.Contains(string(m.Components)+string(m.Embeds), "the whole text is in the file report.md") {
				t.Errorf("plain %v: it does not say so", plain)
			}
			if err := d.Edit(t.Context(), p.Message, c); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Edit(t.Context(), p.Message, drawtest.Cards()["report"]); err != nil {
			t.Fatal(err)
		}
		if m := mustRead(t, w, p.Message); len(m.Files) != 0 {
			t.Errorf("a file stays: %+v", m.Files)
		}
		deny(t, w, discordtest.AttachFiles)
		c.Key.Name = "again"
		if m := mustRead(t, w, mustPost(t, d, thread, c).Message); len(m.Files) != 0 || !strings.Contains(string(m.Components)+string(m.Embeds), "… shortened") {
			t.Errorf("without permission: %+v, %s", m.Files, m.Components)
		}
	}
}

// deny takes permissions from the bot in the general channel.
func deny(t *testing.T, w *discordtest.Server, bits int64) {
	t.Helper()
	if err := w.Allow(discordtest.General, discordtest.Overwrite{ID: discordtest.BotUser, Type: 1, Deny: bits}); err != nil {
		t.Fatal(err)
	}
}

func TestOldPlacesGetEmbeds(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w, d := shown(t, discordtest.Config{RejectV2: true}, &log)
	to := general(w.Mention(discordtest.Ann, discordtest.General, "count"))
	for i, name := range []string{"card", "ask", "report"} {
		before := w.Count(discordtest.PostMessage)
		m := mustRead(t, w, mustPost(t, d, to, drawtest.Cards()[name]).Message)
		if n := w.Count(discordtest.PostMessage) - before; n != map[int]int{0: 3, 1: 1, 2: 1}[i] { // no thread, components, embed
			t.Errorf("%s took %d calls", name, n)
		}
		if len(m.Embeds) == 0 || name == "ask" && (len(m.Pings.Users) != 1 || len(m.Pings.Roles) != 1) {
			t.Errorf("%s: %s, pings %+v", name, m.Embeds, m.Pings)
		}
	}
	if n := strings.Count(log.String(), "cards are embeds from now on"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	w.RejectV2(false)
	fresh, err := New(t.Context(), Config{Token: w.Token, APIURL: w.URL() + "/api", Client: d.cfg.Client})
	if err != nil {
		t.Fatal(err)
	}
	p := mustPost(t, fresh, to, sampleCard("card", bot.Key{Run: "run-9", Name: "card", Kind: agent.PostCard}))
	if err := d.Edit(t.Context(), p.Message, drawtest.Cards()["report"]); err != nil {
		t.Errorf("a process that knows only embeds cannot edit components: %v", err)
	}
	if m := mustRead(t, w, p.Message); !strings.Contains(string(m.Components), "Done: 3 files") {
		t.Errorf("after the edit: %s", m.Components)
	}
}

func TestOnlyAPostNotifies(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	to := general(w.Mention(discordtest.Ann, discordtest.General, "count"))
	c := drawtest.Cards()["ask"]
	p := mustPost(t, d, to, c)
	if m := mustRead(t, w, p.Message); strings.Join(m.Pings.Users, " ") != discordtest.Ann || strings.Join(m.Pings.Roles, " ") != discordtest.Crew || m.Pings.Everyone {
		t.Errorf("it pings %+v", m.Pings)
	}
	c.Parts = append(c.Parts, bot.Small{Markdown: "Approved by " + bot.Mention(drawtest.Ben)})
	if err := d.Edit(t.Context(), p.Message, c); err != nil {
		t.Fatal(err)
	}
	if m := mustRead(t, w, p.Message); !strings.Contains(string(m.Components), "120000000000000002") || strings.Contains(string(m.Components), "120000000000000001") || strings.Contains(string(m.Components), "130000000000000001") {
		t.Errorf("after the edit: %s", m.Components)
	}
	for _, r := range w.Requests() {
		if strings.Contains(string(r.Body), `"components"`) && !strings.Contains(string(r.Body), `"allowed_mentions":{"parse":[]`) {
			t.Errorf("a call without allowed mentions: %s", r.Body)
		}
	}
}

func waitUntil(t *testing.T, w *discordtest.Server, until func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Wait(ctx, until); err != nil {
		t.Fatal(err)
	}
}
