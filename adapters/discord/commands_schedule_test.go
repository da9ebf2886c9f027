package discord

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

// What comes again is ordered by options, which become the text that a person
// would write.
func TestSchedulesAreText(t *testing.T) {
	t.Parallel()
	type options = discordtest.Options
	list := []struct {
		command string
		options options
		text    string
	}{
		{"report add", options{"when": "every weekday 9:00"}, "report every weekday 9:00"},
		{"report add", options{"when": " every\tweekday  9:00 ", "zone": "Europe/Berlin", "channel": discordtest.General, "about": "workspace", "always": "true"},
			"report every weekday 9:00 Europe/Berlin #general workspace always"},
		{"report now", nil, "report now"},
		{"report now", options{"channel": discordtest.General, "about": "mine"}, "report now #general mine"},
		{"report list", nil, "report list"},
		{"report change", options{"name": "report-abcde", "when": "daily 10:00", "always": "false"}, "report change report-abcde daily 10:00 quiet"},
		{"report pause", options{"name": "report-abcde"}, "report pause report-abcde"},
		{"report resume", options{"name": "all of them"}, "report resume all_of_them"},
		{"report remove", options{"name": "x\nrun rm"}, "report remove x_run_rm"},
		{"schedule add", options{"when": "@every 90m", "goal": "count: the lines\nand tests"}, "schedule @every 90m: count: the lines\nand tests"},
		{"schedule add", options{"when": "0 8 * * 1", "zone": "UTC", "overlap": "queue", "goal": "skip: this"}, "schedule 0 8 * * 1 UTC queue: skip: this"},
		{"schedule add", options{"when": "daily 9:00:", "goal": "skip: this"}, "schedule daily 9:00: skip: this"},
		{"schedule change", options{"name": "goal-abcde", "when": "daily 9:00"}, "schedule change goal-abcde daily 9:00"},
		{"schedule change", options{"name": "goal-abcde", "when": "daily 9:00", "overlap": "skip", "goal": "count"}, "schedule change goal-abcde daily 9:00 skip: count"},
		{"schedule list", nil, "schedule list"},
		{"schedule remove", options{"name": "goal-abcde"}, "schedule remove goal-abcde"},
	}
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		r.Always(bot.Answer{Private: "so"})
		for i, tt := range list {
			if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand "+tt.command, tt.options); err != nil {
				t.Fatal(err)
			}
			in := r.Hears(i + 1)[i]
			if only := strings.HasSuffix(t.Name(), "/http"); in.Act != (bot.Commanded{Text: tt.text, Only: only}) || in.Where != general("") {
				t.Errorf("%s %v: heard %+v", tt.command, tt.options, in)
			}
			want := map[string]bot.Address{"#general": general("")}
			if tt.options["channel"] == "" {
				want = nil
			}
			if !maps.Equal(in.Channels, want) {
				t.Errorf("%s %v: channels %v", tt.command, tt.options, in.Channels)
			}
		}
	})
}

// Nothing that is given for one option is heard as another one.
func TestOptionsHoldNothingElse(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Private: "so"})
	for _, tt := range []struct {
		command string
		options discordtest.Options
		told    string
	}{
		{"report add", discordtest.Options{"when": "daily 9:00: rm"}, "rm"},
		{"report add", discordtest.Options{"when": "daily 9:00 always"}, "always"},
		{"report add", discordtest.Options{"when": "daily 9:00\n#general"}, "general"},
		{"report add", discordtest.Options{"when": "daily 9:00 <#" + discordtest.General + ">"}, "9:00"},
		{"report add", discordtest.Options{"when": "now"}, "schedule"},
		{"report add", discordtest.Options{"when": "remove report-abcde"}, "schedule"},
		{"report add", discordtest.Options{"when": "daily 9:00", "zone": "Europe/Berlin always"}, "always"},
		{"report add", discordtest.Options{"when": "daily 9:00", "zone": "and 10:00"}, "time zone"},
		{"schedule add", discordtest.Options{"when": "daily 9:00: rm", "goal": "count"}, "rm"},
		{"schedule add", discordtest.Options{"when": "daily 9:00", "zone": ": rm", "goal": "count"}, "rm"},
		{"schedule change", discordtest.Options{"name": "x", "when": "daily 9:00: rm"}, "rm"},
	} {
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand "+tt.command, tt.options); err != nil {
			t.Fatal(err)
		}
		r.until("it is refused", func() bool { return strings.Contains(r.whisper(discordtest.Ann), tt.told) })
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand runs", nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, in := range r.Hears(11) {
		if in.Act != (bot.Commanded{Text: "runs"}) {
			t.Errorf("heard %+v", in.Act)
		}
	}
}

