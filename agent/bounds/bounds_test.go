package bounds_test

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/bounds"
)

func TestNested(t *testing.T) {
	nest := func(n int, inner string) string {
		return strings.Repeat(`{"a":[`, n/2) + inner + strings.Repeat("]}", n/2)
	}
	for text, deep := range map[string]bool{
		nest(bounds.Depth, "1"):                       false,
		nest(bounds.Depth, `"[[[[\"{{{"`):             false,
		nest(bounds.Depth, "[]"):                      true,
		nest(bounds.Depth+2, "1"):                     true,
		`{"a":"` + strings.Repeat("[", 10_000) + `"}`: false,
		"[" + strings.Repeat("{},", 10_000) + "1]":    false,
	} {
		if err := bounds.Nested([]byte(text)); (err != nil) != deep {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestAnswer(t *testing.T) {
	if got := bounds.Answer(100); got != 64<<10 {
		t.Errorf("a short answer has %d bytes", got)
	}
	if got := bounds.Answer(1 << 20); got != 16<<20 {
		t.Errorf("a long answer has %d bytes", got)
	}
}
