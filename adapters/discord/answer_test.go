package discord

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

var approve = bot.Button{Label: "Approve", Act: bot.ActDecide, ID: "aaaaaaaaaaaaaaaa-1", Word: "approve"}

// asks posts a question with buttons into a thread.
func (r *rig) asks(list ...bot.Button) (thread string, question bot.Address) {
	r.Helper()
	thread, err := r.StartThread(discordtest.Ann, discordtest.General, r.Say(discordtest.Ann, discordtest.General, "hello"), "a thread")
	if err != nil {
		r.Fatal(err)
	}
	p := mustPost(r.T, r.d, general(thread), bot.Card{Key: bot.Key{Run: "r", Name: "ask"}, Text: "May I?", Parts: []bot.Part{bot.Buttons{List: list}}})
	return thread, p.Message
}

func TestClickIsAcknowledged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		thread, question := r.asks(approve)
		for i, c := range []struct {
			answer bot.Answer
			kind   discordgo.InteractionResponseType
			told   string
		}{
			{bot.Answer{Run: "r"}, discordgo.InteractionResponseDeferredMessageUpdate, ""},
			{bot.Answer{Private: "You may not decide this."}, discordgo.InteractionResponseChannelMessageWithSource, "You may not decide this."},
			{bot.Answer{Home: &bot.Card{Parts: []bot.Part{bot.Heading{Text: "Home"}}}}, discordgo.InteractionResponseChannelMessageWithSource, "**Home**"},
		} {
			r.Always(c.answer)
			if err := r.Click(discordtest.Ben, thread, question.ID, "Approve"); err != nil {
				t.Fatal(err)
			}
			in := r.Hears(i + 1)[i]
			if got, is := in.Act.(bot.Pressed); !is || got.Button.Act != approve.Act || got.Button.ID != approve.ID || got.Button.Word != approve.Word ||
				in.Where != general(thread) || in.By.Name != "Ben" {
				t.Errorf("heard %+v", in)
			}
			if got := r.Interactions()[i]; got.Response != int(c.kind) {
				t.Errorf("answered with %d, want %d", got.Response, c.kind)
			}
			if c.told != "" && r.whisper(discordtest.Ben) != c.told {
				t.Errorf("told %q, want %q", r.whisper(discordtest.Ben), c.told)
			}
		}
	})
}

func TestMenusArePressed(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Run: "r"})
	var list []bot.Button
	for i := range 12 {
		list = append(list, bot.Button{Label: strings.Repeat("x", i+1), Act: bot.ActDecide, ID: approve.ID, Word: strings.Repeat("long ", i*5)})
	}
	thread, question := r.asks(list...)
	if err := r.Select(discordtest.Ann, thread, question.ID, "menu:1", strings.Repeat("x", 12)); err != nil {
		t.Fatal(err)
	}
	if got, is := r.Hears(1)[0].Act.(bot.Pressed); !is || got.Button.Word != "12" || got.Button.ID != approve.ID {
		t.Errorf("heard %+v", got)
	}
}

func TestFormsComeBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		thread, question := r.asks(approve)
		form := bot.Form{ID: "edit " + approve.ID, Title: "Edit", Intro: "> What is it?", Fields: []bot.Field{
			{ID: "a0", Label: "path", Kind: bot.FieldText, Value: "a.txt", Hint: "where"},
			{ID: "a1", Label: "force", Kind: bot.FieldChoice, Choices: []string{"true", "false"}, Value: "false"},
			{ID: "a2", Label: "who", Kind: bot.FieldPeople, Optional: true},
			{ID: "a3", Label: "why", Kind: bot.FieldLong, Optional: true, Max: 100},
		}}
		r.Answers(func(in bot.Inbound) (bot.Answer, error) {
			if _, is := in.Act.(bot.Pressed); is {
				return bot.Answer{Run: "r", Form: &form}, nil
			}
			return bot.Answer{Run: "r"}, nil
		})
		if err := r.Click(discordtest.Ann, thread, question.ID, "Approve"); err != nil {
			t.Fatal(err)
		}
		modal, is := r.Modal(discordtest.Ann)
		if !is || modal.Title != "Edit" {
			t.Fatalf("no form: %s", r.Log)
		}
		if err := r.Submit(modal.ID, discordtest.Ann, map[string]string{"a0": "b.txt", "a1": "true", "a2": discordtest.Ben + "," + discordtest.Gus}); err != nil {
			t.Fatal(err)
		}
		in := r.Hears(2)[1]
		want := bot.Filled{Form: form.ID, Values: map[string]string{"a0": "b.txt", "a1": "true", "a3": "",
			"a2": "discord:" + discordtest.Ben + " discord:" + discordtest.Gus}}
		if !cmp.Equal(in.Act, bot.Act(want)) || in.Where != general(thread) {
			t.Errorf("heard %+v", in)
		}
		if got := r.Interactions()[1].Response; got != int(discordgo.InteractionResponseDeferredMessageUpdate) {
			t.Errorf("answered with %d", got)
		}
	})
}

