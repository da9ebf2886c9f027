package request_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/request"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"))
}

func guard(t *testing.T, off bool, hosts ...string) *egress.Guard {
	t.Helper()
	g, err := egress.New(egress.Config{Hosts: hosts, AllowPrivate: hosts, Off: off, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// call prepares and runs a call, as the loop does.
func call(t *testing.T, tool agent.Tool, arguments string) (agent.Prepared, agent.Result) {
	t.Helper()
	c := agent.Call{Run: "r1", Effect: "e1", Arguments: json.RawMessage(arguments)}
	preparer, is := tool.(agent.Preparer)
	if !is {
		t.Fatal("it prepares nothing")
	}
	p, err := preparer.Prepare(t.Context(), c)
	if err != nil {
		return p, agent.Failed(err.Error())
	}
	return p, tool.Run(t.Context(), c)
}

func TestRequest(t *testing.T) {
	var mu sync.Mutex
	var noted []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		noted = append(noted, fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("X-Extra"), body))
		mu.Unlock()
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		case "/no":
			http.Error(w, "field text is missing, token-of-notes", http.StatusBadRequest)
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n\x00\x01\x02\x03\x04\x05\x06\x07")
		case "/cut":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"ok":true}`)
		}
	}))
	defer s.Close()
	here := strings.TrimPrefix(s.URL, "http://")
	sent := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(noted)
	}
	kept := ""
	tool := request.New(request.Config{
		Guard: guard(t, false, here, "other.example"), Version: "1",
		Credentials: map[string]request.Credentials{
			"notes": {Guard: guard(t, false, here), Bearer: "token-of-notes"}, "other": {Guard: guard(t, false, "other.example"), Bearer: "token-of-other"},
		},
		Save: func(_, name string, _ []byte) (string, error) { kept = name; return "received/" + name, nil },
	})
	for _, c := range []struct {
		arguments string
		class     agent.Class // empty: the tool's own
		state     agent.OutcomeState
		want      string
		sent      string // empty: nothing is
	}{
		{`{"url":"` + s.URL + `/a?x=1","query":{"y":2}}`, "", agent.OutcomeOK, "HTTP 200 OK\nContent-Type: application/json\n\n{\"ok\":true}", "GET /a?x=1&y=2   "},
		{`{"method":"POST","url":"` + s.URL + `/n","body":{"text":"hi"},"headers":{"X-Extra":"e"},"credentials":"notes"}`, agent.ClassSend, agent.OutcomeOK, `{"ok":true}`, `POST /n Bearer token-of-notes e {"text":"hi"}`},
		{`{"method":"DELETE","url":"` + s.URL + `/n/1"}`, agent.ClassSend, agent.OutcomeOK, "200", "DELETE /n/1   "},
		{`{"method":"PUT","url":"` + s.URL + `/n","body":"as it is"}`, agent.ClassSend, agent.OutcomeOK, "200", "PUT /n   as it is"},
		{`{"method":"POST","url":"` + s.URL + `/no","body":{},"credentials":"notes"}`, agent.ClassSend, agent.OutcomeError, "field text is missing, [secret]", "POST /no Bearer token-of-notes  {}"},
		{`{"url":"` + s.URL + `/away","credentials":"notes"}`, "", agent.OutcomeError, "Location: http://elsewhere.example/", "GET /away Bearer token-of-notes  "},
		{`{"url":"` + s.URL + `/picture"}`, "", agent.OutcomeOK, "saved as received/e1-picture", "GET /picture   "},
		{`{"method":"POST","url":"` + s.URL + `/cut"}`, agent.ClassSend, agent.OutcomeUnknown, "is not known", "POST /cut   "},
		{`{"url":"https://evil.example/"}`, "", agent.OutcomeError, "tools.http.hosts", ""},
		{`{"url":"http://169.254.169.254/"}`, "", agent.OutcomeError, "tools.http.hosts", ""},
		{`{"url":"ftp://` + here + `/"}`, "", agent.OutcomeError, "scheme", ""},
		{`{"url":"` + s.URL + `/","credentials":"other"}`, "", agent.OutcomeError, "are not for", ""},
		{`{"url":"` + s.URL + `/","credentials":"crm"}`, "", agent.OutcomeError, "there are: notes, other", ""},
		{`{"url":"` + s.URL + `/","headers":{"authorization":"Bearer x"}}`, "", agent.OutcomeError, "named by credentials", ""},
		{`{"url":"` + s.URL + `/","body":{}}`, "", agent.OutcomeError, "has no body", ""},
	} {
		before := len(sent())
		p, r := call(t, tool, c.arguments)
		seen := sent()
		if p.Class != c.class || r.State != c.state || !strings.Contains(r.Text, c.want) {
			t.Errorf("%s: class %q, %s %q, want %q %s %q", c.arguments, p.Class, r.State, r.Text, c.class, c.state, c.want)
		}
		if p.Hosts != nil && (p.Class == agent.ClassSend) != (p.Repeat == agent.RepeatOnce) {
			t.Errorf("%s: a repetition of it is %q", c.arguments, p.Repeat)
		}
		if c.sent == "" && len(seen) != before || c.sent != "" && (len(seen) != before+1 || seen[before] != c.sent) {
			t.Errorf("%s: sent %q, want %q", c.arguments, seen[before:], c.sent)
		}
		if strings.Contains(r.Text+p.Preview, "token-of") {
			t.Errorf("%s: it shows a token: %s %s", c.arguments, r.Text, p.Preview)
		}
	}
	if kept == "" {
		t.Error("the picture was not kept")
	}
	off := request.New(request.Config{Guard: guard(t, true)})
	if _, r := call(t, off, `{"url":"https://api.example.com/"}`); r.State != agent.OutcomeError || !strings.Contains(r.Text, "tools.internet") {
		t.Errorf("switched off: %+v", r)
	}
}

func TestPost(t *testing.T) {
	p, r := call(t, request.NewPost(request.Place{}), `{"text":"hello\nworld"}`)
	if r.State != agent.OutcomeOK || !strings.HasPrefix(r.Text, "dry run: nothing was posted") || !strings.Contains(p.Preview, "> hello\n> world") {
		t.Errorf("%+v %+v", p, r)
	}
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Header.Get("Authorization") + " " + string(body)
		if strings.Contains(got, "too long") {
			http.Error(w, "140 signs at most", http.StatusUnprocessableEntity)
			return
		}
		_, _ = io.WriteString(w, `{"id":7}`)
	}))
	defer s.Close()
	tool := request.NewPost(request.Place{URL: s.URL + "/posts", Field: "status", Credentials: request.Credentials{Bearer: "token-of-posts"}, Guard: guard(t, false, strings.TrimPrefix(s.URL, "http://"))})
	p, r = call(t, tool, `{"text":"hello"}`)
	if r.State != agent.OutcomeOK || !strings.Contains(r.Text, `{"id":7}`) || got != `Bearer token-of-posts {"status":"hello"}` || len(p.Hosts) != 1 {
		t.Errorf("%+v %+v %q", p, r, got)
	}
	if _, r = call(t, tool, `{"text":"too long"}`); r.State != agent.OutcomeError || !strings.Contains(r.Text, "140 signs") {
		t.Errorf("%+v", r)
	}
	if _, r = call(t, tool, `{"text":" "}`); r.State != agent.OutcomeError {
		t.Errorf("an empty text: %+v", r)
	}
}
