package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

// Names are a courtesy: a message that names many people is heard in time, also
// while Slack is slow to say who they are.
func TestNamesDoNotHoldAMessageUp(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{AckWithin: time.Minute}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	var text strings.Builder
	for i := range 12 {
		id := fmt.Sprintf("UNAMED%d", i)
		r.AddUser(slacktest.User{ID: id, Name: id})
		fmt.Fprintf(&text, "<@%s> ", id)
	}
	r.Fail("users.info", 12, slacktest.Fault{AnswerAfter: 2 * time.Second})
	began := time.Now()
	r.Mention(slacktest.Ann, slacktest.General, "", text.String()+"tidy up")
	heard := r.Hears(2)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("heard after %s", took)
	}
	if got := said(t, heard[1]).Text; !strings.HasPrefix(got, "@UNAMED0 @UNAMED1 ") || !strings.HasSuffix(got, "@UNAMED11 tidy up") {
		t.Errorf("heard %q", got)
	}
}
