package openai

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Endpoints say in their own words how long a request may be.
func TestWindowInRefusals(t *testing.T) {
	for words, want := range map[string]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.": 8192,
		"this model's maximum context length is 32,768 tokens, you asked for 40000":                           32768,
		"prompt is too long: 213462 tokens > 200000 maximum":                                                  200000,
		"The request exceeds the available context size (4096 tokens)":                                        4096,
		"request (8300 tokens) exceeds the available context size (8192 tokens), try increasing it":           8192,
		"Input token count exceeds the maximum of 131072":                                                     131072,
		"too many tokens": 0,
	} {
		if got := windowIn(strings.ToLower(words)); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}

// Endpoints have several names for a model's context window; many say nothing.
func TestWindowOfAModel(t *testing.T) {
	list := `{"object":"list","data":[
		{"id":"vllm","max_model_len":16384},{"id":"router","context_length":200000},{"id":"studio","max_context_length":32768,"loaded_context_length":4096},
		{"id":"groq","context_window":131072},{"id":"llama","meta":{"n_ctx_train":131072}},{"id":"llama-now","meta":{"n_ctx_train":131072,"n_ctx":8192}},{"id":"plain"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer key" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(list))
	}))
	defer s.Close()
	c := New(Config{BaseURL: s.URL + "/v1", Key: "key"})
	defer c.Close()
	for model, want := range map[string]int{"vllm": 16384, "router": 200000, "studio": 32768, "groq": 131072, "llama": 131072, "llama-now": 8192, "plain": 0, "none": 0} {
		if got, err := c.Window(t.Context(), model); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", model, got, err, want)
		}
	}
}
