package slack

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// attached lets Ann attach a file and returns it as the bot hears of it.
func attached(t *testing.T, w *slacktest.Server, name string, data []byte) agent.Attachment {
	t.Helper()
	w.Say(slacktest.Ann, slacktest.General, "", "look", slacktest.Upload{Name: name, Data: data})
	f := w.Files()[len(w.Files())-1]
	return agent.Attachment{ID: f.ID, Name: f.Name, Size: int64(len(data)), URL: w.URL() + "/files/" + f.ID + "/" + f.Name}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	data := bytes.Repeat([]byte("some data\n"), 1000)
	f := attached(t, w, "a.txt", data)
	page := attached(t, w, "a.html", []byte("<!DOCTYPE html><html><body>mine</body></html>"))
	odd := attached(t, w, "a.txt", []byte("<!DOCTYPE html><html><body>mine</body></html>"))
	unsaid, noURL, absent := f, f, f
	unsaid.Size, noURL.URL = 0, ""
	absent.URL = w.URL() + "/files/F0/none"
	foreign := f
	foreign.URL = "https://files.example.org/a.txt"
	for _, c := range []struct {
		name  string
		file  agent.Attachment
		limit int64
		want  string // of the error, empty: none
	}{
		{"whole", f, 1 << 20, ""}, {"just fits", f, int64(len(data)), ""}, {"without an address", noURL, 1 << 20, ""},
		{"a page", page, 1 << 20, ""}, {"a page by another name", odd, 1 << 20, ""},
		{"too large", f, 9999, "more than 9999"}, {"larger than it said", unsaid, 9999, "more than 9999"},
		{"not there", absent, 1 << 20, "does not have it"}, {"elsewhere", foreign, 1 << 20, "token"},
	} {
		var got bytes.Buffer
		err := s.Fetch(t.Context(), c.file, c.limit, &got)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == "" && int64(got.Len()) != c.file.Size {
			t.Errorf("%s: %d bytes", c.name, got.Len())
		}
	}
	full := errors.New("disk full")
	if err := s.Fetch(t.Context(), f, 1<<20, failing{full}); !errors.Is(err, full) || errors.Is(err, bot.ErrLost) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Read([]byte) (int, error)  { return 0, f.err }

func TestFetchWithoutTheScope(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{Scopes: []string{"chat:write"}}, io.Discard)
	f := attached(t, w, "a.txt", []byte("secret"))
	if err := s.Fetch(t.Context(), f, 100, io.Discard); err == nil || !strings.Contains(err.Error(), "files:read") {
		t.Errorf("%v", err)
	}
}

func TestUploadIsFoundAgain(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	since := time.Now()
	parent := w.Say(slacktest.Ann, slacktest.General, "", "hello", slacktest.Upload{Name: "b.txt", Data: []byte("x")})
	for _, to := range []bot.Address{general(parent), general("")} {
		if _, found, err := s.FindUpload(t.Context(), to, "a.txt", since); found || err != nil {
			t.Errorf("found before: %v, %v", found, err)
		}
		p, err := s.Upload(t.Context(), to, bot.Upload{Name: "a.txt", Title: "A", Size: 3, Content: strings.NewReader("abc")})
		if err != nil {
			t.Fatal(err)
		}
		m := mustRead(t, w, p.Message)
		if m.ThreadTS != to.ID || len(m.Files) != 1 || string(m.Files[0].Data) != "abc" || m.Files[0].Title != "A" {
			t.Errorf("posted %+v", m)
		}
		got, found, err := s.FindUpload(t.Context(), to, "a.txt", since)
		if got.At.Before(since) {
			t.Errorf("posted at %v, before %v", got.At, since)
		}
		got.At = p.At // what is found says when it was posted
		if err != nil || !found || got != p {
			t.Errorf("found %+v, %v, %v; want %+v", got, found, err, p)
		}
		if _, found, _ := s.FindUpload(t.Context(), to, "b.txt", since); found {
			t.Error("found somebody else's file")
		}
	}
}

func TestUploadTrouble(t *testing.T) {
	t.Parallel()
	w, s := shown(t, slacktest.Config{}, io.Discard)
	upload := func() error {
		_, err := s.Upload(t.Context(), general(""), bot.Upload{Name: "a.txt", Size: 3, Content: strings.NewReader("abc")})
		return err
	}
	for _, method := range []string{"files.getUploadURLExternal", "upload"} {
		w.Fail(method, 1, slacktest.LostAnswer())
		err := upload()
		if busy, is := errors.AsType[*bot.BusyError](err); !is || busy.After != 2*time.Second {
			t.Errorf("%s lost: %v; want a pause", method, err)
		}
	}
	w.Fail("files.completeUploadExternal", 1, slacktest.LostAnswer())
	checkTrouble(t, upload(), bot.ErrLost, 0)
	w.Fail("files.completeUploadExternal", 1, slacktest.APIError("channel_not_found"))
	checkTrouble(t, upload(), bot.ErrBarred, 0)
	w.Fail("files.getUploadURLExternal", 1, slacktest.APIError("missing_scope"))
	checkTrouble(t, upload(), bot.ErrRefused, 0)
	torn := errors.New("torn")
	for _, f := range []bot.Upload{
		{Name: "a.txt", Size: 3, Content: failing{torn}}, {Name: "a.txt", Size: 0, Content: strings.NewReader("")},
		{Name: "a.txt", Size: s.Largest() + 1, Content: strings.NewReader("")},
	} {
		_, err := s.Upload(t.Context(), general(""), f)
		checkTrouble(t, err, nil, 0)
		if errors.Is(err, torn) != (f.Size == 3) {
			t.Errorf("%d bytes: %v", f.Size, err)
		}
	}
	if n := len(w.FromBot()); n != 1 {
		t.Errorf("%d files were posted", n)
	}
}
