// Package embedding asks an OpenAI-compatible endpoint (/embeddings) for the
// vectors of texts. What it answers is checked before it counts.
package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Config describes the endpoint.
type Config struct {
	// BaseURL is the endpoint's base with its version. Empty: OpenAI's own.
	BaseURL string
	Key     string // bearer token; empty: none
	Model   string
	Timeout time.Duration // of one request; zero: 60 s
}

// Bounds of an answer.
const (
	maxAnswer = 64 << 20 // bytes
	maxWidth  = 8192     // numbers of a vector
	usualTime = 60 * time.Second
)

// ErrAnswer is wrapped by what is wrong with an answer.
var ErrAnswer = errors.New("the answer of the embedding endpoint cannot be used")

// Client gives texts their vectors. It may be used from many goroutines.
type Client struct {
	model   string
	timeout time.Duration
	api     *openai.Client
	http    *http.Client
}

// New makes a client; nothing is asked yet.
func New(c Config) *Client {
	if c.Timeout <= 0 {
		c.Timeout = usualTime
	}
	own := openai.DefaultConfig(strings.TrimSpace(c.Key))
	if c.BaseURL != "" {
		own.BaseURL = strings.TrimRight(c.BaseURL, "/")
	}
	client := &http.Client{Transport: bounded{&http.Transport{Proxy: http.ProxyFromEnvironment}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	own.HTTPClient = client
	return &Client{model: c.Model, timeout: c.Timeout, api: openai.NewClientWithConfig(own), http: client}
}

// bounded ends answers that are too long.
type bounded struct{ *http.Transport }

// RoundTrip asks.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

// Model is the model's name.
func (c *Client) Model() string { return c.model }

// Close releases the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Embed returns one vector for each text, all of one width.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r, err := c.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{Input: texts, Model: openai.EmbeddingModel(c.model), EncodingFormat: openai.EmbeddingEncodingFormatFloat})
	if err != nil {
		return nil, fmt.Errorf("ask for the vectors of %d texts by the model %s: %w", len(texts), c.model, err)
	}
	list, err := inOrder(r.Data, len(texts))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return list, nil
}

// inOrder are the vectors in the order of the texts.
func inOrder(data []openai.Embedding, texts int) ([][]float32, error) {
	if len(data) != texts {
		return nil, fmt.Errorf("%d vectors for %d texts", len(data), texts)
	}
	list := make([][]float32, texts)
	for _, d := range data {
		switch {
		case d.Index < 0 || d.Index >= texts || list[d.Index] != nil:
			return nil, fmt.Errorf("a vector for the text %d of %d", d.Index, texts)
		case len(d.Embedding) == 0 || len(d.Embedding) > maxWidth:
			return nil, fmt.Errorf("a vector of %d numbers", len(d.Embedding))
		case len(d.Embedding) != len(data[0].Embedding):
			return nil, fmt.Errorf("vectors of %d and of %d numbers", len(data[0].Embedding), len(d.Embedding))
		}
		for _, f := range d.Embedding {
			if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				return nil, errors.New("a vector with what is no number")
			}
		}
		list[d.Index] = d.Embedding
	}
	return list, nil
}
