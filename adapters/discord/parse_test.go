package discord

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/directory"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// deaf is a bot that nobody told anything yet.
func deaf() *Discord {
	d := &Discord{cfg: Config{Gateway: true}, account: account{botUser: "999", botName: "deckhand"}, directory: directory.New(nil, slog.New(slog.DiscardHandler)), log: slog.New(slog.DiscardHandler)}
	d.in.open(ingest.NewWatermarks(ingest.NoNames{}, d.seenName(), ids), nil, slog.New(slog.DiscardHandler))
	return d
}

func TestReadableText(t *testing.T) {
	t.Parallel()
	d := deaf()
	d.directory.LearnChannel(api.Channel{ID: "5", Guild: "1", Name: "general"})
	d.directory.LearnChannel(api.Channel{ID: "4", Guild: "2", Name: "secret"})
	d.event("GUILD_CREATE", json.RawMessage(`{"id":"1","roles":[{"id":"45","name":"Crew"},{"id":"1","name":"@everyone"}]}`))
	d.event("GUILD_CREATE", json.RawMessage(`{"id":"2","roles":[{"id":"46","name":"Secret"}]}`))
	for text, want := range map[string]string{
		"<@999> tidy up":                 "tidy up",
		"<@!999> tidy <@7> up":           "tidy @ann up",
		"in <#5>, not <#6> or <#4>":      "in #general, not #6 or #4",
		"<:ship:12> and <a:wave:13> ask": ":ship: and :wave: ask",
		"for <@&44>":                     "for @role",
		"for <@&45> and <@&46>, <@&1>":   "for @Crew and @role, @everyone",
		"a < b <@x> <@> <t:1:R>":         "a < b <@x> <@> <t:1:R>",
		"  <@999>  ":                     "",
	} {
		n := &update{guild: "1", raw: text, names: map[string]string{"7": "ann", "x": "x"}}
		n.in.Act = bot.Commanded{}
		if got := d.readWords(t.Context(), n); got != (bot.Commanded{Text: want}) {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}

func TestIdsAreTimes(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Millisecond).UTC()
	if got := api.Time("175928847299117063"); !got.Equal(time.Date(2016, 4, 30, 11, 18, 25, 796e6+7*244, time.UTC)) {
		t.Errorf("the documented id is of %v", got)
	}
	if got := api.Time(idText(api.FirstID(now))); !got.Equal(now) {
		t.Errorf("%v came back as %v", now, got)
	}
	for _, none := range []string{"", "x", "-5", "99999999999999999999", "0"} {
		if !api.Time(none).IsZero() {
			t.Errorf("%q is a time", none)
		}
	}
}

func idText(n int64) string {
	return strconv.FormatInt(n, 10)
}

func FuzzParse(f *testing.F) {
	person := `"member":{"user":{"id":"7","username":"x"},"roles":["1"]}`
	for _, seed := range []struct{ kind, payload string }{
		{eventMessage, `{"id":"175928847299117063","channel_id":"5","guild_id":"6","type":0,"author":{"id":"7"},"content":"<@999> do it","attachments":[{"id":"1","url":"u","size":1e99}]}`},
		{eventMessage, `{"id":"175928847299117063","channel_id":"5","type":19,"author":{"id":"7"},"referenced_message":{"id":"8","author":{"id":"999"}},"content":"x"}`},
		{eventEdit, `{"id":"175928847299117063","channel_id":"5","guild_id":"6","edited_timestamp":"2026-01-01T00:00:00Z","author":{"id":"7"},"content":"<@999> x"}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":2,"channel_id":"5","guild_id":"6",` + person + `,"data":{"name":"deckhand","type":1,"options":[{"name":"run","type":1,"options":[{"name":"goal","type":3,"value":"x"}]}]}}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":2,"channel_id":"5","guild_id":"6",` + person + `,"data":{"name":"Make this a goal","type":3,"target_id":"8","resolved":{"messages":{"8":{"id":"8","author":{"id":"9"},"content":"x"}}}}}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":3,"channel_id":"5","guild_id":"6",` + person + `,"message":{"id":"8"},"data":{"custom_id":"decide:approve:aaaaaaaaaaaaaaaa-1"}}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":3,"channel_id":"5","user":{"id":"7"},"data":{"custom_id":"menu:1","values":["rate:+1:x"]}}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":4,"channel_id":"5","guild_id":"6",` + person + `,"data":{"name":"deckhand","options":[{"type":1,"options":[{"name":"run","value":3,"focused":true}]}]}}`},
		{eventInteraction, `{"id":"175928847299117063","token":"t","type":5,"channel_id":"5","guild_id":"6",` + person + `,"data":{"custom_id":"form:run","components":[{"type":18,"component":{"type":5,"custom_id":"approvers","values":["7"]}}]}}`},
		{eventInteraction, `{"id":"1","token":"t","type":5,"data":null}`},
		{"", `null`},
	} {
		f.Add(seed.kind, []byte(seed.payload))
	}
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		d := deaf()
		n, err := d.parse(envelope{kind: kind, payload: payload})
		if n == nil || err != nil {
			return
		}
		if n.channel == "" {
			t.Fatalf("something happened nowhere: %s", payload)
		}
		if n.isEvent() && (n.user.ID == "" || len(n.in.Keys) == 0 || n.in.At.IsZero()) {
			t.Fatalf("heard without a person, a key or a time: %s", payload)
		}
		if n.isEvent() && n.reply == nil && n.user.ID == d.botUser {
			t.Fatalf("the bot hears itself: %s", payload)
		}
		if f, is := n.in.Act.(bot.Filled); is && f.Form == "" {
			t.Fatalf("a form without an id: %s", payload)
		}
		var outer struct {
			Token string `json:"token"`
		}
		if n.reply != nil && (json.Unmarshal(payload, &outer) != nil || strings.Contains(outer.Token, "/")) {
			t.Fatalf("a token that is a path: %s", payload)
		}
	})
}
