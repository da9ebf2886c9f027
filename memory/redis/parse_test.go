package redis

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestFitsWantsVersion7(t *testing.T) {
	for version, ok := range map[string]bool{"6.2.14": false, "7.0.0": true, "7.4.1": true, "8.2.0": true, "10.0.0": true, "": false, "seven": false} {
		err := server{address: "there"}.fits(map[string]string{"redis_version": version, "role": "master", "cluster_enabled": "0"})
		if ok && err != nil || !ok && (!errors.Is(err, ErrServer) || !strings.Contains(err.Error(), "7.0 or later")) {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// TestShardsStay pins the hash: another one would lose every run.
func TestShardsStay(t *testing.T) {
	k := newKeys(16, false)
	for run, want := range map[agent.RunID]string{
		"": "deckhand:{5}:run:", "abcdefghijklmnop": "deckhand:{5}:run:abcdefghijklmnop", "run-1": "deckhand:{12}:run:run-1",
	} {
		if got := k.run(run); got != want {
			t.Errorf("key of run %q is %s, want %s", run, got, want)
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	tail, err := entryTail(agent.Event{Strand: "task/a\"b", Body: agent.PersonSaid{By: "x", Text: "y\u2028<>"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"seq":1,"at":1763712345123456` + tail)
	f.Add(`{"seq":2,"at":1}`)
	f.Add(`{"seq":1,"at":1,"strand":"main","kind":"person.said","v":2,"body":{}}`)
	f.Add(`{"seq":1,"kind":"person.said","v":1,"BodY":{}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := decodeEntry("run", 1, line)
		if err != nil {
			if !errors.Is(err, agent.ErrDamaged) && !errors.Is(err, agent.ErrNewer) {
				t.Fatalf("%q: %v is neither damage nor a newer build's", line, err)
			}
			return
		}
		tail, err := entryTail(e)
		if err != nil {
			t.Fatalf("%q was read as %+v, which cannot be written: %v", line, e, err)
		}
		again, err := decodeEntry("run", 1, `{"seq":1,"at":`+strconv.FormatInt(e.At.UnixMicro(), 10)+tail)
		if err != nil || again.Strand != e.Strand || again.Body.Kind() != e.Body.Kind() || !again.At.Equal(e.At) {
			t.Fatalf("%q was read as %+v and then as %+v, %v", line, e, again, err)
		}
	})
}

func FuzzConnect(f *testing.F) {
	for _, url := range []string{"redis://u:secret@h:1/2", "rediss+sentinel://h?master_name=m&addr=i:2", "redis+cluster://h:1?addr=i:2", "redis+://h", "://", "redis://[::1]:7"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		srv, err := connect(url)
		if err != nil {
			if !errors.Is(err, ErrURL) || err.Error() != ErrURL.Error() {
				t.Fatalf("%q: %v", url, err)
			}
			return
		}
		if srv.address == "" {
			t.Fatalf("%q: no address", url)
		}
		if err := srv.client.Close(); err != nil {
			t.Fatalf("%q: close: %v", url, err)
		}
	})
}

func TestDamagedNames(t *testing.T) {
	for _, entry := range []string{"", "n", "nname", "vvalue\x00name"} {
		if name, value, err := nameEntry(entry); !errors.Is(err, agent.ErrDamaged) {
			t.Errorf("entry %q: %q, %q, %v; want damage", entry, name, value, err)
		}
	}
}

func TestRepliesThatNoScriptGives(t *testing.T) {
	for _, reply := range []any{nil, "ok", []any{}, []any{"ok"}, []any{"ok", "1", int64(2)}, []any{"budget", int64(3)}, []any{"budget", int64(-1)}, []any{"what"}} {
		if r, err := receipt(reply, packed{}); !errors.Is(err, errReply) {
			t.Errorf("receipt from %v: %+v, %v", reply, r, err)
		}
	}
	for _, reply := range []any{
		nil, []any{}, []any{int64(1)}, []any{int64(1), "2"}, []any{int64(1), int64(2), "run"}, []any{int64(1), int64(2), "run", "main", int64(1), "0", "7 9"},
		[]any{int64(1), int64(2), "run", "main", int64(1), int64(0)}, []any{int64(1), int64(2), "run", "main", int64(1), int64(0), int64(7)},
	} {
		if l, _, err := claimed(reply); !errors.Is(err, errReply) {
			t.Errorf("leases from %v: %+v, %v", reply, l, err)
		}
	}
	leases, next, err := claimed([]any{int64(5), int64(1500), "run", "main", int64(3), int64(2), "7 9"})
	want := agent.Lease{Run: "run", Strand: "main", Epoch: 3, Turn: 2, At: time.UnixMicro(5).UTC(), Head: agent.Receipt{Seq: 7, At: time.UnixMicro(9).UTC()}}
	if err != nil || len(leases) != 1 || leases[0] != want || next != 1500*time.Microsecond {
		t.Errorf("leases %+v, %s, %v; want %+v", leases, next, err, want)
	}
}
