package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	const token = "xoxb-very-secret"
	inFolder(t, "slack: {bot_token_file: token}\n")
	if err := os.WriteFile("token", []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Flags{}, environ("DECKHAND_REDIS_URL", "redis://:"+token+"@h"))
	if err != nil || c.Slack.BotToken.Reveal() != token {
		t.Fatalf("%q, %v", c.Slack.BotToken.Reveal(), err)
	}
	hidden := struct{ inner Config }{c} // fmt does not ask Format below unexported fields
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, c)
		fmt.Fprintf(&out, verb, hidden)
		fmt.Fprintf(&out, verb, c.Slack.BotToken)
	}
	if err := json.NewEncoder(&out).Encode(c); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("started", "config", c, "token", c.Slack.BotToken)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("started", "config", c, "token", c.Slack.BotToken)
	if strings.Contains(out.String(), "very-secret") || strings.Contains(out.String(), fmt.Sprintf("%x", "very-secret")) {
		t.Errorf("printed: %s", out.String())
	}
	if got := c.Slack.BotToken.String() + "|" + c.Slack.AppToken.String(); got != "[secret]|" {
		t.Errorf("got %q", got)
	}
}

func TestSecretFileErrors(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"none", "", "deckhand.yaml:1: discord.token_file: there is no file none"},
		{"xoxb-1234-abcd", "", "deckhand.yaml:1: discord.token_file: what stands here looks like the secret itself: write it into a file, and the file's name here"},
		{"MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GabcdE.abcdefghijklmnop", "", "deckhand.yaml:1: discord.token_file: what stands here looks like the secret itself: write it into a file, and the file's name here"},
		{"empty", " \n", "deckhand.yaml:1: discord.token_file: empty is empty"},
		{"large", strings.Repeat("x", maxSecret+1), "deckhand.yaml:1: discord.token_file: large is too large for a secret (above 64 KiB)"},
	} {
		inFolder(t, "discord: {token_file: "+test.name+"}\n")
		if test.content != "" {
			if err := os.WriteFile(test.name, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Load(Flags{}, environ())
		wantError(t, err, test.want)
	}
}

// Whoever redacts knows every secret, wherever a key for one is added.
func TestSecrets(t *testing.T) {
	var c Config
	c.Model.APIKey, c.Slack.BotToken, c.Discord.Token = NewSecret("key-of-a-model"), NewSecret("token-of-slack"), NewSecret("token-of-discord")
	c.Redis.URL = NewSecret("redis://me:password-of-redis@db:6379/0")
	got := c.Secrets()
	slices.Sort(got)
	want := []string{"key-of-a-model", "password-of-redis", "redis://me:password-of-redis@db:6379/0", "token-of-discord", "token-of-slack"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
