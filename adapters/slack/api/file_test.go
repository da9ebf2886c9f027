package api

import (
	"fmt"
	"io"
	"testing"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
)

func TestASignInPageIsNoFile(t *testing.T) {
	t.Parallel()
	to := &file{LimitedWriter: ingest.LimitedWriter{To: io.Discard, Left: 1000}}
	fmt.Fprint(to, "<!DOCTYPE html><html>Sign in</html>")
	if !to.signIn(agent.Attachment{Name: "a.txt", Size: 6}) || to.signIn(agent.Attachment{Name: "a.html"}) {
		t.Error("a web page is not told from a file")
	}
}
