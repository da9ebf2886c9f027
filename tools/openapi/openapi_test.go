package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/openapi"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// shop is a document with parameters of all places and bodies of two kinds.
const shop = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: "%s/v1"}]
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getPet
      summary: Find a pet
      description: Finds one pet by its id.
      parameters:
        - {name: fields, in: query, schema: {type: array, items: {type: string, enum: [name, tag]}}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: filter, in: query, style: deepObject, explode: true, schema: {type: object, properties: {age: {type: integer}}}}
      responses:
        "200": {description: the pet, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
    put:
      operationId: updatePet
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"200": {description: ok}}
  /orders:
    post:
      summary: Place an order
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, required: [item], properties: {item: {type: string}, meta: {type: object, additionalProperties: {type: string}}}}}}}
      responses: {"201": {description: placed}}
  /photo:
    get: {operationId: getPhoto, responses: {"200": {description: a picture}}}
components:
  schemas:
    Pet:
      type: object
      required: [name, id]
      additionalProperties: false
      properties:
        id: {type: string, readOnly: true}
        name: {type: string, minLength: 1}
        tag: {type: string, nullable: true}
        age: {type: integer, minimum: 0, exclusiveMinimum: true}
        friend: {$ref: "#/components/schemas/Pet"}
`

// got is a request as the service saw it.
type got struct{ method, path, query, body, kind, authorization string }

// service answers by the path, and remembers what it was asked.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen []got
	// answer, when set, is the service's own.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, got{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("Content-Type"), r.Header.Get("Authorization")})
		s.mu.Unlock()
		if s.answer != nil && s.answer(w, r) {
			return
		}
		if r.URL.Path == "/v1/photo" {
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG…"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name":"Rex","token":"%s"}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) last() got {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return got{}
	}
	return s.seen[len(s.seen)-1]
}

func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// written is a document in a file.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// opened is a source of a document with its tools.
func opened(t *testing.T, c openapi.Config) (*openapi.Source, *tools.Box) {
	t.Helper()
	c.Name = "shop"
	s := openapi.New(c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, boxOf(t, s)
}

func boxOf(t *testing.T, s *openapi.Source) *tools.Box {
	t.Helper()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	box, err := tools.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// call makes a call as the loop does: checked first.
func call(t *testing.T, box *tools.Box, name, args string, repeat agent.Repeat) agent.Result {
	t.Helper()
	if err := box.Check(name, json.RawMessage(args)); err != nil {
		return agent.Failed("refused: " + err.Error())
	}
	tool, _ := box.Tool(name)
	ctx, cancel := context.WithTimeout(t.Context(), tool.Spec().Timeout)
	defer cancel()
	return tool.Run(ctx, agent.Call{Run: "run1", Effect: "task/a.1.0", Tool: name, Arguments: json.RawMessage(args), Repeat: repeat})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	dir := t.TempDir()
	_, box := opened(t, openapi.Config{Document: written(t, fmt.Sprintf(shop, s.URL)),
		Credentials: openapi.Credentials{Bearer: "t0ken-t0ken"}, Secrets: []string{"t0ken-t0ken"},
		Save: func(_, name string, data []byte) (string, error) {
			return name, os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}})
	for _, tt := range []struct {
		tool, args string
		want       got
	}{
		{"getPet", `{"id":"a/b?c","fields":["name","tag"],"filter":{"age":3},"X-Trace":"x\ny"}`, got{"GET", "/v1/pets/a%2Fb%3Fc", "fields=name&fields=tag&filter%5Bage%5D=3", "", "", "Bearer t0ken-t0ken"}},
		{"updatePet", `{"id":"7","body":{"name":"Rex","age":12345678901234567890,"tag":null,"friend":{"name":"Tom"}}}`,
			got{"PUT", "/v1/pets/7", "", `{"age":12345678901234567890,"friend":{"name":"Tom"},"name":"Rex","tag":null}`, "application/json", "Bearer t0ken-t0ken"}},
		{"post_orders", `{"body":{"item":"a ball","meta":{"for":"Rex & Tom"}}}`,
			got{"POST", "/v1/orders", "", "item=a+ball&meta%5Bfor%5D=Rex+%26+Tom", "application/x-www-form-urlencoded", "Bearer t0ken-t0ken"}},
	} {
		r := call(t, box, tt.tool, tt.args, "")
		if r.State != agent.OutcomeOK || r.Trust != agent.Untrusted || s.last() != tt.want {
			t.Errorf("%s: %+v\n got %+v\nwant %+v", tt.tool, r, s.last(), tt.want)
		}
		if strings.Contains(r.Text, "t0ken") || !strings.Contains(r.Text, "[secret]") {
			t.Errorf("%s shows a secret: %s", tt.tool, r.Text)
		}
	}
	if r := call(t, box, "getPhoto", `{}`, ""); len(r.Files) != 1 || !strings.HasSuffix(r.Files[0], ".png") {
		t.Errorf("a picture: %+v", r)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, box := opened(t, openapi.Config{Document: written(t, fmt.Sprintf(shop, s.URL))})
	for _, tt := range []struct{ tool, args, want string }{
		{"getPets", `{"id":"1"}`, "did you mean `getPet`"},
		{"getPet", `{"id":"1","field":["name"]}`, "did you mean `fields`"},
		{"getPet", `{}`, "id"},
		{"getPet", `{"id":"1","fields":["nam"]}`, "name"},
		{"getPet", `{"id":".."}`, "neither empty"},
		{"updatePet", `{"id":"1","body":{"name":"Rex","nme":"Rex"}}`, "nme"},
		{"updatePet", `{"id":"1","body":{"name":"Rex","age":0}}`, "age"},
		{"updatePet", `{"id":"1","body":{"name":"Rex","id":"2"}}`, "id"},
	} {
		if r := call(t, box, tt.tool, tt.args, ""); r.State != agent.OutcomeError || !strings.Contains(r.Text, tt.want) {
			t.Errorf("%s %s: %s, want %q", tt.tool, tt.args, r.Text, tt.want)
		}
	}
	if n := s.count(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestRepeating: what may be repeated is tried again, a send is not.
func TestRepeating(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var failing atomic.Int32
	s.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		if failing.Add(-1) < 0 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		http.Error(w, "too many", http.StatusTooManyRequests)
		return true
	}
	_, box := opened(t, openapi.Config{Document: written(t, fmt.Sprintf(shop, s.URL))})
	failing.Store(1)
	if r := call(t, box, "getPet", `{"id":"1"}`, agent.RepeatRead); r.State != agent.OutcomeOK || s.count() != 2 {
		t.Errorf("a read: %+v after %d requests", r, s.count())
	}
	failing.Store(1)
	r := call(t, box, "getPet", `{"id":"1"}`, agent.RepeatOnce)
	if r.State != agent.OutcomeError || s.count() != 3 || !strings.Contains(r.Text, "429") || !strings.Contains(r.Text, "call later") {
		t.Errorf("a send: %+v after %d requests", r, s.count())
	}
	s.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		return c.Close() == nil
	}
	if r := call(t, box, "updatePet", `{"id":"1","body":{"name":"Rex"}}`, agent.RepeatOnce); r.State != agent.OutcomeUnknown {
		t.Errorf("a send whose answer broke off: %+v", r)
	}
}

func TestNoRedirectElsewhere(t *testing.T) {
	t.Parallel()
	s, other := newService(t), newService(t)
	s.answer = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL+"/v1/pets/1", http.StatusTemporaryRedirect)
		return true
	}
	_, box := opened(t, openapi.Config{Document: written(t, fmt.Sprintf(shop, s.URL)), Credentials: openapi.Credentials{Bearer: "t0ken-t0ken"}})
	if r := call(t, box, "getPet", `{"id":"1"}`, ""); r.State != agent.OutcomeError || other.count() != 0 {
		t.Errorf("%+v, %d requests elsewhere", r, other.count())
	}
}

// changing is the shop's document before and after a parameter is renamed.
func changing(s *service) (before, after string) {
	before = fmt.Sprintf(shop, s.URL)
	return before, strings.ReplaceAll(before, "name: fields,", "name: columns,")
}

// TestAChangedFile: a renamed parameter counts from the next call on.
func TestAChangedFile(t *testing.T) {
	t.Parallel()
	s := newService(t)
	before, after := changing(s)
	file := written(t, before)
	source, box := opened(t, openapi.Config{Document: file})
	if r := call(t, box, "getPet", `{"id":"1","fields":["name"]}`, ""); r.State != agent.OutcomeOK {
		t.Fatalf("before: %+v", r)
	}
	if err := os.WriteFile(file, []byte(after+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := s.count()
	r := call(t, box, "getPet", `{"id":"1","fields":["name"]}`, "")
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "the document changed") || !strings.Contains(r.Text, "columns") || s.count() != n {
		t.Errorf("the old name after the change: %+v, %d requests", r, s.count()-n)
	}
	select {
	case <-source.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("nobody hears of the change")
	}
	if r := call(t, boxOf(t, source), "getPet", `{"id":"1","columns":["name"]}`, ""); r.State != agent.OutcomeOK || s.last().query != "columns=name" {
		t.Errorf("the new name: %+v, %+v", r, s.last())
	}
	if err := os.WriteFile(file, []byte("openapi: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := call(t, boxOf(t, source), "getPet", `{"id":"1","columns":["name"]}`, ""); r.State != agent.OutcomeOK {
		t.Errorf("a document that broke takes the last good one with it: %+v", r)
	}
}

// TestAChangedAddress: a renamed parameter counts soon at an address, too.
func TestAChangedAddress(t *testing.T) {
	t.Parallel()
	before, after := changing(newService(t))
	var text atomic.Pointer[string]
	text.Store(&before)
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := *text.Load()
		tag := fmt.Sprintf(`"%d"`, len(now))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, now)
	}))
	t.Cleanup(docs.Close)
	source, box := opened(t, openapi.Config{Document: docs.URL + "/api.yaml"})
	text.Store(&after)
	r := call(t, box, "getPet", `{"id":"1","fields":["name"]}`, "")
	for end := time.Now().Add(20 * time.Second); r.State == agent.OutcomeOK && time.Now().Before(end); {
		r = call(t, box, "getPet", `{"id":"1","fields":["name"]}`, "") // it is asked for anew after two seconds
	}
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "columns") {
		t.Errorf("the old name after the change: %+v", r)
	}
	if r := call(t, boxOf(t, source), "getPet", `{"id":"1","columns":["name"]}`, ""); r.State != agent.OutcomeOK {
		t.Errorf("the new name: %+v", r)
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	many := strings.Builder{}
	many.WriteString(`{"openapi":"3.1.0","servers":[{"url":"http://h"}],"paths":{`)
	for i := range 5001 {
		fmt.Fprintf(&many, `"/p%d":{"get":{}},`, i)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":      {"", "empty"},
		"no openapi": {"just: yaml", "only 3.x"},
		"swagger":    {"swagger: '2.0'", "Swagger 2.0"},
		"broken":     {"{", "cannot be read"},
		"no yaml":    {"a: [", "neither JSON nor YAML"},
		"no paths":   {"openapi: 3.0.0", "no operations"},
		"no server":  {"openapi: 3.0.0\npaths: {/a: {get: {}}}", "openapi.shop.server"},
		"no ref":     {"openapi: 3.0.0\nservers: [{url: 'http://h'}]\npaths: {/a: {get: {parameters: [{$ref: '#/components/parameters/x'}]}}}", "there is no #/components/parameters/x"},
		"elsewhere":  {"openapi: 3.0.0\nservers: [{url: 'http://h'}]\npaths: {/a: {get: {parameters: [{$ref: '/etc/passwd#/x'}]}}}", "bundle"},
		"circle":     {"openapi: 3.0.0\nservers: [{url: 'http://h'}]\npaths: {/a: {get: {parameters: [{$ref: '#/components/parameters/x'}]}}}\ncomponents: {parameters: {x: {$ref: '#/components/parameters/x'}}}", "circle"},
		"same name":  {"openapi: 3.0.0\nservers: [{url: 'http://h'}]\npaths: {/a: {get: {operationId: same}}, /b: {get: {operationId: same}, post: {operationId: same}}}", ""},
		"many":       {strings.TrimSuffix(many.String(), ",") + "}}", "more than 5000"},
		"a user":     {"openapi: 3.0.0\nservers: [{url: 'http://u:p@h'}]\npaths: {/a: {get: {}}}", "openapi.shop.server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openapi.New(openapi.Config{Name: "shop", Document: written(t, tt.text)})
			defer func() { _ = s.Close() }()
			list, err := s.Tools(t.Context())
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%d tools, %v, want %q", len(list), err, tt.want)
			}
		})
	}
}

// TestDocumentation holds that it says what a caller needs.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	_, box := opened(t, openapi.Config{Document: written(t, fmt.Sprintf(shop, "http://127.0.0.1:1"))})
	tool, _ := box.Tool("getPet")
	documented, is := tool.(interface {
		Documentation(ctx context.Context) string
	})
	if !is {
		t.Fatalf("%T has no documentation", tool)
	}
	text := documented.Documentation(t.Context())
	for _, want := range []string{"GET /pets/{id}", "Finds one pet", "- id (path, required)", "- fields (query)", "Answer 200: the pet", `"enum":["name","tag"]`} {
		if !strings.Contains(text, want) {
			t.Errorf("the documentation lacks %q:\n%s", want, text)
		}
	}
}