func TestFormsThatDoNotFitAreSaid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", draw.MaxInput+1)
	for name, f := range map[string]bot.Form{
		"id":      {ID: long, Fields: []bot.Field{{ID: "a", Kind: bot.FieldText}}},
		"none":    {ID: "x"},
		"many":    {ID: "x", Fields: make([]bot.Field, draw.MaxFields+1)},
		"no id":   {ID: "x", Fields: []bot.Field{{Kind: bot.FieldText}}},
		"value":   {ID: "x", Fields: []bot.Field{{ID: "a", Kind: bot.FieldLong, Value: long}}},
		"choices": {ID: "x", Fields: []bot.Field{{ID: "a", Kind: bot.FieldChoice}}},
		"choice":  {ID: "x", Fields: []bot.Field{{ID: "a", Kind: bot.FieldChoice, Choices: []string{long}}}},
		"kind":    {ID: "x", Fields: []bot.Field{{ID: "a", Kind: "other"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listen(t, discordtest.Config{}, nil)
			thread, question := r.asks(approve)
			r.Always(bot.Answer{Run: "r", Form: &f})
			if err := r.Click(discordtest.Ann, thread, question.ID, "Approve"); err != nil {
				t.Fatal(err)
			}
			if got := r.whisper(discordtest.Ann); !strings.Contains(got, "cannot be shown") {
				t.Errorf("told %q", got)
			}
		})
	}
}

func TestSlowStoresAreWaitedFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := enter(t, world, nil)
		r.d.in.times.think = 50 * time.Millisecond
		r.begin()
		thread, question := r.asks(approve)
		form := bot.Form{ID: "deny x", Title: "Deny", Fields: []bot.Field{{ID: "a", Label: "Why", Kind: bot.FieldText}}}
		for i, c := range []struct {
			answer bot.Answer
			told   string
		}{{bot.Answer{Private: "Noted."}, "Noted."}, {bot.Answer{Form: &form}, textLate}, {bot.Answer{Run: "r"}, textDone}} {
			r.Answers(func(bot.Inbound) (bot.Answer, error) {
				r.until("the person is told to wait", func() bool { return r.Interactions()[i].Response != 0 })
				return c.answer, nil
			})
			var err error
			if i < 2 {
				err = r.Click(discordtest.Ann, thread, question.ID, "Approve")
			} else {
				err = r.Slash(discordtest.Ann, thread, "deckhand approve", nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			r.until("it is said", func() bool {
				list := r.Ephemerals(discordtest.Ann)
				return len(list) > 0 && list[len(list)-1].Text() == c.told
			})
		}
	})
}

func TestWhatCouldNotBeWrittenDownIsSaid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := listen(t, world, nil)
		r.Answers(func(bot.Inbound) (bot.Answer, error) { return bot.Answer{}, errAway })
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand status", nil); err != nil {
			t.Fatal(err)
		}
		if got := r.whisper(discordtest.Ann); got != textLost {
			t.Errorf("told %q", got)
		}
		if err := r.Slash(discordtest.Ben, discordtest.General, "deckhand run", discordtest.Options{"goal": "x"}); err != nil {
			t.Fatal(err)
		}
		if got := r.whisper(discordtest.Ben); got != textLost {
			t.Errorf("told %q", got)
		}
		r.until("nothing public is left", func() bool { return len(r.Messages(discordtest.General)) == 0 })
	})
}

func TestMessagesAreHeardAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	var fails atomic.Int32
	fails.Store(2)
	r.Answers(func(bot.Inbound) (bot.Answer, error) {
		if fails.Add(-1) >= 0 {
			return bot.Answer{}, errAway
		}
		return bot.Answer{Run: "r"}, nil
	})
	r.Mention(discordtest.Ann, discordtest.General, "do it")
	r.DM(discordtest.Ben, "and this")
	if heard := r.Hears(2); len(heard) != 2 {
		t.Errorf("heard %+v", heard)
	}
}

func TestAnswersToMessagesStandBelowThem(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Private: "You may not start runs here."})
	r.Fail(discordtest.PostMessage, 1, discordtest.LostRequest())
	r.Fail(discordtest.PostMessage, 1, discordtest.Unavailable())
	r.Fail(discordtest.PostMessage, 1, discordtest.LostAnswer())
	id := r.Mention(discordtest.Gus, discordtest.General, "do it")
	r.until("it is answered", func() bool { return len(r.FromBot()) > 0 })
	r.Hears(1)
	r.d.in.Wait()
	list := r.FromBot()
	if len(list) != 1 || list[0].ReplyTo != id || !list[0].Pings.None() || list[0].Text() != "You may not start runs here." || list[0].Nonce[0] != 'a' {
		t.Errorf("answered %+v", list)
	}
	if len(r.Threads(discordtest.General)) != 0 {
		t.Error("a thread was opened")
	}
}

