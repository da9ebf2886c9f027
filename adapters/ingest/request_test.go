package ingest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
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

func TestReadRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		body   io.Reader
		status int
	}{
		"a body":     {http.MethodPost, strings.NewReader("x"), http.StatusOK},
		"another":    {http.MethodGet, strings.NewReader("x"), http.StatusMethodNotAllowed},
		"too large":  {http.MethodPost, strings.NewReader(strings.Repeat("x", maxRequest+1)), http.StatusRequestEntityTooLarge},
		"broken off": {http.MethodPost, iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		body, ok := ReadRequest(w, httptest.NewRequest(c.method, "/", c.body))
		if w.Code != c.status || ok != (c.status == http.StatusOK) || ok && string(body) != "x" {
			t.Errorf("%s: %d, %v, %q", name, w.Code, ok, body)
		}
	}
}
