package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw/drawtest"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// shown opens a workspace and the bot in it; what it logs goes to log.
func shown(t *testing.T, cfg slacktest.Config, log io.Writer) (*slacktest.Server, *Slack) {
	t.Helper()
	cfg.Limits.Off = true
	w := slacktest.New(cfg)
	t.Cleanup(w.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s, err := New(t.Context(), Config{
		BotToken: w.BotToken, AppToken: w.AppToken, APIURL: w.URL() + "/api/", Client: client,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, s
}

func general(ts string) bot.Address {
	return bot.Address{Platform: Platform, Workspace: slacktest.Team, Channel: slacktest.General, ID: ts}
}

func mustPost(t *testing.T, s *Slack, to bot.Address, c bot.Card) bot.Posted {
	t.Helper()
	p, err := s.Post(t.Context(), to, c)
	if err != nil {
		t.Fatalf("post %s: %v", c.Key.Name, err)
	}
	return p
}

func mustRead(t *testing.T, w *slacktest.Server, at bot.Address) slacktest.Message {
	t.Helper()
	m, ok := w.Message(at.Channel, at.ID)
	if !ok {
		t.Fatalf("no message at %s", at)
	}
	return m
}

func TestPostIsFoundAgain(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	since := time.Now()
	parent := w.Say(slacktest.Ann, slacktest.General, "", "hello")
	for _, to := range []bot.Address{general(parent), general("")} {
		for name, c := range drawtest.Cards() {
			c.Key.Name = name
			p := mustPost(t, s, to, c)
			if want := to.ID; want != "" && p.Thread.ID != want || want == "" && p.Thread != p.Message {
				t.Errorf("%s to %s: thread %s of %s", name, to, p.Thread, p.Message)
			}
			m := mustRead(t, w, p.Message)
			if m.Metadata == nil || m.Metadata.EventType != "deckhand_post" || string(m.Metadata.EventPayload) != `{"key":"`+name+`","kind":"`+string(c.Key.Kind)+`","run":"run-1"}` {
				t.Errorf("%s: metadata %+v", name, m.Metadata)
			}
			if m.Text == "" || len(m.Text) > 3000 {
				t.Errorf("%s: fallback text %q", name, m.Text)
			}
			got, found, err := s.Find(t.Context(), to, c.Key, since)
			if err != nil || !found || got != p {
				t.Errorf("%s: found %+v, %v, %v; want %+v", name, got, found, err, p)
			}
		}
		if _, found, err := s.Find(t.Context(), to, bot.Key{Run: "run-2", Name: "card"}, since); found || err != nil {
			t.Errorf("found another run's post: %v, %v", found, err)
		}
	}
	if got := s.Link(general("1.000002")); got != w.URL()+"/archives/C1/p1000002" {
		t.Errorf("link %q", got)
	}
}

func TestFindReadsManyPages(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	since := time.Now()
	p := mustPost(t, s, general(""), drawtest.Cards()["report"])
	for range 450 {
		w.Say(slacktest.Ann, slacktest.General, "", "x")
	}
	if got, found, err := s.Find(t.Context(), general(""), drawtest.Cards()["report"].Key, since); err != nil || !found || got != p {
		t.Errorf("found %+v, %v, %v", got, found, err)
	}
}

func TestEditNotifiesNobody(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	c := drawtest.Cards()["ask"]
	p := mustPost(t, s, general(""), c)
	first := mustRead(t, w, p.Message)
	first.Blocks = plainJSON(first.Blocks)
	if !strings.Contains(string(first.Blocks), "<@U1>") {
		t.Errorf("a post without its mention: %s", first.Blocks)
	}
	c.Parts = append(c.Parts, bot.Small{Markdown: "Approved by " + bot.Mention("slack:U2")})
	if err := s.Edit(t.Context(), p.Message, c); err != nil {
		t.Fatal(err)
	}
	m := mustRead(t, w, p.Message)
	blocks := string(plainJSON(m.Blocks))
	if strings.Contains(blocks+m.Text, "<@U1>") || !strings.Contains(blocks, "<@U2>") || m.Metadata == nil {
		t.Errorf("after the edit: %s, %+v", blocks, m.Metadata)
	}
	if !strings.Contains(strings.ToLower(string(first.Blocks)), "by ben\"") { // the name, not the id
		t.Errorf("a post does not name people: %s", first.Blocks)
	}
	for _, b := range blocksIDs(blocks) {
		if strings.Contains(string(first.Blocks), b) {
			t.Errorf("block id %s is used again", b)
		}
	}
}

// plainJSON is JSON with the signs that Go's encoder writes as numbers.
func plainJSON(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)))
}

