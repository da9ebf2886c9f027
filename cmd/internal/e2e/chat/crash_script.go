package chat

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// script is the model of a child: for a goal about berth N it appends one line
// about berth N to a file.
type script struct{}

// logFile is where the lines go.
const logFile = "log.md"

var berth = regexp.MustCompile(`berth no\. \d+`)

// number is the number of the berth that a goal is about.
func number(goal string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(berth.FindString(goal), "berth no. "))
	if err != nil {
		return 0 // it is about none
	}
	return n
}

// Complete answers by a pure function of the request.
func (script) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	m := &play{parts: []part{work("a", once(wish{"append_to_file", map[string]any{"path": logFile, "text": berth.FindString(read(r)) + "\n"}}))}}
	return m.Complete(ctx, r)
}
