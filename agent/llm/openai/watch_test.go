package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// An answer that its watcher has enough of is cut, and the endpoint is not
// listened to any more.
func TestAWatcherCutsAnAnswer(t *testing.T) {
	hungUp := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, delta(`{"content":"on and on, "}`))
			_ = http.NewResponseController(w).Flush()
		}
		close(hungUp)
	}))
	defer server.Close()
	pieces := 0
	ask := request()
	ask.Watch = func() func(string) bool {
		return func(piece string) bool { pieces++; return pieces == 3 && piece == "on and on, " }
	}
	got, err := client(t, &llmtest.Server{URL: server.URL}, nil).Complete(t.Context(), ask)
	if want := strings.Repeat("on and on, ", 3); err != nil || got.Message.Content != want || got.Finish != finishCut || len(got.Message.Calls) > 0 {
		t.Errorf("answer %+v, %v", got, err)
	}
	if got.Usage.Completion == 0 || !got.Estimated {
		t.Errorf("what was said is not counted: %+v", got.Usage)
	}
	<-hungUp
}

// In JSON mode the text holds arguments, which may repeat themselves.
func TestArgumentsAreNotWatched(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
		return llmtest.Say(`{"command": {"name": "finish_task", "args": {"summary": "la la la"}}}`)
	})
	ask := request()
	ask.Watch = func() func(string) bool { return func(string) bool { return true } }
	got, err := client(t, s, func(c *Config) { c.Mode = JSON }).Complete(t.Context(), ask)
	if err != nil || len(got.Message.Calls) != 1 || got.Message.Calls[0].Name != "finish_task" {
		t.Errorf("answer %+v, %v", got, err)
	}
}
