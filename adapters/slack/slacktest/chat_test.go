package slacktest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

// refused says that an answer was an error of Slack's.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	var e slack.SlackErrorResponse
	if !errors.As(err, &e) || e.Err != code {
		t.Fatalf("got %v, want the error %s", err, code)
	}
}

func TestPostUpdateDelete(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	meta := slack.SlackMetadata{EventType: "deckhand_post", EventPayload: map[string]any{"key": "k1"}}
	channel, ts, err := api.PostMessage(General, slack.MsgOptionText("one", false), slack.MsgOptionMetadata(meta),
		slack.MsgOptionBlocks(slack.NewMarkdownBlock("m", "**one**")))
	if err != nil || channel != General {
		t.Fatalf("posting: %v in %s", err, channel)
	}
	if _, _, err := api.PostMessage(General, slack.MsgOptionText("under", false), slack.MsgOptionTS(ts)); err != nil {
		t.Fatal(err)
	}
	if _, _, text, err := api.UpdateMessage(General, ts, slack.MsgOptionText("two", false)); err != nil || text != "two" {
		t.Fatalf("updating: %v, text %q", err, text)
	}

	thread := s.Thread(General, ts)
	if len(thread) != 2 || thread[1].Text != "under" || thread[0].Text != "two" {
		t.Fatalf("thread: %+v", thread)
	}
	m := thread[0]
	if len(m.Edits) != 1 || m.Edits[0].Text != "one" || !strings.Contains(string(m.Edits[0].Blocks), "**one**") || len(m.Blocks) != 0 {
		t.Errorf("edits %+v, blocks %s", m.Edits, m.Blocks)
	}
	if m.Metadata == nil || string(m.Metadata.EventPayload) != `{"key":"k1"}` {
		t.Errorf("an update without metadata lost them: %+v", m.Metadata)
	}

	if _, _, err := api.DeleteMessage(General, ts); err != nil {
		t.Fatal(err)
	}
	if m, ok := s.Message(General, ts); !ok || !m.Deleted || m.Subtype != "tombstone" {
		t.Errorf("deleted parent: %+v", m)
	}
	_, err = send(s, General, slack.MsgOptionUpdate(ts), slack.MsgOptionText("three", false))
	refused(t, err, "message_not_found")
}

func TestHistoryAndReplies(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Limits: Limits{Off: true}})
	api := client(s)
	meta := slack.SlackMetadata{EventType: "deckhand_post", EventPayload: map[string]any{"key": "k"}}
	var tops, all []string
	for range 7 {
		tops = append(tops, s.Say(Ann, General, "", "top"))
	}
	for range 5 {
		_, ts, err := api.PostMessage(General, slack.MsgOptionText("reply", false), slack.MsgOptionTS(tops[3]), slack.MsgOptionMetadata(meta))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ts)
	}

	p := slack.GetConversationHistoryParameters{ChannelID: General, Limit: 3, Oldest: tops[0], IncludeAllMetadata: true}
	var got []string
	for {
		h, err := api.GetConversationHistory(&p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range h.Messages {
			got = append(got, m.Timestamp)
		}
		if !h.HasMore {
			break
		}
		p.Cursor = h.ResponseMetaData.NextCursor
	}
	want := []string{tops[6], tops[5], tops[4], tops[3], tops[2], tops[1]}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("history %v, want %v", got, want)
	}

	for _, tt := range []struct {
		metadata bool
		key      any
	}{{true, "k"}, {false, nil}} {
		r := slack.GetConversationRepliesParameters{ChannelID: General, Timestamp: tops[3], Limit: 4, IncludeAllMetadata: tt.metadata}
		first, more, cursor, err := api.GetConversationReplies(&r)
		if err != nil || !more || len(first) != 4 || first[0].ReplyCount != 5 || first[1].ParentUserId != Ann {
			t.Fatalf("replies: %v %v %+v", err, more, first)
		}
		if got := first[1].Metadata.EventPayload["key"]; got != tt.key {
			t.Errorf("metadata %v: key %v, want %v", tt.metadata, got, tt.key)
		}
		r.Cursor = cursor
		second, more, _, err := api.GetConversationReplies(&r)
		if err != nil || more || len(second) != 2 || second[1].Timestamp != all[4] {
			t.Fatalf("second page: %v %v %+v", err, more, second)
		}
	}
	none, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: General, Timestamp: "1.000001"})
	refused(t, err, "thread_not_found")
	if len(none) != 0 {
		t.Errorf("replies of nothing: %+v", none)
	}
}

