package kubernetes

// Requests to the API server.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// requestTime bounds one request.
const requestTime = 30 * time.Second

// Cluster is a cluster's API server and a namespace there. It may be used from
// many goroutines.
type Cluster struct {
	server    *url.URL
	namespace string
	http      *http.Client
	// token is asked for at each request: they are renewed beside this process.
	token func(ctx context.Context) (string, error)
}

// Namespace is where jobs are made.
func (c *Cluster) Namespace() string { return c.namespace }

func (c *Cluster) jobs() string {
	return "/apis/batch/v1/namespaces/" + url.PathEscape(c.namespace) + "/jobs"
}

func (c *Cluster) path(words ...string) string {
	for i, w := range words {
		words[i] = url.PathEscape(w)
	}
	return "/api/v1/namespaces/" + url.PathEscape(c.namespace) + "/" + strings.Join(words, "/")
}

// Version is the API server's.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	var v struct{ GitVersion string }
	err := c.do(ctx, http.MethodGet, "/version", nil, nil, &v)
	return v.GitVersion, err
}

// needed are the rights that jobs take.
var needed = []struct{ verb, group, resource, sub string }{
	{"create", "batch", "jobs", ""}, {"get", "batch", "jobs", ""}, {"delete", "batch", "jobs", ""},
	{"list", "", "pods", ""}, {"get", "", "pods", "log"},
}

// MayRun is an error that names the rights that this account lacks.
func (c *Cluster) MayRun(ctx context.Context) error {
	var lacks []string
	for _, n := range needed {
		ask := object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": object{"resourceAttributes": object{
			"namespace": c.namespace, "verb": n.verb, "group": n.group, "resource": n.resource, "subresource": n.sub}}}
		var answer struct{ Status struct{ Allowed bool } }
		if err := c.do(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", nil, ask, &answer); err != nil {
			return err
		}
		if !answer.Status.Allowed {
			lacks = append(lacks, strings.TrimSuffix(n.verb+" "+n.resource+"/"+n.sub, "/"))
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%w: in the namespace %s this account may not %s; the chart's role has it (sandbox.kubernetes.enabled)", ErrUnavailable, c.namespace, strings.Join(lacks, ", "))
	}
	return nil
}

// do makes a request with a JSON body and reads a JSON answer.
func (c *Cluster) do(ctx context.Context, method, at string, query url.Values, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	text, err := c.request(ctx, method, at, query, body, "application/json", largestAnswer)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%w: what the API server answered cannot be read: %w", ErrUnavailable, err)
	}
	return nil
}

// text reads an answer that is text.
func (c *Cluster) text(ctx context.Context, at string, query url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return c.request(ctx, http.MethodGet, at, query, nil, "*/*", largestLog)
}

func (c *Cluster) request(ctx context.Context, method, at string, query url.Values, body any, accept string, most int64) ([]byte, error) {
	u := *c.server
	u.Path, u.RawQuery = path.Join(u.Path, at), query.Encode()
	var text io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%w: the request cannot be written: %w", ErrUnavailable, err)
		}
		text = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "deckhand")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: the API server %s does not answer: %w", ErrUnavailable, c.server.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return nil, fmt.Errorf("%w: the API server's answer broke off: %w", ErrUnavailable, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return nil, refused(method, at, resp.Status, answer)
	}
	return answer, nil
}

// refused is a refusal in the API server's own words: a Status.
func refused(method, at, status string, answer []byte) error {
	var s struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &s) != nil || s.Message == "" {
		s.Message = strings.TrimSpace(string(answer[:min(len(answer), 300)]))
	}
	return fmt.Errorf("%w: %s %s: %s: %s", ErrUnavailable, method, at, status, s.Message)
}
