package code_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
)

// One short program, child and all.
func BenchmarkRun(b *testing.B) {
	tool, err := code.New(code.Config{Command: []string{os.Args[0], childWord}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := tool.Run(b.Context(), agent.Call{Arguments: json.RawMessage(`{"code":"1+1"}`)}); r.Text != "2" {
			b.Fatal(r.Text)
		}
	}
}
