package llmtest

// The endpoint: which answer a request gets, and how.

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// New returns an endpoint that answers by script: POST /chat/completions and
// /embeddings, GET /models, each with and without /v1. It records nothing and
// may run as long as it likes.
func New(script Script) http.Handler {
	e := &endpoint{script: script}
	mux := http.NewServeMux()
	for _, base := range []string{"", "/v1"} {
		mux.HandleFunc("POST "+base+"/chat/completions", e.chat)
		mux.HandleFunc("POST "+base+"/embeddings", embeddings)
		mux.HandleFunc("GET "+base+"/models", models)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, Fail(http.StatusNotFound, "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path))
	})
	return mux
}

type endpoint struct {
	script Script
	n      atomic.Int64
}

func (e *endpoint) chat(w http.ResponseWriter, r *http.Request) {
	req, err := read(r)
	if err != nil {
		fail(w, Fail(http.StatusBadRequest, "", err.Error()))
		return
	}
	req.N = int(e.n.Add(1)) - 1
	reply := e.script(req)
	if !wait.Sleep(r.Context(), reply.Delay) {
		return
	}
	maps.Copy(w.Header(), reply.Header)
	if reply.CutAfter > 0 {
		w = &cutter{ResponseWriter: w, left: reply.CutAfter}
	}
	switch {
	case reply.Close:
		panic(http.ErrAbortHandler)
	case reply.Status != 0 && reply.Status != http.StatusOK:
		fail(w, reply)
	case reply.Raw != "":
		w.Header().Set("Content-Type", kind(reply.ContentType))
		_, _ = w.Write([]byte(reply.Raw)) // a client that went away needs no answer
	case req.Stream:
		streamed(w, r, req, name(req, reply))
	default:
		plain(w, req, name(req, reply))
	}
}

// cutter closes the connection after so many bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left]) // it is about to break anyway
	c.Flush()
	panic(http.ErrAbortHandler)
}

// Flush sends what was written.
func (c *cutter) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func kind(contentType string) string {
	if contentType == "" {
		return "application/json"
	}
	return contentType
}

// name gives calls without an id one.
func name(req Request, reply Reply) Reply {
	calls := make([]llm.Call, len(reply.Calls))
	for i, c := range reply.Calls {
		if c.ID == "" {
			c.ID = "call_" + strconv.Itoa(req.N) + "_" + strconv.Itoa(i)
		}
		calls[i] = c
	}
	reply.Calls = calls
	if reply.Finish == "" {
		reply.Finish = "stop"
		if len(calls) > 0 {
			reply.Finish = "tool_calls"
		}
	}
	if reply.Usage == (llm.Usage{}) {
		n := len(reply.Text) + len(reply.Refusal)
		for _, c := range calls {
			n += len(c.Name) + len(c.Arguments)
		}
		reply.Usage = llm.Usage{Prompt: (len(req.Body) + 3) / 4, Completion: max(1, (n+3)/4)}
	}
	return reply
}

func fail(w http.ResponseWriter, r Reply) {
	w.Header().Set("Content-Type", kind(r.ContentType))
	w.WriteHeader(r.Status)
	body := []byte(r.ErrorBody)
	if r.ErrorBody == "" {
		var e struct {
			Error struct {
				Message string  `json:"message"`
				Type    string  `json:"type"`
				Param   *string `json:"param"`
				Code    *string `json:"code"`
			} `json:"error"`
		}
		e.Error.Message, e.Error.Type = r.Message, r.Type
		if r.Code != "" {
			e.Error.Code = &r.Code
		}
		body = encode(e)
	}
	_, _ = w.Write(body) // a client that went away needs no answer
}

// encode is json.Marshal for the types of this package, which always succeed.
func encode[T any](v T) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func models(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"object":"list","data":[{"id":"test-model","object":"model","created":1700000000,"owned_by":"llmtest"},` +
		`{"id":"test-embedding","object":"model","created":1700000000,"owned_by":"llmtest"}]}`))
}
