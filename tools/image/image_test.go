package image_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/image"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestImage(t *testing.T) {
	var asked []string
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	mux.HandleFunc("/v1/images/generations", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Header.Get("Authorization")+" "+string(body))
		switch {
		case strings.Contains(string(body), "forbidden"):
			http.Error(w, `{"error":{"message":"against the rules"}}`, http.StatusBadRequest)
		case strings.Contains(string(body), "by address"):
			fmt.Fprintf(w, `{"data":[{"url":"%s/made.png"}]}`, s.URL)
		case strings.Contains(string(body), "text"):
			fmt.Fprintf(w, `{"data":[{"b64_json":"%s"}]}`, base64.StdEncoding.EncodeToString([]byte("words")))
		default:
			fmt.Fprintf(w, `{"data":[{"b64_json":"%s"}]}`, base64.StdEncoding.EncodeToString([]byte(png)))
		}
	})
	mux.HandleFunc("/made.png", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, png) })
	dir := t.TempDir()
	space, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	g, err := egress.New(egress.Config{AllowPrivate: []string{strings.TrimPrefix(s.URL, "http://")}, Bytes: image.MaxBytes})
	if err != nil {
		t.Fatal(err)
	}
	tool := image.New(image.Config{Workspace: space, Endpoint: s.URL + "/v1", Key: "k", Model: "dall-e-3", Size: "512x512", Guard: g})
	for _, c := range []struct {
		arguments, want string
		failed          bool
	}{
		{`{"prompt":"a boat","path":"art/boat.png"}`, "saved the picture as art/boat.png (image/png, 16 bytes)", false},
		{`{"prompt":"a boat"}`, "saved the picture as image-", false},
		{`{"prompt":"by address","size":"64x64","path":"b.png"}`, "saved the picture as b.png", false},
		{`{"prompt":"a boat","path":"art/boat.png"}`, "is there already", true},
		{`{"prompt":"forbidden","path":"c.png"}`, "against the rules", true},
		{`{"prompt":"text","path":"d.png"}`, "no picture but text/plain", true},
		{`{"prompt":"x","path":"../e.png"}`, "leads out", true},
	} {
		call := agent.Call{Run: "r1", Effect: "e1", Arguments: json.RawMessage(c.arguments)}
		preparer, is := tool.(agent.Preparer)
		if !is {
			t.Fatal("it prepares nothing")
		}
		var r agent.Result
		if _, err := preparer.Prepare(t.Context(), call); err != nil {
			r = agent.Failed(err.Error())
		} else {
			r = tool.Run(t.Context(), call)
		}
		if (r.State == agent.OutcomeError) != c.failed || !strings.Contains(r.Text, c.want) || !c.failed && len(r.Files) != 1 {
			t.Errorf("%s: %+v, want %q", c.arguments, r, c.want)
		}
	}
	if want := `Bearer k {"model":"dall-e-3","n":1,"prompt":"a boat","response_format":"b64_json","size":"512x512"}`; asked[0] != want || len(asked) != 5 {
		t.Errorf("asked %q", asked)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "art/boat.png")); err != nil || string(data) != png {
		t.Errorf("%q, %v", data, err)
	}
}