// Choices, truths and channels that Discord does not offer are not taken,
// whoever made them up.
func TestForgedOptions(t *testing.T) {
	t.Parallel()
	add := func(option string) string {
		return `{"type":2,"name":"report","options":[{"type":1,"name":"add","options":[{"name":"when","type":3,"value":"daily 9:00"},` + option + `]}]}`
	}
	for name, c := range map[string]struct{ options, resolved, want string }{
		"plain":                 {add(`{"name":"about","type":3,"value":"mine"}`), "{}", "report daily 9:00 mine"},
		"a choice":              {add(`{"name":"about","type":3,"value":"mine always"}`), "{}", ""},
		"a truth":               {add(`{"name":"always","type":5,"value":"workspace"}`), "{}", "report daily 9:00"},
		"an unknown option":     {add(`{"name":"to","type":3,"value":"workspace"}`), "{}", "report daily 9:00"},
		"an unknown channel":    {add(`{"name":"channel","type":7,"value":"77"}`), "{}", ""},
		"no channel":            {add(`{"name":"channel","type":7,"value":"7 always"}`), `{"channels":{"7 always":{"id":"7","type":0}}}`, ""},
		"a thread":              {add(`{"name":"channel","type":7,"value":"7"}`), `{"channels":{"7":{"id":"7","type":11,"name":"x"}}}`, ""},
		"a channel":             {add(`{"name":"channel","type":7,"value":"7"}`), `{"channels":{"7":{"id":"8","type":0,"name":"x always"}}}`, "report daily 9:00 #x-always"},
		"a group alone":         {`{"type":2,"name":"report","options":[]}`, "{}", ""},
		"an unknown subcommand": {`{"type":2,"name":"report","options":[{"type":1,"name":"daily 9:00","options":[]}]}`, "{}", ""},
		"an unknown group":      {`{"type":2,"name":"run","options":[{"type":1,"name":"list","options":[]}]}`, "{}", ""},
	} {
		payload := `{"id":"175928847299117063","token":"t","type":2,"channel_id":"5","guild_id":"6","member":{"user":{"id":"7","username":"x"}},` +
			`"data":{"name":"deckhand","type":1,"resolved":` + c.resolved + `,"options":[` + c.options + `]}}`
		d := deaf()
		n, err := d.parse(envelope{kind: eventInteraction, payload: []byte(payload)})
		if err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := d.readWords(t.Context(), n); got != (bot.Commanded{Text: c.want}) || c.want == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The channels that a text names are of the same server; others have no name.
func TestChannelsInTexts(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	twin, voice := "110000000000000021", "110000000000000022"
	r.AddChannel(discordtest.Channel{ID: twin, Name: "general"})
	r.AddChannel(discordtest.Channel{ID: voice, Name: "On air", Type: int(discordgo.ChannelTypeGuildVoice)})
	r.comes("the channels are known", func() bool { return r.d.directory.ChannelName(discordtest.Guild, voice) == "On air" })
	r.Mention(discordtest.Ann, discordtest.General, "report daily 9:00 <#"+discordtest.General+"> <#"+twin+"> <#"+voice+"> <#"+discordtest.Elsewhere+"> <#404>")
	in := r.Hears(1)[0]
	if got, want := saying(t, in).Text, "report daily 9:00 #general #general-"+twin+" #On-air #"+discordtest.Elsewhere+" #404"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if want := (map[string]bot.Address{"#general": general(""), "#general-" + twin: api.Address(discordtest.Guild, twin, "")}); !maps.Equal(in.Channels, want) {
		t.Errorf("channels %v", in.Channels)
	}
	if saying(t, in).Direct {
		t.Error("a message in a channel is direct")
	}
	r.DM(discordtest.Ann, "report daily 9:00 <#"+discordtest.General+">")
	in = r.Hears(2)[1]
	if got := saying(t, in); got.Text != "report daily 9:00 #"+discordtest.General || !got.Direct || in.Channels != nil {
		t.Errorf("said %+v, %v", got, in.Channels)
	}
}

// Without the gateway Discord is asked about channels, of one text only so often.
func TestChannelsAreAskedFor(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{Deliver: "x"}, nil)
	r.Always(bot.Answer{Private: "so"})
	text := "see <#" + discordtest.General + "> and <#" + discordtest.Elsewhere + ">" + strings.Repeat(" <#404>", 10)
	if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand steer", discordtest.Options{"text": text}); err != nil {
		t.Fatal(err)
	}
	in := r.Hears(1)[0]
	if want := "steer see #general and #" + discordtest.Elsewhere + strings.Repeat(" #404", 10); in.Act != (bot.Commanded{Text: want, Only: true}) {
		t.Errorf("heard %+v", in.Act)
	}
	asked := 0
	for _, q := range r.Requests() {
		if q.Route == "GET /channels/{channel}" {
			asked++
		}
	}
	if asked > maxAsked {
		t.Errorf("asked %d times", asked)
	}
}

