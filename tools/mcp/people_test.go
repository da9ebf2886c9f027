package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// A server's question is put to people, and their answer goes back to it; how far
// a call is is passed on.
func TestPeopleAnswerServers(t *testing.T) {
	_, tools := started(t, "good", nil)
	var mu sync.Mutex
	var asked, progress []string
	for name, tt := range map[string]struct {
		answers map[string]string
		want    string
	}{
		"answered": {map[string]string{"colour": "blue"}, "the answer was accept blue"},
		"nobody":   {nil, "the answer was decline"},
	} {
		c := agent.Call{Run: "run1", Effect: "task/a.1.0", Tool: "ask", Arguments: json.RawMessage(`{"text":"hello"}`),
			Ask: func(_ context.Context, title string, questions []agent.Question) (map[string]string, bool) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, title+" | "+questions[0].ID)
				return tt.answers, tt.answers != nil
			}}
		if r := tools["ask"].Run(t.Context(), c); !strings.Contains(r.Text, tt.want) {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	if len(asked) != 2 || asked[0] != "The tool server test asks: Which colour? | colour" {
		t.Errorf("people were asked %q", asked)
	}
	heard := filepath.Join(t.TempDir(), "heard")
	arguments, err := json.Marshal(map[string]string{"text": heard})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.Call{Run: "run1", Effect: "task/a.2.0", Tool: "slow", Arguments: arguments, Progress: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		progress = append(progress, text)
		if err := os.WriteFile(heard, nil, 0o600); err != nil {
			t.Error(err)
		}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if r := tools["slow"].Run(ctx, c); r.Text != "done" {
		t.Error(r.Text)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(progress) != 1 || progress[0] != "3 of 10: files" {
		t.Errorf("progress %q", progress)
	}
}
