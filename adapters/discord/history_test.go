package discord

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/bot"
)

func texts(lines []bot.Line) string {
	list := make([]string, len(lines))
	for i, l := range lines {
		list[i] = l.Name + ": " + l.Text
	}
	return strings.Join(list, " / ")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{Privileged: discordtest.IntentContent}, io.Discard)
	asked := w.Mention(discordtest.Ann, discordtest.General, "count the words")
	thread := mustPost(t, d, general(asked), drawtest.Cards()["card"]).Thread
	w.Say(discordtest.Ben, thread.ID, "hello <@"+discordtest.Ann+">")
	w.Say(discordtest.Ann, thread.ID, "", discordtest.Upload{Name: "a.txt", Data: []byte("x")})
	w.Say(discordtest.Robot, thread.ID, "beep")
	lines, err := d.History(t.Context(), thread, 10)
	if want := "Ann: count the words / Ben: hello @Ann / Ann: [file: a.txt] / robot: beep"; err != nil || texts(lines) != want {
		t.Errorf("%v: %s", err, texts(lines))
	}
	if lines[0].By != drawtest.Ann || lines[0].At.IsZero() || time.Since(lines[0].At) > time.Minute {
		t.Errorf("the first line: %+v", lines[0])
	}
	for i := range 250 {
		w.Say(discordtest.Ben, thread.ID, strconv.Itoa(i))
	}
	for limit, want := range map[int]string{0: "", 1: "Ann: count the words", 3: "Ann: count the words / Ben: 248 / Ben: 249"} {
		if lines, err := d.History(t.Context(), thread, limit); err != nil || texts(lines) != want {
			t.Errorf("%d: %v: %s", limit, err, texts(lines))
		}
	}
	lines, err = d.History(t.Context(), thread, 200)
	if err != nil || len(lines) != 200 || lines[0].Text != "count the words" || lines[1].Text != "51" || lines[199].Text != "249" {
		t.Errorf("%v: %d lines", err, len(lines))
	}
	if lines, err := d.History(t.Context(), general(""), 2); err != nil || texts(lines) != "Ann: count the words" {
		t.Errorf("of the channel: %v: %s", err, texts(lines))
	}
}

func TestHistoryElsewhere(t *testing.T) {
	t.Parallel()
	w, d := shown(t, discordtest.Config{}, io.Discard)
	thread := mustPost(t, d, general(""), drawtest.Cards()["card"]).Thread // it begins at the bot's own headline
	w.Mention(discordtest.Ben, thread.ID, "look")
	w.Say(discordtest.Ben, thread.ID, "hidden from the bot")
	if lines, err := d.History(t.Context(), thread, 5); err != nil || texts(lines) != "Ben: look" {
		t.Errorf("%v: %s", err, texts(lines))
	}
	direct, err := d.Direct(t.Context(), drawtest.Ann)
	if err != nil {
		t.Fatal(err)
	}
	w.DM(discordtest.Ann, "hi")
	if lines, err := d.History(t.Context(), direct, 5); err != nil || texts(lines) != "Ann: hi" {
		t.Errorf("%v: %s", err, texts(lines))
	}
	free, err := w.StartThread(discordtest.Ann, discordtest.General, "", "talk")
	if err != nil {
		t.Fatal(err)
	}
	w.Mention(discordtest.Ann, free, "one")
	w.Mention(discordtest.Ben, free, "two")
	w.Mention(discordtest.Ben, free, "three")
	if lines, err := d.History(t.Context(), general(free), 2); err != nil || texts(lines) != "Ann: one / Ben: three" {
		t.Errorf("%v: %s", err, texts(lines))
	}
	if _, err := d.History(t.Context(), general("110000000000009999"), 2); !errors.Is(err, bot.ErrGone) {
		t.Errorf("of nothing: %v", err)
	}
	unopened := w.Mention(discordtest.Ann, discordtest.General, "here")
	if lines, err := d.History(t.Context(), general(unopened), 5); err != nil || texts(lines) != "Ann: here" {
		t.Errorf("of a thread that was not opened yet: %v: %s", err, texts(lines))
	}
	w.Fail(discordtest.ReadMessages, 5, discordtest.Unavailable())
	_, err = d.History(t.Context(), thread, 2)
	checkTrouble(t, err, bot.ErrLost, 0)
}
