package web

// This file asks search engines. Each is one row: what is sent, and where in the
// answer the results are.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
)

// Engine is a search engine. Kind is one of Kinds; URL is its address, empty: the
// engine's own; Key is sent with each question.
type Engine struct{ Kind, URL, Key string }

// Found is one result.
type Found struct{ Title, URL, Excerpt string }

// engine is how a kind of engine is asked.
type engine struct {
	url     string // of its service; empty: it must be configured
	request func(e Engine, at, query string, limit int) (*http.Request, error)
	results []string // where the results may stand in the answer
}

// engines are the kinds of engines.
var engines = map[string]engine{
	"searxng": {results: []string{"results"}, request: func(_ Engine, at, query string, _ int) (*http.Request, error) {
		u, err := url.Parse(strings.TrimSuffix(at, "/"))
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(u.Path, "/search") {
			u.Path += "/search"
		}
		return get(u, map[string]string{"q": query, "format": "json"})
	}},
	"brave": {url: "https://api.search.brave.com/res/v1/web/search", results: []string{"web.results"}, request: func(e Engine, at, query string, limit int) (*http.Request, error) {
		u, err := url.Parse(at)
		if err != nil {
			return nil, err
		}
		r, err := get(u, map[string]string{"q": query, "count": strconv.Itoa(limit)})
		if err == nil {
			r.Header.Set("X-Subscription-Token", e.Key)
		}
		return r, err
	}},
	"tavily": {url: "https://api.tavily.com/search", results: []string{"results"}, request: func(e Engine, at, query string, limit int) (*http.Request, error) {
		body, err := json.Marshal(map[string]any{"query": query, "max_results": limit})
		if err != nil {
			return nil, err
		}
		r, err := http.NewRequest(http.MethodPost, at, bytes.NewReader(body))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			bearer(r, e.Key)
		}
		return r, err
	}},
	"json": {results: []string{"results", "web.results", "items", "data", "hits", "organic", "organic_results", "value", "webPages.value", ""}, request: func(e Engine, at, query string, limit int) (*http.Request, error) {
		marked := strings.NewReplacer("{query}", url.QueryEscape(query), "{limit}", strconv.Itoa(limit)).Replace(at)
		u, err := url.Parse(marked)
		if err != nil {
			return nil, err
		}
		parameters := map[string]string{}
		if marked == at {
			parameters["q"] = query
		}
		r, err := get(u, parameters)
		if err == nil {
			bearer(r, e.Key)
		}
		return r, err
	}},
}

func bearer(r *http.Request, key string) {
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
}

func get(u *url.URL, parameters map[string]string) (*http.Request, error) {
	q := u.Query()
	for name, value := range parameters {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return http.NewRequest(http.MethodGet, u.String(), http.NoBody) //nolint:noctx // egress.Repeat gives it one
}

// Address is where the engine is asked, and whether it is known.
func (e Engine) Address() (string, bool) {
	at := e.URL
	if at == "" {
		at = engines[e.Kind].url
	}
	return at, at != ""
}

// ask asks the engine.
func (s searching) ask(ctx context.Context, query string, limit int) ([]Found, error) {
	if query == "" {
		return nil, errors.New("the query is empty")
	}
	kind, is := engines[s.engine.Kind]
	at, known := s.engine.Address()
	if !is || !known {
		return nil, fmt.Errorf("search.kind %q is not known, or search.url is missing", s.engine.Kind)
	}
	r, err := kind.request(s.engine, at, query, limit)
	if err != nil {
		return nil, fmt.Errorf("the engine's address cannot be used: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", s.name)
	resp, err := egress.Repeat(ctx, s.client, r)
	if err != nil {
		return nil, fmt.Errorf("the search engine %s is not reached: %w", r.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the search engine %s broke off: %w", r.URL.Host, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, refusal(r.URL.Host, resp.StatusCode, data)
	}
	return results(kind.results, data, limit)
}

// refusal says what a person has to mend.
func refusal(host string, code int, data []byte) error {
	advice := "try later"
	switch code {
	case http.StatusUnauthorized, http.StatusPaymentRequired:
		advice = "a person has to look at search.key_file"
	case http.StatusForbidden:
		advice = "a person has to look at search.key_file; SearXNG answers so where its settings.yml does not list json under search.formats"
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		advice = "use other words"
	}
	return fmt.Errorf("the search engine %s answers %d %s; %s. It says: %s", host, code, http.StatusText(code), advice,
		format.Visible(format.Line(strings.ToValidUTF8(string(data[:min(len(data), 2000)]), "�"), 300)))
}

// results are those of an answer: the first of the places that holds a list.
func results(places []string, data []byte, limit int) ([]Found, error) {
	var answer any
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, errors.New("the search engine does not answer in JSON; look at search.kind and search.url")
	}
	for _, place := range places {
		list, is := at(answer, place).([]any)
		if !is {
			continue
		}
		var found []Found
		for _, v := range list {
			m, is := v.(map[string]any)
			f := Found{Title: first(m, "title", "name"), URL: first(m, "url", "link", "href"), Excerpt: first(m, "content", "snippet", "description", "body", "text", "excerpt")}
			if is && f.URL != "" && len(found) < limit {
				found = append(found, f)
			}
		}
		return found, nil
	}
	if m, is := answer.(map[string]any); is && at(m, "type") == "search" { // Brave leaves "web" out where it found nothing
		return nil, nil
	}
	return nil, errors.New("the search engine's answer has no list of results; look at search.kind and search.url")
}

// at is the value at a place such as "web.results"; "" is the whole.
func at(v any, place string) any {
	if place == "" {
		return v
	}
	for key := range strings.SplitSeq(place, ".") {
		m, is := v.(map[string]any)
		if !is {
			return nil
		}
		v = m[key]
	}
	return v
}

// tags are the marks that engines put around what they found.
var tags = regexp.MustCompile(`</?[a-zA-Z][^>]*>`)

// first is the first text that there is under one of the keys.
func first(m map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, is := m[key].(string); is && s != "" {
			return html.UnescapeString(tags.ReplaceAllString(s, ""))
		}
	}
	return ""
}
