package wire

import (
	"encoding/json"
	"testing"
)

// FuzzRead: whatever Slack, or somebody who looks like it, sends: no panic, and
// exactly one verdict.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention","user":"U1","channel":"C1","text":"<@UBOT> hi","ts":"1700000000.000001"}}`, `{}`, `null`, `[]`, `{"type":"event_callback","event":{"type":"message","ts":"1.2","channel":"C1","user":"U1","text":"<@UBOT|b> <!date^1^x|y> <"}}`,
		`{"type":"event_callback","event":{"type":"message","subtype":"message_changed","channel":"C1","message":{"ts":"1.2","user":"U1","text":"a","edited":{"ts":"2.3"}}}}`,
		`{"type":"block_actions","user":{"id":"U1"},"actions":[{"action_id":"decide:approve","value":"x"}],"container":{"channel_id":"C1","message_ts":"1.1"}}`,
		`{"type":"view_submission","user":{"id":"U1"},"view":{"callback_id":"form","private_metadata":"{\"form\":\"x\"}","state":{"values":{"a":{"v":{"value":null}}}}}}`,
		`{"type":"message_action","user":{"id":"U1"},"channel":{"id":"C1"},"message":{"ts":"1.1"}}`, `{"user_id":"U1","channel_id":"C1","text":"<#C1|x>"}`,
	} {
		for _, kind := range []string{KindEvent, KindInteraction, KindCommand, "new"} {
			f.Add(kind, []byte(seed))
		}
	}
	r := &Reader{Team: "T1", BotUser: "UBOT", BotID: "BBOT"}
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		u, err := r.Read(kind, payload)
		if u == nil {
			return
		}
		if err != nil {
			t.Fatalf("an update and %v", err)
		}
		u.Keys()
		r.Readable(u.Raw, Spelling{func(id string) string { return id }, AsLabelled})
		if u.Heard() && u.User == "" && u.Bot == "" {
			t.Fatalf("nobody did %+v", u.In)
		}
		if u.Heard() && !u.Alone && (u.In.Where.Channel == "" || u.In.Where.Workspace != "T1") {
			t.Fatalf("nowhere: %+v", u.In)
		}
		if u.Heard() && len(u.In.Keys) == 0 && json.Valid(payload) && kind != KindCommand && kind != KindEvent {
			t.Fatalf("without a key: %+v", u.In)
		}
	})
}
