package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/bot"
)

func TestViewing(t *testing.T) {
	r := &Reader{Team: "T1"}
	at := func(channel, ts string) bot.Address { return r.Address(channel, ts) }
	for context, want := range map[string][]bot.Address{
		``: nil, `null`: nil, `{}`: nil, `"x"`: nil, `[]`: nil, `{"entities":7}`: nil, `{"entities":[7,null,{"type":1}]}`: nil,
		`{"entities":[{"type":"slack#/types/channel_id","value":"C1","team_id":"T1"}]}`: {at("C1", "")},
		`{"entities":[{"type":"slack#/types/channel_id","value":"C1"},{"type":"slack#/types/channel_id","value":"C1"},
			{"type":"slack#/types/channel_id","value":"C2","team_id":"T9"},{"type":"slack#/types/channel_id","value":"D1"},
			{"type":"slack#/types/channel_id","value":{"channel_id":"C3"}},{"type":"slack#/types/canvas_id","value":"F1"},
			{"type":"slack#/types/message_context","value":{"channel_id":"C4","message_ts":"17.1"}},
			{"type":"slack#/types/message_context","value":"C5"}]}`: {at("C1", ""), at("C4", "17.1")},
		`{"channel_id":"C1","team_id":"T1","enterprise_id":null}`: {at("C1", "")},
		`{"channel_id":"C1","team_id":"T9"}`:                      nil,
	} {
		if diff := cmp.Diff(want, r.viewing("D1", json.RawMessage(context))); diff != "" {
			t.Errorf("%s:\n%s", context, diff)
		}
	}
}

// Who looks stands in the event, or only in the envelope.
func TestOpened(t *testing.T) {
	r := &Reader{Team: "T1"}
	for payload, want := range map[string]string{
		`{"type":"event_callback","event":{"type":"app_context_changed","user":"U1","context":{}}}`:                                          "U1",
		`{"type":"event_callback","event":{"type":"app_context_changed","context":{}},"authorizations":[{"user_id":"U2","is_bot":false}]}`:   "U2",
		`{"type":"event_callback","event":{"type":"app_context_changed","context":{}},"authorizations":[{"user_id":"UBOT","is_bot":true}]}`:  "",
		`{"type":"event_callback","event":{"type":"app_home_opened","user":"U1","channel":"D1","tab":"messages","context":{"entities":[]}}}`: "U1",
		`{"type":"event_callback","event":{"type":"app_home_opened","user":"U1","channel":"D1","tab":"about"}}`:                              "",
	} {
		u, err := r.Read(KindEvent, []byte(payload))
		who := ""
		if u != nil {
			who = u.User
			if _, is := u.In.Act.(bot.Opened); !is {
				t.Errorf("%s is %T", payload, u.In.Act)
			}
		}
		if err != nil || who != want {
			t.Errorf("%s: %q, %v", payload, who, err)
		}
	}
}
