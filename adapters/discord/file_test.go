package discord

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/post"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// attached lets Ann attach a file and returns it as the bot hears of it.
func attached(t *testing.T, w *discordtest.Server, name string, data []byte) agent.Attachment {
	t.Helper()
	id := w.Say(discordtest.Ann, discordtest.General, "look", discordtest.Upload{Name: name, Data: data})
	f := mustRead(t, w, general(id)).Files[0]
	return agent.Attachment{ID: f.ID, Name: f.Name, Size: int64(len(data)), URL: w.URL() + "/attachments/" + discordtest.General + "/" + f.ID + "/" + f.Name}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	data := bytes.Repeat([]byte("some data\n"), 1000)
	f := attached(t, w, "a.txt", data)
	unsaid, absent, odd, dead := f, f, f, f
	unsaid.Size = 0
	absent.URL = w.URL() + "/attachments/1/2/none"
	odd.URL = "file:///etc/passwd"
	dead.URL = "http://127.0.0.1:1/x"
	for _, c := range []struct {
		name  string
		file  agent.Attachment
		limit int64
		want  string // of the error, empty: none
	}{
		{"whole", f, 1 << 20, ""}, {"just fits", f, int64(len(data)), ""},
		{"too large", f, 9999, "more than 9999"}, {"larger than it said", unsaid, 9999, "more than 9999"},
		{"not there", absent, 1 << 20, "does not have it"}, {"no address", odd, 1 << 20, "no address"}, {"unreachable", dead, 1 << 20, "cannot be reached"},
	} {
		var got bytes.Buffer
		err := d.Fetch(t.Context(), c.file, c.limit, &got)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == "" && !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%s: %d bytes", c.name, got.Len())
		}
	}
	full := errors.New("disk full")
	if err := d.Fetch(t.Context(), f, 1<<20, failing{full}); !errors.Is(err, full) || errors.Is(err, bot.ErrLost) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

func TestUploadIsFoundAgain(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	since := time.Now()
	report := drawtest.Cards()["long"]
	thread := mustPost(t, d, general(""), report).Thread // it has the file report.md
	w.Say(discordtest.Ann, thread.ID, "mine", discordtest.Upload{Name: "b.txt", Data: []byte("x")})
	for _, to := range []bot.Address{thread, general("")} {
		for _, name := range []string{"report.md", "my words.txt", "größe.csv", "报告.pdf", ".env"} {
			if _, found, err := d.FindUpload(t.Context(), to, name, since); found || err != nil {
				t.Errorf("%s: found before: %v, %v", name, found, err)
			}
			p, err := d.Upload(t.Context(), to, bot.Upload{Name: name, Title: "A", Size: 3, Content: strings.NewReader("abc")})
			if err != nil {
				t.Fatal(err)
			}
			m := mustRead(t, w, p.Message)
			if m.Channel != api.ChannelOf(to) || len(m.Files) != 1 || string(m.Files[0].Data) != "abc" || m.Files[0].Description != "A" || m.Files[0].Name != post.FileName(name) {
				t.Errorf("%s: posted %+v", name, m)
			}
			got, found, err := d.FindUpload(t.Context(), to, name, since)
			if err != nil || !found || got != p {
				t.Errorf("%s: found %+v, %v, %v; want %+v", name, got, found, err, p)
			}
			if again, err := d.Upload(t.Context(), to, bot.Upload{Name: name, Size: 3, Content: strings.NewReader("abc")}); err != nil || again != p {
				t.Errorf("%s: uploaded again: %+v, %v", name, again, err)
			}
		}
		if _, found, _ := d.FindUpload(t.Context(), to, "b.txt", since); found {
			t.Error("found somebody else's file")
		}
	}
}

func TestACardsFileIsNoUpload(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		_, d := shown(t, discordtest.Config{RejectV2: plain}, io.Discard)
		since, c := time.Now(), drawtest.Cards()["long"]
		c.Parts = c.Parts[:2] // no buttons
		thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread
		mustPost(t, d, thread, c)
		if _, found, err := d.FindUpload(t.Context(), thread, "report.md", since); found || err != nil {
			t.Errorf("plain %v: found %v, %v", plain, found, err)
		}
	}
}

func TestUploadTrouble(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	upload := func() error {
		_, err := d.Upload(t.Context(), general(""), bot.Upload{Name: "a.txt", Size: 3, Content: strings.NewReader("abc")})
		return err
	}
	for _, c := range []struct {
		fault discordtest.Fault
		want  error
	}{
		{discordtest.LostAnswer(), bot.ErrLost}, {discordtest.Unavailable(), bot.ErrLost}, {discordtest.APIError(403, 50013), bot.ErrBarred}, {discordtest.APIError(401, 0), bot.ErrRefused}, {discordtest.APIError(413, 40005), nil},
	} {
		w.Fail(discordtest.PostMessage, 1, c.fault)
		checkTrouble(t, upload(), c.want, 0)
	}
	torn := errors.New("torn")
	for _, f := range []bot.Upload{
		{Name: "a.txt", Size: 3, Content: failing{torn}}, {Name: "a.txt", Size: d.Largest() + 1, Content: strings.NewReader("")},
		{Name: "a.txt", Size: 1, Content: bytes.NewReader(make([]byte, d.Largest()+1))},
	} {
		_, err := d.Upload(t.Context(), general(""), f)
		checkTrouble(t, err, nil, 0)
		if errors.Is(err, torn) != (f.Size == 3) {
			t.Errorf("%d bytes: %v", f.Size, err)
		}
	}
	if n := len(w.FromBot()); n != 1 {
		t.Errorf("%d files were posted", n)
	}
	if _, err := d.Upload(t.Context(), general(""), bot.Upload{Name: "max.bin", Size: d.Largest(), Content: bytes.NewReader(make([]byte, d.Largest()))}); err != nil {
		t.Errorf("the largest file: %v", err)
	}
}
