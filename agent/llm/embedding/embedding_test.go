package embedding_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent/llm/embedding"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endpoint answers with what the function says.
func endpoint(t *testing.T, answer http.HandlerFunc) *embedding.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	c := embedding.New(embedding.Config{BaseURL: s.URL + "/v1/", Key: " k \n", Model: "small", Timeout: 5 * time.Second})
	t.Cleanup(c.Close)
	return c
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		err := json.NewDecoder(r.Body).Decode(&asked)
		if err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k" || asked.Model != "small" || !slices.Equal(asked.Input, []string{"a", "b"}) {
			http.Error(w, fmt.Sprint(asked, err, r.URL, r.Header), http.StatusTeapot)
			return
		}
		fmt.Fprint(w, `{"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}`)
	})
	if v, err := c.Embed(t.Context(), []string{"a", "b"}); err != nil || len(v) != 2 || !slices.Equal(v[0], []float32{1, 0}) || !slices.Equal(v[1], []float32{0, 1}) {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := c.Embed(t.Context(), nil); v != nil || err != nil {
		t.Errorf("nothing: %v, %v", v, err)
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"too few":      `{"data": [{"index": 0, "embedding": [1]}]}`,
		"twice one":    `{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}`,
		"out of range": `{"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [1]}]}`,
		"empty":        `{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}`,
		"two widths":   `{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}`,
		"no data":      `{}`,
	} {
		c := endpoint(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		if v, err := c.Embed(t.Context(), []string{"a", "b"}); !errors.Is(err, embedding.ErrAnswer) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") },
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
	} {
		if v, err := endpoint(t, answer).Embed(t.Context(), []string{"a"}); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	slow := endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // only then it is noticed that nobody waits
			t.Error(err)
		}
		cancel()
		<-r.Context().Done()
	})
	if _, err := slow.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits no more: %v", err)
	}
}
