package wire

import (
	"fmt"
	"testing"

	"github.com/deckhand-bot/deckhand/bot"
)

// What Slack says of places is read as what became of them: the bot's own
// joining, not another's, and the bot's own messages, not another's.
func TestPlaces(t *testing.T) {
	r := &Reader{Team: "T1", BotUser: "U0", BotID: "B0"}
	for event, want := range map[string]string{
		`{"type":"member_joined_channel","user":"U0","channel":"C1"}`: "back slack:T1:C1: ",
		`{"type":"member_joined_channel","user":"U1","channel":"C1"}`: "",
		`{"type":"channel_unarchive","user":"U1","channel":"C1"}`:     "back slack:T1:C1: ",
		`{"type":"group_unarchive","user":"U1","channel":"G1"}`:       "back slack:T1:G1: ",
		`{"type":"channel_deleted","channel":"C1"}`:                   "gone slack:T1:C1: ",
		`{"type":"group_deleted","channel":"G1"}`:                     "gone slack:T1:G1: ",
		`{"type":"channel_deleted"}`:                                  "error",
		`{"type":"message","subtype":"message_deleted","channel":"C1","ts":"9.000001","deleted_ts":"2.000001","previous_message":{"user":"U0","bot_id":"B0","ts":"2.000001","thread_ts":"1.000001"}}`: "gone slack:T1:C1:1.000001 slack:T1:C1:2.000001",
		`{"type":"message","subtype":"message_changed","channel":"C1","ts":"9.000001","message":{"subtype":"tombstone","ts":"2.000001"},"previous_message":{"bot_id":"B0","ts":"2.000001"}}`:          "gone slack:T1:C1:2.000001 slack:T1:C1:2.000001",
		`{"type":"message","subtype":"message_changed","channel":"C1","ts":"9.000001","message":{"bot_id":"B0","ts":"2.000001"},"previous_message":{"bot_id":"B0","ts":"2.000001"}}`:                  "",
		`{"type":"message","subtype":"message_deleted","channel":"C1","ts":"9.000001","deleted_ts":"2.000001","previous_message":{"user":"U1","ts":"2.000001"}}`:                                      "",
	} {
		u, err := r.Read(KindEvent, []byte(`{"type":"event_callback","event_id":"Ev1","event":`+event+`}`))
		got := ""
		switch {
		case err != nil:
			got = "error"
		case u == nil:
		default:
			switch u.In.Act.(type) {
			case bot.PlaceBack:
				got = "back "
			case bot.PlaceGone:
				got = "gone "
			default:
				continue
			}
			got += fmt.Sprint(u.In.Where.String(), " ", u.In.Message.String())
		}
		if got != want {
			t.Errorf("%s: %q, want %q (%v)", event, got, want, err)
		}
	}
}
