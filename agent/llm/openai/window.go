package openai

// How large a model's context window is, as far as the endpoint says it: in its
// list of models, or in a refusal.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// maxModels bounds what is read of an endpoint's list of models, in bytes.
const maxModels = 8 << 20

// served is a model in an endpoint's list, with the names that endpoints have for
// its context window: vLLM, OpenRouter, LM Studio, Groq, llama.cpp.
type served struct {
	ID      string `json:"id"`
	Max     int    `json:"max_model_len"`
	Context int    `json:"context_length"`
	Longest int    `json:"max_context_length"`
	Window  int    `json:"context_window"`
	Meta    struct {
		Trained int `json:"n_ctx_train"`
		Window  int `json:"n_ctx"`
	} `json:"meta"`
}

// window is the smallest size that is told, 0: none is.
func (m served) window() int {
	least := 0
	for _, n := range []int{m.Max, m.Context, m.Longest, m.Window, m.Meta.Window} {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if least == 0 {
		return max(0, m.Meta.Trained)
	}
	return least
}

// Window asks the endpoint for a model's context window, in tokens; 0: it lists
// the model and does not say.
func (c *Client) Window(ctx context.Context, model string) (int, error) {
	if c.bad != nil {
		return 0, c.bad
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.baseURL()+"/models", nil)
	if err != nil {
		return 0, err
	}
	req.Header = c.headers(llm.Request{})
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s lists no models: HTTP %d", c.host, resp.StatusCode)
	}
	var list struct {
		Data []served `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxModels)).Decode(&list); err != nil {
		return 0, fmt.Errorf("the list of models of %s cannot be read: %w", c.host, err)
	}
	for _, m := range list.Data {
		if m.ID == model {
			return m.window(), nil
		}
	}
	return 0, nil
}

// windowWords are how endpoints say how many tokens a request may have.
var windowWords = regexp.MustCompile(`(?:maximum context length(?: is| of)?|context (?:window|size|length)(?: is| of|:)?|maximum(?: of)?|limit(?: is| of)?|>) *\(?(\d[\d,]{2,11})(?: tokens|\)|$|[ ,.])`)

// windowIn is how many tokens a request may have by the words of a refusal, 0:
// they do not say.
func windowIn(text string) int {
	m := windowWords.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	if err != nil {
		return 0
	}
	return n
}