func TestRefusedPosts(t *testing.T) {
	s := open(t, Config{Limits: Limits{Off: true}})
	s.AddChannel(Channel{ID: "C2", Name: "elsewhere", Members: []string{Ann}})
	s.AddChannel(Channel{ID: "C3", Name: "old", Archived: true, Members: []string{BotUser}})
	s.AddChannel(Channel{ID: "C4", Name: "secret", Private: true, Members: []string{Ann}})
	anns := s.Say(Ann, General, "", "mine")
	text := slack.MsgOptionText("x", false)
	for _, tt := range []struct {
		name, channel, code string
		options             []slack.MsgOption
	}{
		{"unknown channel", "C99", "channel_not_found", []slack.MsgOption{text}},
		{"not in it", "C2", "not_in_channel", []slack.MsgOption{text}},
		{"archived", "C3", "is_archived", []slack.MsgOption{text}},
		{"private", "C4", "channel_not_found", []slack.MsgOption{text}},
		{"nothing", General, "no_text", nil},
		{"no blocks", General, "no_text", []slack.MsgOption{slack.MsgOptionBlocks()}},
		{"long", General, "msg_too_long", []slack.MsgOption{slack.MsgOptionText(strings.Repeat("é", 40001), false)}},
		{"no such thread", General, "thread_not_found", []slack.MsgOption{text, slack.MsgOptionTS("1.000001")}},
		{"a person's", General, "cant_update_message", []slack.MsgOption{text, slack.MsgOptionUpdate(anns)}},
		{"metadata without payload", General, "invalid_metadata_schema", []slack.MsgOption{text, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "x"})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := send(s, tt.channel, tt.options...)
			refused(t, err, tt.code)
		})
	}
	if _, _, err := client(s).PostMessage(General, slack.MsgOptionText(strings.Repeat("é", 40000), false)); err != nil {
		t.Errorf("the longest text: %v", err)
	}
	if _, _, err := client(s).PostMessage(Ann, text); err != nil || len(s.Messages(s.IM(Ann))) != 1 {
		t.Errorf("posting to a person opens a direct message: %v", err)
	}
}

func TestEphemeral(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	api := client(s)
	top := s.Say(Ann, General, "", "top")
	s.Say(Ben, General, top, "under")
	if _, err := api.PostEphemeral(General, Ben, slack.MsgOptionText("psst", false), slack.MsgOptionTS(top)); err != nil {
		t.Fatal(err)
	}
	if e := s.Ephemerals(Ben); len(e) != 1 || e[0].Text != "psst" || e[0].ThreadTS != top || len(s.Ephemerals(Ann)) != 0 {
		t.Errorf("ephemerals: %+v", e)
	}
	_, err := api.PostEphemeral(General, Gone, slack.MsgOptionText("psst", false))
	refused(t, err, "user_not_in_channel")
}

// call posts a form or JSON as it is, without a library.
func (s *Server) raw(t *testing.T, method, contentType, bearer, body string) (map[string]any, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/api/"+method, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var out map[string]any
	if err != nil || json.Unmarshal(b, &out) != nil {
		t.Fatalf("%s answered %q: %v", method, b, err)
	}
	return out, resp.Header
}

func TestTokensScopesAndForms(t *testing.T) {
	t.Parallel()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	s := open(t, Config{Scopes: []string{"chat:write", "channels:history"}})
	form := "application/x-www-form-urlencoded"
	token := "token=" + url.QueryEscape(s.BotToken)
	for _, tt := range []struct{ name, method, kind, bearer, body, code string }{
		{"form, token inside", "auth.test", form, "", token, ""},
		{"form, bearer", "auth.test", form, s.BotToken, "", ""},
		{"JSON", "chat.postMessage", "application/json; charset=utf-8", s.BotToken, `{"channel":"C1","text":"x","blocks":[{"type":"divider"}]}`, ""},
		{"blocks as a string in JSON", "chat.postMessage", "application/json", s.BotToken, `{"channel":"C1","blocks":"[{\"type\":\"divider\"}]"}`, ""},
		{"broken JSON", "chat.postMessage", "application/json", s.BotToken, `{"channel"`, "invalid_json"},
		{"none", "auth.test", form, "", "", "not_authed"},
		{"wrong", "auth.test", form, "xoxb-no", "", "invalid_auth"},
		{"app token", "auth.test", form, s.AppToken, "", "not_allowed_token_type"},
		{"bot token for a socket", "apps.connections.open", form, s.BotToken, "", "not_allowed_token_type"},
		{"scope", "reactions.add", form, s.BotToken, "channel=C1", "missing_scope"},
		{"unknown", "chat.shout", form, s.BotToken, "", "unknown_method"},
	} {
		out, header := s.raw(t, tt.method, tt.kind, tt.bearer, tt.body)
		code, _ := out["error"].(string)
		if code != tt.code || out["ok"] != (tt.code == "") {
			t.Errorf("%s: got %v, want %q", tt.name, out, tt.code)
		}
		if got := header.Get("X-Oauth-Scopes"); got != "chat:write,channels:history" {
			t.Errorf("%s: scopes %q", tt.name, got)
		}
		if tt.code == "missing_scope" && (out["needed"] != "reactions:write" || out["provided"] != "chat:write,channels:history") {
			t.Errorf("missing scope says %v", out)
		}
	}
	if got := s.Unknown(); len(got) != 1 || got[0] != "chat.shout" {
		t.Errorf("unknown methods: %v", got)
	}
	if n := s.Count("auth.test"); n != 5 {
		t.Errorf("%d calls of auth.test, want 5", n)
	}
}
