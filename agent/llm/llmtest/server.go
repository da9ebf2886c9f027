package llmtest

// An endpoint that runs, for tests that want to know what it was asked.

import (
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Server is a running endpoint that remembers what it was asked.
type Server struct {
	// URL is the base URL for clients, with /v1.
	URL string

	http *httptest.Server
	mu   sync.Mutex
	got  []Request
}

// Start serves script on a local port until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := &Server{}
	s.http = httptest.NewServer(New(func(r Request) Reply {
		s.mu.Lock()
		s.got = append(s.got, r)
		s.mu.Unlock()
		return script(r)
	}))
	s.URL = s.http.URL + "/v1"
	t.Cleanup(s.Close)
	return s
}

// Requests returns the requests for an answer so far, in the order of arrival.
// Requests that were refused as malformed are not among them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// Close ends all connections and the server. It may be called again.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}