func blocksIDs(blocks string) []string {
	var ids []string
	for _, part := range strings.Split(blocks, `"block_id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, `"`+id+`"`)
	}
	return ids
}

func TestOldWorkspacesGetOldBlocks(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w, s := shown(t, slacktest.Config{}, &log)
	w.RejectBlocks("markdown", "plan", "context_actions")
	for i, name := range []string{"report", "card", "report", "card", "report"} {
		before := w.Count("chat.postMessage")
		m := mustRead(t, w, mustPost(t, s, general(""), drawtest.Cards()[name]).Message)
		if calls := w.Count("chat.postMessage") - before; calls != map[bool]int{true: 2, false: 1}[i < 2] {
			t.Errorf("post %d took %d calls", i, calls)
		}
		if types := strings.Join(m.BlockTypes(), " "); strings.Contains(types, "markdown") || !strings.Contains(types, "actions") {
			t.Errorf("post %d has %s", i, types)
		}
	}
	for _, kind := range []string{"markdown", "plan", "context_actions"} {
		if n := strings.Count(log.String(), "block="+kind); n != 1 {
			t.Errorf("%s is logged %d times", kind, n)
		}
	}
	w.RejectBlocks("section", "header", "context", "actions", "markdown")
	c := drawtest.Cards()["ask"]
	p := mustPost(t, s, general(""), c)
	m := mustRead(t, w, p.Message)
	if len(m.BlockTypes()) != 0 || !strings.Contains(m.Text, "Answer here: Approve, Deny") || !strings.Contains(m.Text, "<@U1>") {
		t.Errorf("without blocks: %v %q", m.BlockTypes(), m.Text)
	}
	if err := s.Edit(t.Context(), p.Message, c); err != nil {
		t.Fatal(err)
	}
	if m := mustRead(t, w, p.Message); strings.Contains(m.Text, "<@U1>") {
		t.Errorf("an edit mentions: %q", m.Text)
	}
}

// timely is how long a call may take: long enough on a busy machine for every
// answer that comes at once, and shorter than every pause that Slack asks for.
const timely = 3 * time.Second

// hasty is how long a call may take whose answer is late: long enough for its
// request to arrive.
const hasty = time.Second

func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault slacktest.Fault
		want  error
		busy  time.Duration
		there bool
	}{
		{"too many", slacktest.RateLimited(7 * time.Second), nil, 7 * time.Second, false},
		{"too many, with 200", slacktest.APIError("ratelimited"), nil, 5 * time.Second, false},
		{"unavailable", slacktest.Unavailable(), bot.ErrLost, 0, false},
		{"lost answer", slacktest.LostAnswer(), bot.ErrLost, 0, true},
		{"lost request", slacktest.LostRequest(), bot.ErrLost, 0, false},
		{"late answer", slacktest.Fault{AnswerAfter: 2 * hasty}, bot.ErrLost, 0, true},
		{"late acceptance", slacktest.Fault{AcceptAfter: 2 * hasty}, bot.ErrLost, 0, true},
		{"fatal", slacktest.APIError("fatal_error"), bot.ErrLost, 0, false},
		{"archived", slacktest.APIError("is_archived"), bot.ErrBarred, 0, false},
		{"no channel", slacktest.APIError("channel_not_found"), bot.ErrBarred, 0, false},
		{"not a member", slacktest.APIError("not_in_channel"), bot.ErrBarred, 0, false},
		{"restricted", slacktest.APIError("restricted_action"), bot.ErrBarred, 0, false},
		{"no parent", slacktest.APIError("thread_not_found"), bot.ErrGone, 0, false},
		{"revoked", slacktest.APIError("token_revoked"), bot.ErrRefused, 0, false},
		{"bad token", slacktest.APIError("invalid_auth"), bot.ErrRefused, 0, false},
		{"inactive", slacktest.APIError("account_inactive"), bot.ErrRefused, 0, false},
		{"scope", slacktest.APIError("missing_scope"), bot.ErrRefused, 0, false},
		{"too long", slacktest.APIError("msg_too_long"), nil, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, s := shown(t, slacktest.Config{}, io.Discard)
			card := drawtest.Cards()["report"]
			since := time.Now()
			w.Fail("chat.postMessage", 1, c.fault)
			within := timely
			if c.fault.AnswerAfter+c.fault.AcceptAfter > 0 {
				within = hasty
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			_, err := s.Post(ctx, general(""), card)
			checkTrouble(t, err, c.want, c.busy)
			if err != nil && strings.Contains(err.Error(), "::") { // people read it
				t.Errorf("the address is not as people write it: %v", err)
			}
			if calls := w.Count("chat.postMessage"); calls != 1 {
				t.Errorf("%d calls", calls)
			}
			if c.there {
				await(t, w, func() bool { return len(w.FromBot()) == 1 })
			}
			if _, found, err := s.Find(t.Context(), general(""), card.Key, since); found != c.there || err != nil {
				t.Errorf("found %v, %v", found, err)
			}
			p := mustPost(t, s, general(""), card)
			w.Fail("chat.update", 1, c.fault)
			ctx, cancel = context.WithTimeout(t.Context(), within)
			defer cancel()
			checkTrouble(t, s.Edit(ctx, p.Message, card), c.want, c.busy)
		})
	}
}

func checkTrouble(t *testing.T, err, want error, pause time.Duration) {
	t.Helper()
	busy, isBusy := errors.AsType[*bot.BusyError](err)
	switch {
	case err == nil:
		t.Error("no error")
	case pause > 0 && (!isBusy || busy.After != pause):
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

func await(t *testing.T, w *slacktest.Server, until func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Wait(ctx, until); err != nil {
		t.Fatal(err)
	}
}

func TestUnreachableSlackDidNothing(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	w.Close()
	_, err := s.Post(t.Context(), general(""), drawtest.Cards()["card"])
	if _, busy := errors.AsType[*bot.BusyError](err); !busy {
		t.Errorf("%v; want a pause", err)
	}
}

func TestPlacesThatAreGone(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	card := drawtest.Cards()["card"]
	p := mustPost(t, s, general(""), card)
	parent := w.Say(slacktest.Ann, slacktest.General, "", "hello")
	if err := w.DeleteMessage(slacktest.General, parent); err != nil {
		t.Fatal(err)
	}
	before := len(w.FromBot())
	if _, err := s.Post(t.Context(), general(parent), card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a reply to what was deleted: %v", err)
	}
	if after := len(w.FromBot()); after != before {
		t.Errorf("a reply to what was deleted stays in the channel")
	}
	if _, _, err := s.Find(t.Context(), general(parent), card.Key, time.Now()); !errors.Is(err, bot.ErrGone) {
		t.Errorf("a search in what was deleted: %v", err)
	}
	if err := w.DeleteMessage(slacktest.General, p.Message.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Edit(t.Context(), p.Message, card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("an edit of what was deleted: %v", err)
	}
	if err := s.Edit(t.Context(), general(w.Say(slacktest.Ann, slacktest.General, "", "mine")), card); !errors.Is(err, bot.ErrGone) {
		t.Errorf("an edit of somebody else's message: %v", err)
	}
	w.AddChannel(slacktest.Channel{ID: slacktest.General, Name: "general", Archived: true, Members: []string{slacktest.BotUser}})
	if _, err := s.Post(t.Context(), general(""), card); !errors.Is(err, bot.ErrBarred) {
		t.Errorf("a post to an archived channel: %v", err)
	}
}

func TestMissingScopeIsNamed(t *testing.T) {
	t.Parallel()
	_, s := shown(t, slacktest.Config{Scopes: []string{"users:read"}}, io.Discard)
	_, err := s.Post(t.Context(), general(""), drawtest.Cards()["card"])
	if !errors.Is(err, bot.ErrRefused) || !strings.Contains(err.Error(), "chat:write") {
		t.Errorf("%v", err)
	}
}

func TestPaces(t *testing.T) {
	t.Parallel()
	_, s := shown(t, slacktest.Config{}, io.Discard)
	post, edit := s.Paces(general("1.2"))
	if post != (agent.Pace{Name: "post/slack:T1:C1", Every: time.Second, Burst: 3}) || edit != (agent.Pace{Name: "edit/slack:T1", Every: 1200 * time.Millisecond, Burst: 10}) {
		t.Errorf("%+v, %+v", post, edit)
	}
}

func TestLongReportsComeWithAFile(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	c := drawtest.Cards()["report"]
	c.Parts = append([]bot.Part{bot.Prose{Markdown: strings.Repeat("A long <!channel> report.\n\n", 3000) + "The end."}}, c.Parts...)
	p := mustPost(t, s, general(""), c)
	m := mustRead(t, w, p.Message)
	files := w.Files()
	if len(files) != 1 || files[0].Name != "report.md" || !strings.Contains(string(files[0].Data), "The end.") {
		t.Fatalf("files: %d", len(files))
	}
	if !strings.Contains(string(plainJSON(m.Blocks)), "… shortened; the whole text is in the file <"+w.URL()+"/files/"+files[0].ID) {
		t.Errorf("no link to the file: %s", m.Blocks)
	}
	if n := len(w.FromBot()); n != 1 {
		t.Errorf("%d messages", n)
	}
	if err := s.Edit(t.Context(), p.Message, c); err != nil || len(w.Files()) != 1 {
		t.Errorf("an edit: %v, %d files", err, len(w.Files()))
	}
	c.Final = true
	if err := s.Edit(t.Context(), p.Message, c); err != nil || len(w.Files()) != 2 {
		t.Errorf("the last edit: %v, %d files", err, len(w.Files()))
	}
	if m = mustRead(t, w, p.Message); !strings.Contains(string(plainJSON(m.Blocks)), w.URL()+"/files/"+w.Files()[1].ID) {
		t.Errorf("no link to the file in the last edit: %s", m.Blocks)
	}
	w.Fail("files.getUploadURLExternal", 1, slacktest.APIError("missing_scope"))
	m = mustRead(t, w, mustPost(t, s, general(""), c).Message)
	if !strings.Contains(string(m.Blocks), "… shortened") || strings.Contains(string(m.Blocks), "in the file") {
		t.Errorf("without a file: %s", m.Blocks)
	}
	w.Fail("files.getUploadURLExternal", 1, slacktest.RateLimited(3*time.Second))
	_, err := s.Post(t.Context(), general(""), c)
	checkTrouble(t, err, nil, 3*time.Second)
}

func TestAnyCardIsTaken(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	rapid.Check(t, func(rt *rapid.T) {
		c := anyCard(rt)
		w.RejectBlocks()
		if rapid.Bool().Draw(rt, "old") {
			w.RejectBlocks("markdown", "plan", "context_actions", "rich_text")
		}
		before := w.Count("chat.postMessage")
		p, err := s.Post(t.Context(), general(""), c)
		if err != nil {
			rt.Fatalf("post: %v", err)
		}
		if n := w.Count("chat.postMessage") - before; n > 2 {
			rt.Fatalf("it took %d calls", n)
		}
		m, _ := w.Message(slacktest.General, p.Message.ID)
		if len(m.BlockTypes()) == 0 && len(c.Parts) > 0 && len(draw.Card(c, draw.Drawing{Name: func(p string) string { return p }}).Blocks) > 0 {
			rt.Fatalf("it is shown without blocks")
		}
		if err := s.Edit(t.Context(), p.Message, c); err != nil {
			rt.Fatalf("edit: %v", err)
		}
	})
}

func anyText(rt *rapid.T, name string, most int) string {
	words := append([]string{"word", "\n\n", "\n", " ", "**", "```", "# ", "- ", "> ", "`", "😀", "ü", "[a](https://x.y/z)", "\\", "\"", "|", "&", bot.Mention("slack:U1")}, drawtest.Pings...)
	list := rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(rt, name)
	return strings.Repeat(strings.Join(list, " "), rapid.SampledFrom([]int{1, 1, 1, 2, most}).Draw(rt, name+" times"))
}

func anyCard(rt *rapid.T) bot.Card {
	c := bot.Card{Key: bot.Key{Run: "run-1", Name: "any", Kind: agent.PostReport}, Text: anyText(rt, "text", 100), Mentions: rapid.SliceOfN(rapid.SampledFrom([]string{"slack:U1", "slack:S1", "x"}), 0, 60).Draw(rt, "mentions")}
	parts := rapid.SampledFrom([]int{0, 1, 3, 8, 55}).Draw(rt, "parts")
	for range parts {
		c.Parts = append(c.Parts, anyPart(rt, parts > 8))
	}
	return c
}

// anyPart is a part that may be long in itself, or one of many small ones.
func anyPart(rt *rapid.T, small bool) bot.Part {
	text, counts := func(most int) string { return anyText(rt, "part", most) }, []int{0, 1, 3, 40}
	if small {
		text, counts = func(int) string { return anyText(rt, "part", 2) }, []int{0, 1, 3}
	}
	many := rapid.SampledFrom(counts).Draw(rt, "many")
	switch rapid.IntRange(0, 7).Draw(rt, "kind") {
	case 0:
		return bot.Heading{Text: text(10)}
	case 1:
		return bot.Prose{Markdown: text(60)}
	case 2:
		t := bot.Tasks{Title: text(10)}
		for range many {
			t.Items = append(t.Items, bot.TaskItem{ID: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "id"), Title: text(10), Note: text(10), After: []string{"a"},
				State: rapid.SampledFrom([]agent.TaskState{"", agent.TaskPending, agent.TaskRunning, agent.TaskDone, agent.TaskFailed, agent.TaskSkipped}).Draw(rt, "state")})
		}
		return t
	case 3:
		var f bot.Facts
		for range many {
			f.List = append(f.List, bot.Fact{Name: text(10), Value: text(10)})
		}
		return f
	case 4:
		return bot.Code{Text: text(60)}
	case 5:
		return bot.Small{Markdown: text(10)}
	case 6:
		var b bot.Buttons
		for range many {
			b.List = append(b.List, bot.Button{Label: text(5), Act: bot.ActDecide, ID: "c", Word: rapid.StringMatching(`[a-z]{0,3}`).Draw(rt, "word"), Style: bot.StyleDanger})
		}
		return b
	}
	return bot.Rating{Run: "run-1"}
}
