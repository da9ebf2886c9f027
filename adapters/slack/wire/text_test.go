package wire

import (
	"testing"
	"time"
)

func TestReadable(t *testing.T) {
	r := &Reader{BotUser: "UBOT"}
	for raw, want := range map[string]string{
		"<@UBOT> go":                             "go",
		"hey <@UBOT|deckhand> go":                "hey go",
		"ask <@U1> and <@U2|ben>":                "ask @name of U1 and @ben",
		"in <#C1|general> or <#C2>":              "in #general or #C2",
		"in <#C3|>":                              "in #C3",
		"<https://a.example/x|the page>":         "the page (https://a.example/x)",
		"<https://a.example/|a.example>":         "https://a.example/",
		"<https://a.example/?a=1&amp;b=2>":       "https://a.example/?a=1&b=2",
		"<mailto:a@b.example|a@b.example>":       "a@b.example",
		"<!here> <!subteam^S1> <!subteam^S2|@x>": "@here @S1 @x",
		"<!date^1^{date}|today>":                 "today",
		"1 &lt; 2 &amp;&amp; 3 &gt; 2":           "1 < 2 && 3 > 2",
		"&amp;lt;":                               "&lt;",
		"a < b":                                  "a < b",
		"<>":                                     "<>",
	} {
		if got := r.Readable(raw, Spelling{func(id string) string { return "name of " + id }, AsLabelled}); got != want {
			t.Errorf("%q reads %q, want %q", raw, got, want)
		}
	}
}

func TestStamps(t *testing.T) {
	for _, ts := range []string{"1700000000.000001", "1700000000.123456"} {
		if got := StampOf(TimeOf(ts)); got != ts {
			t.Errorf("%s became %s", ts, got)
		}
	}
	for _, ts := range []string{"", "x", "-1.5", "0.1", "99999999999999999999.1"} {
		if at := TimeOf(ts); !at.IsZero() {
			t.Errorf("%q is %v", ts, at)
		}
	}
	if got := TimeOf("17.5"); !got.Equal(time.Unix(17, 500_000_000)) {
		t.Errorf("17.5 is %v", got)
	}
}
