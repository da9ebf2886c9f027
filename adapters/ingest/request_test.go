package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func TestProofsAreForgottenInTime(t *testing.T) {
	v := &Proofs{}
	start := time.Now()
	for i := range 3 * maxProofs {
		_ = v.Use(strconv.Itoa(i), start, start)
	}
	if n := len(v.now) + len(v.old); n > 2*maxProofs {
		t.Errorf("%d proofs are kept", n)
	}
	v = &Proofs{}
	if v.Use("a", start, start) != nil || v.Use("a", start.Add(2*freshFor), start.Add(2*freshFor)) != ErrReplayed || //nolint:errorlint // the sentinel itself
		v.Use("a", start.Add(2*freshFor+time.Second), start.Add(2*freshFor+time.Second)) != ErrReplayed { //nolint:errorlint // as above
		t.Error("a proof was taken twice while it could be fresh")
	}
}

func TestProofsAreFreshAndGivenBack(t *testing.T) {
	t.Parallel()
	p, now := &Proofs{}, time.Now()
	for _, signed := range []time.Time{now.Add(-freshFor - time.Second), now.Add(freshFor + time.Second)} {
		if err := p.Use("a", signed, now); !errors.Is(err, ErrStale) {
			t.Errorf("signed %s from now: %v", signed.Sub(now), err)
		}
	}
	if err := p.Use("a", now, now); err != nil {
		t.Error(err)
	}
	p.Release("a")
	if err := p.Use("a", now, now); err != nil {
		t.Errorf("given back: %v", err)
	}
}

func TestDoor(t *testing.T) {
	t.Parallel()
	now := time.Now()
	stamp := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	for name, c := range map[string]struct {
		method, stamp, signature string
		body                     io.Reader
		status                   int
	}{
		"a body":       {http.MethodPost, stamp(now), "v0=1", strings.NewReader("x"), http.StatusOK},
		"another":      {http.MethodGet, stamp(now), "v0=1", strings.NewReader("x"), http.StatusMethodNotAllowed},
		"too large":    {http.MethodPost, stamp(now), "v0=1", strings.NewReader(strings.Repeat("x", maxRequest+1)), http.StatusRequestEntityTooLarge},
		"of any size":  {http.MethodPost, stamp(now), "v0=1", io.MultiReader(strings.NewReader(strings.Repeat("x", maxRequest+1))), http.StatusRequestEntityTooLarge},
		"broken off":   {http.MethodPost, stamp(now), "v0=1", iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest},
		"unsigned":     {http.MethodPost, stamp(now), "", iotest.ErrReader(errRead), http.StatusUnauthorized},
		"without time": {http.MethodPost, "", "v0=1", iotest.ErrReader(errRead), http.StatusUnauthorized},
		"no time":      {http.MethodPost, "now", "v0=1", iotest.ErrReader(errRead), http.StatusUnauthorized},
		"old":          {http.MethodPost, stamp(now.Add(-time.Hour)), "v0=1", iotest.ErrReader(errRead), http.StatusUnauthorized},
		"early":        {http.MethodPost, stamp(now.Add(time.Hour)), "v0=1", iotest.ErrReader(errRead), http.StatusUnauthorized},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(c.method, "/", c.body)
		r.Header.Set("X-Stamp", c.stamp)
		r.Header.Set("X-Signature", c.signature)
		body, ok := NewDoor("X-Stamp", "X-Signature").Read(w, r, now)
		if w.Code != c.status || ok != (c.status == http.StatusOK) || ok && string(body) != "x" {
			t.Errorf("%s: %d, %v, %q", name, w.Code, ok, body)
		}
	}
}

// errRead fails whoever reads what is to be refused unread.
var errRead = errors.New("the body was read")

// Large requests that never end keep little, and nobody else, waiting.
func TestDoorIsNotBlocked(t *testing.T) {
	t.Parallel()
	door := NewDoor("X-Stamp", "X-Signature")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := door.Read(w, r, time.Now()); ok {
			_, _ = fmt.Fprint(w, len(body))
		}
	}))
	defer s.Close()
	send := func(body io.Reader) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, body)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		r.Header.Set("X-Stamp", strconv.FormatInt(time.Now().Unix(), 10))
		r.Header.Set("X-Signature", "v0=1")
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
		}
		return resp.StatusCode, string(text)
	}
	var group sync.WaitGroup
	var ends []*io.PipeWriter
	for range maxLarge {
		out, in := io.Pipe()
		ends = append(ends, in)
		group.Go(func() {
			if status, text := send(out); status != http.StatusOK || text != strconv.Itoa(4*smallRequest) {
				t.Errorf("a large one: %d, %s", status, text)
			}
		})
		if _, err := in.Write(make([]byte, 4*smallRequest)); err != nil {
			t.Fatal(err)
		}
	}
	for len(door.large) < maxLarge {
		runtime.Gosched()
	}
	if status, _ := send(bytes.NewReader(make([]byte, 2*smallRequest))); status != http.StatusServiceUnavailable {
		t.Errorf("one more large one: %d", status)
	}
	if status, text := send(strings.NewReader("small")); status != http.StatusOK || text != "5" {
		t.Errorf("a small one beside them: %d, %s", status, text)
	}
	for _, in := range ends {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
}