func TestLostCallbacksAreGivenAgain(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Private: "here"})
	for i, f := range []discordtest.Fault{discordtest.LostRequest(), discordtest.Unavailable(), discordtest.LostAnswer(), discordtest.RateLimited(100 * time.Millisecond)} {
		r.Fail(discordtest.Callback, 1, f)
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand status", nil); err != nil {
			t.Fatal(err)
		}
		r.d.in.Wait()
		if list := r.Ephemerals(discordtest.Ann); len(list) != i+1 {
			t.Fatalf("after %+v there are %d answers, want %d\n%s", f, len(list), i+1, r.Log)
		}
	}
}

func TestReplicasAnswerOnce(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	second := r.another(nil, true)
	r.d.in.times.second, second.in.times.second = 50*time.Millisecond, 50*time.Millisecond
	r.begin()
	r.beginWith(second)
	r.Always(bot.Answer{Private: "here"})
	for i := range 5 {
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand status", nil); err != nil {
			t.Fatal(err)
		}
		r.until("it is answered once", func() bool { return len(r.Ephemerals(discordtest.Ann)) == i+1 })
	}
	r.Always(bot.Answer{Run: "r", Started: true})
	if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand run", discordtest.Options{"goal": "x"}); err != nil {
		t.Fatal(err)
	}
	r.until("one line links to the run", func() bool {
		list := r.Messages(discordtest.General)
		return len(list) == 1 && strings.HasPrefix(list[0].Content, "Working on it in <#")
	})
	r.HeardAll(12)
	r.d.in.Wait()
	second.in.Wait()
	if list := r.Ephemerals(discordtest.Ann); len(list) != 5 {
		t.Errorf("%d private answers", len(list))
	}
	for _, e := range r.Ephemerals(discordtest.Ann) {
		if e.Text() != "here" {
			t.Errorf("told %q", e.Text())
		}
	}
}

func TestWhatWasHeardBeforeIsAcknowledged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, world discordtest.Config) {
		r := enter(t, world, nil)
		r.d.in.times.second = 20 * time.Millisecond
		r.begin() // it answers nothing, as if another replica had heard it and died
		if err := r.Slash(discordtest.Ann, discordtest.General, "deckhand status", nil); err != nil {
			t.Fatal(err)
		}
		if got := r.whisper(discordtest.Ann); got != textSeen {
			t.Errorf("told %q", got)
		}
		thread, question := r.asks(approve)
		if err := r.Click(discordtest.Ann, thread, question.ID, "Approve"); err != nil {
			t.Fatal(err)
		}
		if got := r.Interactions()[1].Response; got != int(discordgo.InteractionResponseDeferredMessageUpdate) {
			t.Errorf("answered with %d", got)
		}
	})
}

func TestAnswersWithoutHistory(t *testing.T) {
	t.Parallel()
	r := listen(t, discordtest.Config{}, nil)
	r.Always(bot.Answer{Private: "No."})
	r.Fail(discordtest.PostMessage, 1, discordtest.APIError(400, discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory))
	r.Mention(discordtest.Gus, discordtest.General, "do it")
	r.until("it is answered", func() bool { return len(r.FromBot()) == 1 && r.FromBot()[0].ReplyTo == "" })
}

func TestPublicAnswersArePostedOnce(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, func(c *Config) { c.PostTimeout = 200 * time.Millisecond })
	r.begin()
	thread, _ := r.asks(approve)
	card := bot.Card{Key: bot.Key{Run: "r", Name: "said", Kind: "answer"}, Text: "Here it is.", Parts: []bot.Part{bot.Prose{Markdown: "Here it is."}}}
	r.Always(bot.Answer{Run: "r", Public: &card})
	r.Fail(discordtest.PostMessage, 1, discordtest.LostAnswer())
	r.Fail(discordtest.PostMessage, 1, discordtest.Unavailable())
	r.Mention(discordtest.Ann, thread, "show it")
	r.Hears(1)
	r.until("it is posted", func() bool { return len(r.Messages(thread)) > 2 })
	r.d.in.Wait()
	n := 0
	for _, m := range r.Messages(thread) {
		if strings.Contains(m.Text(), "Here it is.") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("posted %d times", n)
	}
}

func TestExpiredInteractionsAreAnsweredDirectly(t *testing.T) {
	t.Parallel()
	r := enter(t, discordtest.Config{}, nil)
	r.d.in.times.think = time.Hour
	r.begin()
	r.Fail(discordtest.Callback, 1, discordtest.APIError(404, 10062))
	r.Always(bot.Answer{Private: "You may not decide this."})
	thread, question := r.asks(approve)
	if err := r.Click(discordtest.Gus, thread, question.ID, "Approve"); err == nil {
		t.Error("the click was acknowledged")
	}
	r.until("it is said directly", func() bool {
		list := r.Messages(r.DMChannel(discordtest.Gus))
		return len(list) == 1 && list[0].Text() == "You may not decide this."
	})
}
