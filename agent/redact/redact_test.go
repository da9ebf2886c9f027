package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/redact"
)

// The tokens are put together here, so that no scanner takes this file for a leak.
func tokens() map[string]string {
	long := func(n int) string { return strings.Repeat("a1B2c3D4e5", n/10+1)[:n] }
	return map[string]string{
		"Slack token": "xoxb-" + "123456789012-" + long(24), "Slack app": "xapp-" + "1-A0123456789-1234567890123-" + strings.ToLower(long(64)),
		"Slack webhook": "https://hooks.slack" + ".com/services/T0000/B0000/" + long(24), "GitHub": "ghp_" + long(36),
		"GitHub fine-grained": "github_pat_" + long(22) + "_" + long(59), "GitLab": "glpat-" + long(20), "AWS": "AKIA" + "IOSFODNN7EXAMPLE"[:7] + "ABCDEFGHI",
		"Google": "AIza" + long(35), "model key": "sk-" + "proj-" + long(48), "other model key": "sk-" + "ant-api03-" + long(90), "Stripe": "sk_" + "live_" + long(24),
		"npm": "npm_" + long(36), "JWT": "eyJ" + long(30) + ".eyJ" + long(60) + "." + long(43), "Discord": "M" + long(25) + "." + long(6) + "." + long(38),
		"private key":     "-----BEGIN RSA PRIVATE KEY-----\n" + long(64) + "\n" + long(64) + "\n-----END RSA PRIVATE KEY-----",
		"a key cut short": "-----BEGIN PRIVATE KEY-----\n" + long(64) + "\n" + long(30),
	}
}

func TestWellKnownShapes(t *testing.T) {
	var r redact.Redactor
	for name, token := range tokens() {
		for _, text := range []string{token, "the token is " + token + ", keep it", strings.ReplaceAll(token, "_", `\_`), `{"token":"` + strings.ReplaceAll(token, "\n", `\n`) + `"}`, "TOKEN=" + token + "\nNEXT=1"} {
			got := r.Text(text)
			if strings.Contains(got, token[len(token)/2:]) || !strings.Contains(got, "[secret") {
				t.Errorf("%s: %q", name, got)
			}
			if _, is := r.Holds(text); !is {
				t.Errorf("%s: not held in %q", name, text)
			}
		}
	}
	if got := r.Text("redis://app:hunter22hunter@db.example:6379/0"); got != "redis://app:[secret]@db.example:6379/0" {
		t.Error(got)
	}
}

// What only speaks of tokens, and what looks a little like one, stays as it is.
func TestHarmlessTextStays(t *testing.T) {
	r := redact.New("correct-horse-battery")
	for _, text := range []string{
		"", "tokens begin with xoxb- or ghp_ or sk-", "sk-learn and sk-image are libraries", "the class AKIA is a dog", "risk-averse-people-and-their-long-words",
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----", "-----BEGIN PRIVATE KEY-----", "https://example.com:8080/a@b",
		"git@github.com:deckhand/x.git", "https://user@example.com/", "ssh://git@example.com:22/x", "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"eyJust a word", "xoxo, your friend", "ghosts_and_githubs", "postgres://user:${PASSWORD}@db/x", "postgres://user:[secret]@db/x", "the horse is correct, the battery is not",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "Mr. M. Night. A sentence. Another.", "task-management-for-everybody-who-wants-to-plan", "\x00\xff not UTF-8",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if kind, is := r.Holds(text); is {
			t.Errorf("%q is taken for %s", text, kind)
		}
	}
}

func TestSecretsOfTheConfiguration(t *testing.T) {
	const secret = `p@ss "w&rd" of/the+te_am`
	r := redact.New("", "short", secret)
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"JSON": string(quoted), "Markdown": strings.ReplaceAll(secret, "_", `\_`), "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "basic authorization": base64.StdEncoding.EncodeToString([]byte("me:" + secret)),
		"base64, one further": base64.URLEncoding.EncodeToString([]byte("a:me:" + secret + " and more")), "base64, two further": base64.RawStdEncoding.EncodeToString([]byte("me+:" + secret + "x")),
	} {
		got := r.Text("before " + form + " after")
		if !strings.Contains(got, "[secret]") || strings.Contains(got, form) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.Text("a short text"); got != "a short text" {
		t.Error(got)
	}
	r.Know("another-secret-value")
	if got := r.Text(secret + " another-secret-value"); got != "[secret] [secret]" {
		t.Error(got)
	}
}

func TestLogs(t *testing.T) {
	r := redact.New("correct-horse-battery")
	var out bytes.Buffer
	log := slog.New(r.Handler(slog.NewTextHandler(&out, nil))).With("at", "https://x/correct-horse-battery").WithGroup("g")
	log.Error("cannot use correct-horse-battery", "err", errors.New("correct-horse-battery is wrong"), "n", 3, slog.Group("in", "k", "correct-horse-battery"))
	if got := out.String(); strings.Contains(got, "horse") || strings.Count(got, "[secret]") != 4 || !strings.Contains(got, "g.n=3") {
		t.Error(got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("plain text", "correct-horse-battery")
	f.Fuzz(func(t *testing.T, text, secret string) {
		r := redact.New(secret)
		got := r.Text(text)
		if _, held := r.Holds(text); !held && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	r := redact.New("correct-horse-battery")
	text := strings.Repeat("A line of a harmless text, 12 KB of them in all. ", 250)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
