package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func TestCommandsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	for _, guild := range []string{discordtest.Guild, ""} {
		r := enter(t, discordtest.Config{}, func(c *Config) { c.GuildID = guild })
		r.begin()
		if list := r.Commands(guild); len(list) != 3 || list[0].Name != commands.Name {
			t.Fatalf("commands %+v", list)
		}
		r.open(func(c *Config) { c.GuildID = guild }, true)
		if changed, err := commands.Register(t.Context(), r.d.api, r.d.appID, guild); changed || err != nil {
			t.Errorf("they are registered again: %v, %v", changed, err)
		}
		told, app, err := Register(t.Context(), r.d.cfg)
		if err != nil || app != discordtest.App || !strings.Contains(told, "are registered already") {
			t.Errorf("told %q about %q, %v", told, app, err)
		}
	}
}

func TestReadyWaitsForTheCommands(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	r.d.in.times.longest = 20 * time.Millisecond
	r.Fail(discordtest.PutCommands, 1000, discordtest.APIError(http.StatusForbidden, 50001))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.d.Listen(ctx, r.Hear) }()
	r.until("it was tried twice", func() bool { return r.Count(discordtest.PutCommands) > 1 })
	if err := r.d.Ready(); err == nil || !strings.Contains(err.Error(), "applications.commands") {
		t.Errorf("ready says %v", err)
	}
	r.Heal()
	for deadline := time.Now().Add(time.Minute); r.d.Ready() != nil; {
		if time.Now().After(deadline) {
			t.Fatalf("never ready: %v", r.d.Ready())
		}
		<-time.After(time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRunsAreSuggested(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, func(c *Config) {
			c.Suggest = func(_ context.Context, what Suggested, by bot.Person, at bot.Address) ([]Suggestion, error) {
				if by.ID != "discord:"+discordtest.Ann || at != general("") {
					return nil, nil
				}
				switch what {
				case SuggestQuestions:
					return []Suggestion{{"aaaaaaaaaaaaaaaa-1", "May I?"}}, nil
				case SuggestLive:
					return []Suggestion{{"cccccccccccccccc", "of others"}}, nil
				case SuggestReports:
					return []Suggestion{{"report-abcde", "daily 9:00"}}, nil
				case SuggestGoals:
					return []Suggestion{{"goal-abcde", "daily 9:00"}}, nil
				case SuggestRuns:
				}
				var list []Suggestion
				for range 30 {
					list = append(list, Suggestion{"aaaaaaaaaaaaaaaa", "count " + strings.Repeat("the files ", 20)}, Suggestion{"bbbbbbbbbbbbbbbb", "tidy up"})
				}
				return list, nil
			}
		})
		for _, c := range []struct {
			user, command, option, typed string
			n                            int
			first                        string
		}{
			{discordtest.Ann, "deckhand status", "run", "", 25, "aaaaaaaaaaaaaaaa"},
			{discordtest.Ann, "deckhand cancel", "run", "TIDY", 25, "bbbbbbbbbbbbbbbb"},
			{discordtest.Ann, "deckhand stop", "run", "nothing", 0, ""},
			{discordtest.Ann, "deckhand approve", "question", "", 1, "aaaaaaaaaaaaaaaa-1"},
			{discordtest.Ben, "deckhand status", "run", "", 0, ""},
			{discordtest.Ann, "deckhand watch", "run", "", 1, "cccccccccccccccc"},
			{discordtest.Ann, "deckhand report pause", "name", "ab", 1, "report-abcde"},
			{discordtest.Ann, "deckhand report change", "name", "", 1, "report-abcde"},
			{discordtest.Ann, "deckhand schedule remove", "name", "", 1, "goal-abcde"},
			{discordtest.Ben, "deckhand report remove", "name", "", 0, ""},
		} {
			got, err := r.Autocomplete(c.user, discordtest.General, c.command, discordtest.Options{c.option: c.typed}, c.option)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != c.n || len(got) > 0 && got[0].Value != c.first {
				t.Errorf("%s %q: suggested %+v", c.command, c.typed, got)
			}
		}
	})
}

func TestManifest(t *testing.T) {
	t.Parallel()
	text, err := Manifest("42", "")
	var m struct {
		Invite   string           `json:"invite"`
		Commands []map[string]any `json:"commands"`
	}
	if err != nil || json.Unmarshal([]byte(text), &m) != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !strings.Contains(m.Invite, "client_id=42") || !strings.Contains(m.Invite, "scope=bot+applications.commands") || !strings.Contains(m.Invite, "permissions=") {
		t.Errorf("invite %s", m.Invite)
	}
	if len(m.Commands) != 3 || m.Commands[0]["name"] != commands.Name {
		t.Errorf("commands %v", m.Commands)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
		bad    bool
	}{
		"good":     {func(*Config) {}, "@deckhand in 2 servers, the gateway, its commands are registered as soon as it runs", false},
		"both":     {func(c *Config) { c.PublicKey = r.PublicKey }, "the gateway and interactions over HTTP", false},
		"no way":   {func(c *Config) { c.Gateway = false }, "no way in", true},
		"key":      {func(c *Config) { c.PublicKey = strings.Repeat("ab", 32) }, "DISCORD_PUBLIC_KEY", true},
		"bad key":  {func(c *Config) { c.PublicKey = "x" }, "DISCORD_PUBLIC_KEY", true},
		"token":    {func(c *Config) { c.Token = "x" }, "DISCORD_TOKEN", true},
		"app":      {func(c *Config) { c.AppID = "1" }, "DISCORD_APP_ID", true},
		"content":  {func(c *Config) { c.Content = true }, "Message Content Intent", true},
		"no guild": {func(c *Config) { c.GuildID = "1" }, "DISCORD_GUILD_ID", true},
		"url":      {func(c *Config) { c.APIURL = "::" }, "DISCORD_API_URL", true},
	} {
		cfg := r.d.cfg
		c.change(&cfg)
		got, err := Check(t.Context(), cfg)
		if err != nil {
			got = err.Error()
		}
		if c.bad != (err != nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := r.RemoveBot(discordtest.OtherGuild); err != nil {
		t.Fatal(err)
	}
	if got, err := Check(t.Context(), r.d.cfg); err != nil || !strings.HasPrefix(got, "@deckhand in 1 server, ") {
		t.Errorf("in one server: %q, %v", got, err)
	}
	for _, role := range []string{discordtest.Guild, discordtest.BotRole} {
		if err := r.AddRole(discordtest.Guild, discordtest.Role{ID: role, Name: "all", Permissions: discordtest.MemberPermissions &^ discordtest.CreatePublicThread}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Check(t.Context(), r.d.cfg); err == nil || !strings.Contains(err.Error(), "lacks Create Public Threads (") || strings.Contains(err.Error(), "Send Messages") {
		t.Errorf("without a permission: %q, %v", got, err)
	}
	if err := r.AddRole(discordtest.Guild, discordtest.Role{ID: discordtest.BotRole, Name: "bot", Permissions: discordtest.Administrator}); err != nil {
		t.Fatal(err)
	}
	if got, err := Check(t.Context(), r.d.cfg); err != nil {
		t.Errorf("as an administrator: %q, %v", got, err)
	}
}
