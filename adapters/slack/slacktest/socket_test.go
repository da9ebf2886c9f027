package slacktest

import (
	"strings"
	"testing"

	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

func inner(t *testing.T, ev socketmode.Event) slackevents.EventsAPIInnerEvent {
	t.Helper()
	outer, ok := ev.Data.(slackevents.EventsAPIEvent)
	if !ok {
		t.Fatalf("got %T (%v), want an event of the Events API", ev.Data, ev.Data)
	}
	return outer.InnerEvent
}

func TestMentionArrivesTwice(t *testing.T) {
	s := open(t, Config{})
	events := connect(t, s, nil)
	ts := s.Mention(Ann, General, "", "what is up?")

	mention, ok := inner(t, next(t, events)).Data.(*slackevents.AppMentionEvent)
	if !ok || mention.TimeStamp != ts || mention.User != Ann || mention.Channel != General {
		t.Fatalf("mention: %+v", mention)
	}
	if !strings.HasPrefix(mention.Text, "<@UBOT> ") {
		t.Errorf("text %q does not mention the bot", mention.Text)
	}
	message, ok := inner(t, next(t, events)).Data.(*slackevents.MessageEvent)
	if !ok || message.TimeStamp != ts || message.ChannelType != "channel" || len(message.Blocks.BlockSet) != 1 {
		t.Fatalf("message: %+v", message)
	}
	wait(t, s, "both are acknowledged", func() bool {
		d := s.Deliveries()
		return len(d) == 2 && d[0].Latency > 0 && d[1].Latency > 0 && d[0].EventID != d[1].EventID
	})
}