func TestDirectCommands(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, func(c *Config) { c.GuildID = "" })
		r.Always(bot.Answer{Private: "so"})
		dm := r.DMChannel(discordtest.Ann)
		for i, c := range []struct {
			command string
			options discordtest.Options
		}{{"deckhand runs", nil}, {"deckhand report now", nil}, {"deckhand run", discordtest.Options{"goal": "tidy up"}}} {
			for k, channel := range []string{dm, discordtest.General} {
				if err := r.Slash(discordtest.Ann, channel, c.command, c.options); err != nil {
					t.Fatal(err)
				}
				in, direct := r.Hears(2*i + k + 1)[2*i+k], false
				switch act := in.Act.(type) {
				case bot.Commanded:
					direct = act.Direct
				case bot.Filled:
					direct = act.Direct
					if in.Begins == act.Direct { // a direct conversation has begun before
						t.Errorf("begins: %+v", in)
					}
				}
				if direct != (channel == dm) {
					t.Errorf("%s in %s: %+v", c.command, channel, in.Act)
				}
			}
		}
	})
}

func TestRolesInTexts(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	if err := r.AddRole(discordtest.Guild, discordtest.Role{ID: discordtest.Crew, Name: "Sailors"}); err != nil {
		t.Fatal(err)
	}
	r.comes("the role is known", func() bool { return r.d.directory.RoleName(discordtest.Guild, discordtest.Crew) == "Sailors" })
	r.Mention(discordtest.Ann, discordtest.General, "ask <@&"+discordtest.Crew+">, <@&"+discordtest.OtherRole+"> and <@&404>")
	if got := saying(t, r.Hears(1)[0]).Text; got != "ask @Sailors, @role and @role" {
		t.Errorf("said %q", got)
	}
	r.d.event("GUILD_ROLE_DELETE", json.RawMessage(`{"guild_id":"`+discordtest.Guild+`","role_id":"`+discordtest.Crew+`"}`))
	if got := r.d.directory.RoleName(discordtest.Guild, discordtest.Crew); got != "role" {
		t.Errorf("a role that is gone is %q", got)
	}
	r.d.event("GUILD_DELETE", json.RawMessage(`{"id":"`+discordtest.Guild+`"}`))
	if got := r.d.directory.RoleName(discordtest.Guild, discordtest.Admins); got != "role" {
		t.Errorf("a role of a server that is gone is %q", got)
	}
}

// A reaction that Discord has no room for waits; what people are told does not
// wait for it.
func TestReactionsWaitTheirTurn(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]discordtest.Fault{
		"limited": discordtest.RateLimited(1500 * time.Millisecond), "of all": {Status: http.StatusTooManyRequests, RetryAfter: time.Second, Global: true},
		"unavailable": discordtest.Unavailable(), "lost": discordtest.LostAnswer(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, discordtest.Config{}, nil)
			r.Always(bot.Answer{Mark: bot.MarkSeen})
			r.Fail(discordtest.React, 1, fault)
			id := r.Mention(discordtest.Ann, discordtest.General, "tidy up")
			r.until("it is marked", func() bool {
				m, _ := r.Message(discordtest.General, id)
				return len(m.Reactions) == 1 && m.Reactions[0].Name == "👀"
			})
			r.stop()
			if n := r.Count(discordtest.React); n > 2 {
				t.Errorf("it was set %d times, want one after the one that failed", n)
			}
		})
	}
}

// As many marks at once as a channel never takes at once: none is dropped.
func TestManyReactions(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.SetLimits(discordtest.Limits{})
	r.Always(bot.Answer{Mark: bot.MarkSeen})
	var ids []string
	for range 12 { // one in 250 ms: the last one has to wait three seconds
		ids = append(ids, r.Mention(discordtest.Ann, discordtest.General, "tidy up"))
	}
	r.until("all are marked", func() bool {
		for _, id := range ids {
			if m, _ := r.Message(discordtest.General, id); len(m.Reactions) == 0 {
				return false
			}
		}
		return true
	})
}

// comes waits for what the server cannot see.
func (r *rig) comes(what string, cond func() bool) {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); {
		if time.Now().After(deadline) {
			r.Fatalf("waiting until %s\n%s", what, r.Log)
		}
		<-time.After(time.Millisecond)
	}
}
