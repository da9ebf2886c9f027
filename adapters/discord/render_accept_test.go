package discord

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// shown opens a Discord and the bot in it; what it logs goes to log.
func shown(t *testing.T, cfg discordtest.Config, log io.Writer) (*discordtest.Server, *Discord) {
	t.Helper()
	cfg.Limits.Off = cfg.Limits.Global == 0
	w := discordtest.New(cfg)
	t.Cleanup(w.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	d, err := New(t.Context(), Config{
		Token: w.Token, APIURL: w.URL() + "/api", Client: client, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, d
}

func anyText(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringN(0, 300, -1), rapid.SampledFrom(drawtest.Pings),
		rapid.Map(rapid.IntRange(0, 5000), func(n int) string { return repeated("word *b* `c` 🦜 [l](https://x.y)\n\n", n) }),
		rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return repeated("_", n) }),
	).Draw(t, label)
}

func repeated(s string, n int) string {
	var b []byte
	for len(b) < n {
		b = append(b, s...)
	}
	return string(b)
}

func anyPart(t *rapid.T) bot.Part {
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return bot.Heading{Text: anyText(t, "heading")}
	case 1:
		return bot.Prose{Markdown: anyText(t, "prose")}
	case 2:
		var items []bot.TaskItem
		for range rapid.IntRange(0, 70).Draw(t, "tasks") {
			items = append(items, bot.TaskItem{ID: "t", Title: rapid.StringN(0, 50, -1).Draw(t, "title"), State: rapid.SampledFrom([]agent.TaskState{agent.TaskPending, agent.TaskDone}).Draw(t, "state"), After: []string{"t"}})
		}
		return bot.Tasks{Title: anyText(t, "title"), Items: items}
	case 3:
		var list []bot.Fact
		for range rapid.IntRange(0, 60).Draw(t, "facts") {
			list = append(list, bot.Fact{Name: rapid.StringN(0, 20, -1).Draw(t, "name"), Value: rapid.StringN(0, 20, -1).Draw(t, "value")})
		}
		return bot.Facts{List: list}
	case 4:
		return bot.Code{Text: anyText(t, "code")}
	case 5:
		return bot.Small{Markdown: anyText(t, "small")}
	case 6:
		var list []bot.Button
		for range rapid.IntRange(0, 140).Draw(t, "buttons") {
			list = append(list, bot.Button{Label: rapid.StringN(0, 90, -1).Draw(t, "label"), Act: bot.ActDecide, ID: "c1", Word: rapid.StringN(0, 120, -1).Draw(t, "word")})
		}
		return bot.Buttons{List: list}
	}
	return bot.Rating{Run: "run-1"}
}

func TestAnyCardIsAccepted(t *testing.T) {
	t.Parallel()
	modernWorld, d := shown(t, discordtest.Config{}, io.Discard)
	oldWorld, o := shown(t, discordtest.Config{RejectV2: true}, io.Discard)
	count := 0
	dm := map[*Discord]bot.Address{d: talk(t, d), o: talk(t, o)}
	rapid.Check(t, func(rt *rapid.T) {
		count++
		c := bot.Card{Key: bot.Key{Run: "run-1", Name: strconv.Itoa(count), Kind: agent.PostReport}, Text: anyText(rt, "text"), Mentions: []string{drawtest.Ann, drawtest.Crew}}
		for range rapid.IntRange(0, 12).Draw(rt, "parts") {
			c.Parts = append(c.Parts, anyPart(rt))
		}
		for _, side := range []struct {
			w *discordtest.Server
			d *Discord
		}{{modernWorld, d}, {oldWorld, o}} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			p, err := side.d.Post(ctx, dm[side.d], c)
			if err != nil {
				rt.Fatalf("post: %v", err)
			}
			if count%5 == 0 {
				if err := side.d.Edit(ctx, p.Message, c); err != nil {
					rt.Fatalf("edit: %v", err)
				}
			}
			cancel()
			m, _ := side.w.Message(p.Message.Channel, p.Message.ID)
			if n := len(m.Edits); n > 1 || m.Pings.Everyone || len(m.Pings.Users) > 1 {
				rt.Fatalf("%d edits, pings %+v", n, m.Pings)
			}
			var parts []draw.Block
			if err := json.Unmarshal(m.Components, &parts); err != nil {
				rt.Fatal(err)
			}
			if side.w == modernWorld && (len(parts) != 1 || m.Flags&discordtest.FlagComponents == 0) {
				rt.Fatalf("no container: %s", m.Components)
			}
		}
	})
}

func talk(t *testing.T, d *Discord) bot.Address {
	t.Helper()
	to, err := d.Direct(t.Context(), drawtest.Ann)
	if err != nil {
		t.Fatal(err)
	}
	return to
}
