package slack

import (
	"context"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
)

// rightTime is the store's time, whatever the clock of a process says.
type rightTime struct{}

func (rightTime) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// A replica whose clock was a year ahead said that all was well until then: what
// is missed from now on is read back all the same.
func TestMarksOfAClockThatWasAheadDoNotCount(t *testing.T) {
	t.Parallel()
	r := listen(t, slacktest.Config{}, nil)
	r.Mention(slacktest.Ann, slacktest.General, "", "first")
	r.Hears(1)
	r.settled()
	r.until("it was here", func() bool { v, _ := r.Names.Value(t.Context(), r.s.marksName()); return v != "" })
	r.stop()
	ahead := stamps.Write(time.Now().AddDate(1, 0, 0).UnixMicro())
	if err := r.Names.SetValue(t.Context(), r.s.marksName(), ahead); err != nil {
		t.Fatal(err)
	}
	r.HoldEvents()
	r.Mention(slacktest.Ben, slacktest.General, "", "missed")
	r.open(func(c *Config) { c.Clock = rightTime{} }, true)
	r.begin()
	if got := wordsOf(t, r.Hears(2)); got != "first, missed" {
		t.Errorf("heard %s", got)
	}
}
